"""MLP-Mixer (arXiv:2105.01601), small enough for 32×32 inputs on a CPU."""

from torch import nn

from pipeline.networks.arguments import check_patch


def perceptron(width, hidden):
    """Mixer's MLP: two linear layers with a GELU between them."""
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


class Block(nn.Module):
    """Mixer's block: an MLP over the patches of each channel, then one over the
    channels of each patch, both after layer norm and beside an identity."""

    def __init__(self, patches, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.mix_patches = perceptron(patches, width // 2)
        self.norm2 = nn.LayerNorm(width)
        self.mix_channels = perceptron(width, 4 * width)

    def forward(self, x):
        x = x + self.mix_patches(self.norm1(x).mT).mT
        return x + self.mix_channels(self.norm2(x))


class Mixer(nn.Module):
    """MLP-Mixer: each patch of the input is embedded linearly, blocks mix patches and
    channels in turn, and the read-out takes the mean over the patches.

    The MLPs have width/2 and 4·width hidden units, the paper's ratios. Before training
    all patches are alike: any permutation of them leaves the law of the weights
    unchanged.
    """

    symmetry = "square"
    together = "stack"

    def __init__(self, channels, outputs, patch=4, width=128, depth=3, side=32):
        super().__init__()
        check_patch(patch, side)
        self.embed = nn.Conv2d(channels, width, patch, stride=patch)
        self.blocks = nn.Sequential(
            *[Block((side // patch) ** 2, width) for _ in range(depth)]
        )
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, outputs)

    def forward(self, x):
        x = self.blocks(self.embed(x).flatten(2).mT)
        return self.fc(self.norm(x).mean(1))
