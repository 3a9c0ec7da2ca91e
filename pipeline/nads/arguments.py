"""Arguments of the functions for your own programs, checked by type."""

import numbers
import operator

from pipeline.project.errors import InputError
from pipeline.training.shapes import Shape


def whole_number(name: str, value: object) -> int:
    """Return an argument as an int.

    Args:
        name: Name of the argument.
        value: Its value.

    Raises:
        InputError: If it is no integer, of Python or a library.
    """
    try:
        whole = operator.index(value)
    except TypeError:
        whole = None
    if whole is None or isinstance(value, bool):
        raise InputError(
            f"{name} must be a whole number, not {value!r}", "wrong-type", name=name
        )
    return whole


def number(name: str, value: object) -> float:
    """Return an argument as a float.

    Args:
        name: Name of the argument.
        value: Its value.

    Raises:
        InputError: If it is no real number, of Python or NumPy.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(
            f"{name} must be a number, not {value!r}", "wrong-type", name=name
        )
    return float(value)


def input_shape(value: object) -> Shape:
    """Return an argument as the shape (C, H, W) of one input.

    Raises:
        InputError: If it does not consist of three positive whole numbers.
    """
    try:
        shape = tuple(operator.index(size) for size in value)
    except TypeError:
        shape = ()
    if len(shape) != 3 or min(shape) <= 0:
        raise InputError(
            f"shape must be (channels, height, width), not {value!r}; give three "
            "positive whole numbers",
            "wrong-type",
            name="shape",
        )
    return shape
