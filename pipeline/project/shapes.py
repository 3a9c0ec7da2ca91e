"""The shape of the experiments' inputs: channels of 32×32 pixels."""

SIDE = 32
"""Pixels along one side of an input."""

D = SIDE * SIDE
"""Dimension of one input channel, hence the number of NADs of a network: indices run from 0 to D − 1."""
