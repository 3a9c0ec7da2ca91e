"""Checks of the arguments that several families of networks take."""


def check_choice(argument, value, choices):
    """Raise ValueError unless an argument has one of its values."""
    if value not in choices:
        raise ValueError(f"{argument} must be one of {', '.join(map(str, choices))}, not {value!r}")


def check_counts(argument, values, most):
    """Raise ValueError unless an argument's values are whole numbers from 1 to `most`."""
    for value in values:
        if type(value) is not int or not 1 <= value <= most:
            raise ValueError(f"{argument} must be made of whole numbers from 1 to {most:,}, not {value!r}")


def check_width(width):
    """Raise ValueError for a width with which the network cannot be trained everywhere."""
    if not 0.125 <= width <= 4:
        # Below 8 filters a layer, the CPU library's convolution crashes in the backward pass (torch 2.15, AVX2).
        raise ValueError("width must lie between 0.125 and 4")
