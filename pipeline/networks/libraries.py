"""Adapters of torchvision's and timm's constructors.

The adapted constructors are called with the numbers of channels and outputs, then
keyword arguments.
"""

from collections.abc import Callable

from torch import nn


def adapt_torchvision(make: Callable) -> Callable:
    """Adapt a constructor of torchvision, whose networks have three input channels.

    The first convolution is built for as many channels as are asked for, not replaced
    afterwards, so that the network draws its weights from its own distribution.
    """

    def build(channels, outputs, **arguments):
        original = nn.Conv2d.__init__

        def initialise_first(self, in_channels, *positional, **options):
            nn.Conv2d.__init__ = original
            original(self, channels, *positional, **options)

        nn.Conv2d.__init__ = initialise_first
        try:
            return make(num_classes=outputs, **arguments)
        finally:
            nn.Conv2d.__init__ = original

    return build


def adapt_timm(make: Callable) -> Callable:
    """Adapt a constructor of timm, which draws a first convolution of any size."""

    def build(channels, outputs, **arguments):
        return make(in_chans=channels, num_classes=outputs, **arguments)

    return build


LIBRARIES = {"torchvision": adapt_torchvision, "timm": adapt_timm}
"""Adapters by the packages whose networks params.yaml can name directly."""
