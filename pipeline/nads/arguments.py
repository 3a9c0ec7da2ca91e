"""Arguments of the functions for your own programs."""

import math
import operator
from collections.abc import Iterable

from pipeline.project.errors import InputError
from pipeline.training.shapes import Shape


def check_positive(name: str, value: float) -> None:
    """Check that an argument is positive and finite.

    Args:
        name: Name of the argument.
        value: Its value.

    Raises:
        InputError: If it is not.
    """
    if not 0 < value < math.inf:
        raise InputError(
            f"{name} must be positive and finite, not {value:g}",
            "out-of-range",
            name=name,
        )


def input_shape(value: Iterable[int]) -> Shape:
    """Return an argument as the shape (C, H, W) of one input.

    Raises:
        InputError: If it does not consist of three positive numbers.
        TypeError: If they are not whole numbers.
    """
    shape = tuple(operator.index(axis) for axis in value)
    if len(shape) != 3 or min(shape) <= 0:
        raise InputError(
            f"shape must be (channels, height, width), not {value!r}; give three "
            "positive whole numbers",
            "wrong-type",
            name="shape",
        )
    return shape
