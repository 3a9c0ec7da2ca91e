"""The shape of the experiments' inputs: channels of 32×32 pixels, unless a network has others."""

import math

SIDE = 32
"""Pixels along one side of an input."""

D = SIDE * SIDE
"""Dimension of one input channel, hence number of NADs: indices run from 0 to D − 1."""

Input = tuple[int, int]
"""Height and width of an architecture's inputs, in pixels."""

INPUT: Input = (SIDE, SIDE)
"""Height and width of the inputs of an architecture that names no others."""


def dimension(pixels: Input) -> int:
    """D of one input channel of a height and width."""
    return math.prod(pixels)


def as_text(shape: tuple[int, ...]) -> str:
    """A shape as text, for example 3×64×48."""
    return "×".join(map(str, shape))
