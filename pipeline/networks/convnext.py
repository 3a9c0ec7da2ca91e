"""ConvNeXt (arXiv:2201.03545), small enough for 32×32 inputs on a CPU."""

import torch
from torch import nn

from pipeline.networks.arguments import check_patch


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of each pixel of maps (N, C, H, W)."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    """ConvNeXt's block.

    A depthwise 7×7 convolution, layer norm and an MLP on each pixel, scaled by a weight
    for each channel and beside an identity.
    """

    def __init__(self, width, scale):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.scale = nn.Parameter(torch.full((width,), float(scale)))

    def forward(self, x):
        y = self.mlp(self.norm(self.depthwise(x).permute(0, 2, 3, 1)))
        return x + (self.scale * y).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    """ConvNeXt.

    Stages of blocks, the first after an embedding of patches, each later stage after a
    2×2 convolution of stride 2; the read-out uses the mean over the last maps.

    The weights are drawn from a normal distribution of standard deviation 0.02, with
    zero biases, as in the authors' code.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        patch: Side of a patch in pixels.
        widths: Number of channels of each stage.
        depths: Number of blocks of each stage.
        scale: The blocks' scales before training. The paper's 1e-6 makes each block an
            identity.
        side: Side of the input in pixels.
    """

    symmetry = "square"

    def __init__(
        self,
        channels,
        outputs,
        patch=4,
        widths=(32, 64, 128),
        depths=(1, 1, 3),
        scale=1e-6,
        side=32,
    ):
        super().__init__()
        check_patch(patch * 2 ** (len(widths) - 1), side)
        layers = [
            nn.Conv2d(channels, widths[0], patch, stride=patch),
            ChannelNorm(widths[0]),
        ]
        for stage, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            if stage > 0:
                fan_in = widths[stage - 1]
                layers += [ChannelNorm(fan_in), nn.Conv2d(fan_in, width, 2, stride=2)]
            layers += [Block(width, scale) for _ in range(depth)]
        self.features = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(widths[-1])
        self.fc = nn.Linear(widths[-1], outputs)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.trunc_normal_(layer.weight, std=0.02)
                nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.fc(self.norm(self.features(x).mean((2, 3))))
