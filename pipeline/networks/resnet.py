"""ResNet-18 for 32×32 inputs, and its variants (paper 1, figs 1 and 3)."""

import torch.nn.functional as F
from torch import nn

from pipeline.networks.arguments import check_choice, check_width


class Residual(nn.Module):
    """ResNet's basic block.

    Two 3×3 convolutions with batch norm beside an identity or a strided 1×1
    convolution; only the two convolutions if `skip` is false.
    """

    def __init__(self, fan_in, fan_out, stride, skip=True):
        super().__init__()
        self.skip = skip
        self.conv1 = nn.Conv2d(fan_in, fan_out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(fan_out)
        self.conv2 = nn.Conv2d(fan_out, fan_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(fan_out)
        self.shortcut = nn.Identity()
        if skip and (stride != 1 or fan_in != fan_out):
            self.shortcut = nn.Sequential(
                nn.Conv2d(fan_in, fan_out, 1, stride, bias=False),
                nn.BatchNorm2d(fan_out),
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        if self.skip:
            y = y + self.shortcut(x)
        return F.relu(y, inplace=True)


class ResNet18(nn.Module):
    """ResNet-18 with the CIFAR stem (3×3 convolution, no pooling).

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        width: Number of filters of every layer, relative to ResNet-18.
        downsampling: 'stride', three strides of 2 and the mean over the last maps; or
            'none', no strides, and a linear layer on the whole maps (paper 1, fig. 3).
        skip: Whether the blocks have skip connections (paper 1, fig. 1).
        side: Side of the input in pixels.
    """

    def __init__(
        self, channels, outputs, width=1.0, downsampling="stride", skip=True, side=32
    ):
        super().__init__()
        check_width(width)
        check_choice("downsampling", downsampling, ("stride", "none"))
        check_choice("skip", skip, (True, False))
        self.averages_maps = downsampling == "stride"
        planes = [round(width * n) for n in (64, 128, 256, 512)]
        self.conv1 = nn.Conv2d(channels, planes[0], 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes[0])
        blocks = []
        fan_in = planes[0]
        strides = (1, 2, 2, 2) if self.averages_maps else (1, 1, 1, 1)
        for fan_out, stride in zip(planes, strides, strict=True):
            blocks += [
                Residual(fan_in, fan_out, stride, skip),
                Residual(fan_out, fan_out, 1, skip),
            ]
            fan_in = fan_out
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(fan_in if self.averages_maps else fan_in * side**2, outputs)

    @staticmethod
    def symmetry(downsampling="stride", **arguments):
        """Return the symmetry of the square.

        Stride 2 with padding 1 starts at the first pixel and stops before the last, so
        that a flip changes the network.
        """
        return "transposition" if downsampling == "stride" else "square"

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x))))
        if self.averages_maps:
            x = F.avg_pool2d(x, x.shape[-2:])
        return self.fc(x.flatten(1))
