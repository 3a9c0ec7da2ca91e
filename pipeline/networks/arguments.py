"""Checks of the arguments that several families of networks take."""


def check_choice(argument, value, choices):
    """Raise ValueError unless an argument's value is one of the choices.

    Args:
        argument: Name of the argument.
        value: Its value.
        choices: The values that it can have.
    """
    if value not in choices:
        known = ", ".join(str(choice) for choice in choices)
        raise ValueError(f"{argument} must be one of {known}, not {value!r}")


def check_width(width):
    """Raise ValueError for a width at which some machines cannot train the network."""
    if width < 0.125:
        # Below 8 filters a layer, the CPU library's convolution crashes in the backward
        # pass (torch 2.15, AVX2).
        raise ValueError("width must be at least 0.125")


def check_patch(patch, side):
    """Raise ValueError unless patches tile a square input.

    Args:
        patch: Side of a patch in pixels.
        side: Side of the input in pixels.
    """
    if side % patch:
        # Otherwise the last rows and columns belong to no patch, and the network loses
        # its symmetry under flips.
        raise ValueError(f"side must be a multiple of {patch}, not {side}")
