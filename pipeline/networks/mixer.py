"""MLP-Mixer (arXiv:2105.01601), small enough for 32×32 inputs on a CPU."""

from torch import nn

from pipeline.networks.arguments import check_patch


def make_mlp(width, hidden):
    """Make Mixer's MLP: two linear layers with a GELU between them.

    Args:
        width: Number of inputs and outputs.
        hidden: Number of hidden units.
    """
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


class Block(nn.Module):
    """Mixer's block.

    An MLP over the patches of each channel, then an MLP over the channels of each
    patch, both after layer norm and beside an identity.
    """

    def __init__(self, patches, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.mix_patches = make_mlp(patches, width // 2)
        self.norm2 = nn.LayerNorm(width)
        self.mix_channels = make_mlp(width, 4 * width)

    def forward(self, x):
        x = x + self.mix_patches(self.norm1(x).mT).mT
        return x + self.mix_channels(self.norm2(x))


class Mixer(nn.Module):
    """MLP-Mixer.

    Each patch of the input is embedded linearly, blocks mix patches and channels in
    turn, and the read-out uses the mean over the patches.

    The MLPs have width/2 and 4·width hidden units, the paper's ratios. Before training
    all patches are alike: any permutation of them leaves the distribution of the
    weights unchanged.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        patch: Side of a patch in pixels.
        width: Number of channels of the blocks.
        depth: Number of blocks.
        side: Side of the input in pixels.
    """

    symmetry = "square"

    def __init__(self, channels, outputs, patch=4, width=128, depth=3, side=32):
        super().__init__()
        check_patch(patch, side)
        self.embed = nn.Conv2d(channels, width, patch, stride=patch)
        patches = (side // patch) ** 2
        self.blocks = nn.Sequential(*[Block(patches, width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, outputs)

    def forward(self, x):
        x = self.blocks(self.embed(x).flatten(2).mT)
        return self.fc(self.norm(x).mean(1))
