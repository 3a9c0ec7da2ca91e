"""Arguments of the functions for your own programs, checked by type.

A number may be Python's or a library's, also as an array or tensor without dimensions.
"""

import contextlib
import math
import numbers

import numpy as np

from pipeline.project.errors import InputError
from pipeline.training.shapes import Shape


def _to_python(value: object) -> object:
    """Return the Python number of a scalar of NumPy or PyTorch, else the value."""
    if getattr(value, "ndim", None) == 0 and not isinstance(value, np.ma.MaskedArray):
        return value.item()
    return value


def whole_number(name: str, value: object) -> int:
    """Return an argument as an int.

    Args:
        name: Name of the argument.
        value: Its value.

    Raises:
        InputError: If it is no integer.
    """
    whole = _to_python(value)
    if not isinstance(whole, numbers.Integral) or isinstance(whole, bool):
        raise InputError(
            f"{name} must be a whole number, not {value!r}", "wrong-type", name=name
        )
    return int(whole)


def number(name: str, value: object) -> float:
    """Return an argument as a float.

    Args:
        name: Name of the argument.
        value: Its value.

    Raises:
        InputError: If it is no real number.
    """
    real = _to_python(value)
    if isinstance(real, numbers.Real) and not isinstance(real, bool):
        with contextlib.suppress(OverflowError):
            return float(real)
    raise InputError(f"{name} must be a number, not {value!r}", "wrong-type", name=name)


def positive_number(name: str, value: object) -> float:
    """Return an argument as a finite positive float.

    Args:
        name: Name of the argument.
        value: Its value.

    Raises:
        InputError: If it is no such number.
    """
    positive = number(name, value)
    if not 0 < positive < math.inf:
        raise InputError(
            f"{name} must be positive and finite, not {positive:g}",
            "out-of-range",
            name=name,
        )
    return positive


def input_shape(value: object) -> Shape:
    """Return an argument as the shape (C, H, W) of one input.

    Raises:
        InputError: If it does not consist of three positive whole numbers.
    """
    try:
        shape = tuple(whole_number("shape", value[axis]) for axis in range(len(value)))
    except (InputError, KeyError, TypeError):  # of a set too
        shape = ()
    if len(shape) != 3 or min(shape) <= 0:
        raise InputError(
            f"shape must be (channels, height, width), not {value!r}; give three "
            "positive whole numbers",
            "wrong-type",
            name="shape",
        )
    return shape
