"""ConvMixer (arXiv:2201.09792), small enough for 32×32 inputs on a CPU."""

from torch import nn

from pipeline.networks.arguments import check_patch


def add_activation(convolution):
    """Add the GELU and the batch norm that follow a convolution of ConvMixer."""
    norm = nn.BatchNorm2d(convolution.out_channels)
    return nn.Sequential(convolution, nn.GELU(), norm)


class Block(nn.Module):
    """ConvMixer's block.

    A depthwise convolution beside an identity, then a 1×1 convolution.
    """

    def __init__(self, width, kernel):
        super().__init__()
        self.depthwise = add_activation(
            nn.Conv2d(width, width, kernel, padding=kernel // 2, groups=width)
        )
        self.pointwise = add_activation(nn.Conv2d(width, width, 1))

    def forward(self, x):
        return self.pointwise(x + self.depthwise(x))


class ConvMixer(nn.Module):
    """ConvMixer.

    Each patch of the input is embedded linearly, blocks mix patches and channels by
    convolutions, and the read-out uses the mean over the patches.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        patch: Side of a patch in pixels.
        width: Number of channels of the blocks.
        depth: Number of blocks.
        kernel: Odd side of the depthwise filters: 5 for 8×8 patches, where the paper
            has 9 for 32×32.
        side: Side of the input in pixels.
    """

    symmetry = "square"

    def __init__(
        self, channels, outputs, patch=4, width=128, depth=6, kernel=5, side=32
    ):
        super().__init__()
        check_patch(patch, side)
        self.embed = add_activation(nn.Conv2d(channels, width, patch, stride=patch))
        self.blocks = nn.Sequential(*[Block(width, kernel) for _ in range(depth)])
        self.fc = nn.Linear(width, outputs)

    def forward(self, x):
        return self.fc(self.blocks(self.embed(x)).mean((2, 3)))
