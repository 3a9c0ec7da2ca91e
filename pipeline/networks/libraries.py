"""Networks of torchvision and timm, called as ours are: with the numbers of channels and outputs,
then keyword arguments."""

import contextlib
from collections.abc import Callable, Iterator

from torch import nn


@contextlib.contextmanager
def _first_convolution(channels: int) -> Iterator[None]:
    """Context in which the first convolution to be built reads `channels` channels, not three.

    It is not replaced afterwards, so that the network draws its weights by its own law.
    """
    plain = nn.Conv2d.__init__

    def first(self, in_channels, *arguments, **keywords):
        nn.Conv2d.__init__ = plain
        if in_channels != 3:
            raise ValueError(
                f"its first convolution reads {in_channels} channels, not 3, so that it cannot be "
                f"made to read {channels}"
            )
        plain(self, channels, *arguments, **keywords)

    nn.Conv2d.__init__ = first
    try:
        yield
    finally:
        nn.Conv2d.__init__ = plain


def torchvision(make: Callable) -> Callable:
    """A constructor of torchvision, whose networks read three channels and name the outputs
    `num_classes`."""

    def build(channels, outputs, **arguments):
        with _first_convolution(channels):
            return make(num_classes=outputs, **arguments)

    return build


def timm(make: Callable) -> Callable:
    """A constructor of timm, which draws the first convolution for any number of channels
    itself."""
    return lambda channels, outputs, **arguments: make(
        in_chans=channels, num_classes=outputs, **arguments
    )


LIBRARIES = {"torchvision": torchvision, "timm": timm}
"""Packages whose networks params.yaml can name directly, and the adapters of their constructors."""
