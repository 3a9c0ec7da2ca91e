"""The shape of the experiments' inputs: 1×32×32, unless an architecture has another."""

import math

SIDE = 32
"""Pixels along one side of an input."""

D = SIDE * SIDE
"""Dimension of one input channel, hence number of NADs: indices run from 0 to D − 1."""

Size = tuple[int, int]
"""Height and width of a picture, in pixels."""

SIZE: Size = (SIDE, SIDE)
"""Height and width of pictures where nothing names others."""

Shape = tuple[int, int, int]
"""Channels, height and width of an architecture's inputs, (C, H, W)."""

INPUT: Shape = (1, *SIZE)
"""The shape of the inputs of an architecture that names no other."""


def dimension(shape: tuple[int, ...]) -> int:
    """D of inputs, or of one channel, of a shape."""
    return math.prod(shape)


def as_text(shape: tuple[int, ...]) -> str:
    """A shape as text, for example 3×64×48."""
    return "×".join(map(str, shape))
