"""Networks of torchvision and timm, called as ours are: with the numbers of channels
and outputs, then keyword arguments."""

from collections.abc import Callable

from torch import nn


def torchvision(make: Callable) -> Callable:
    """A constructor of torchvision, whose networks read three channels and name the
    outputs `num_classes`.

    The first convolution is built for as many channels as are asked for, not replaced
    afterwards, so that the network draws its weights by its own law.
    """

    def build(channels, outputs, **arguments):
        plain = nn.Conv2d.__init__

        def first(self, in_channels, *others, **options):
            nn.Conv2d.__init__ = plain
            plain(self, channels, *others, **options)

        nn.Conv2d.__init__ = first
        try:
            return make(num_classes=outputs, **arguments)
        finally:
            nn.Conv2d.__init__ = plain

    return build


def timm(make: Callable) -> Callable:
    """A constructor of timm, which draws the first convolution for any number of
    channels itself."""
    return lambda channels, outputs, **arguments: make(
        in_chans=channels, num_classes=outputs, **arguments
    )


LIBRARIES = {"torchvision": torchvision, "timm": timm}
"""Packages whose networks params.yaml can name directly, and the adapters of their
constructors."""
