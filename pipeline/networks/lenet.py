"""LeNet, and its variants without max pooling (paper 1, fig. 3)."""

import torch.nn.functional as F
from torch import nn

from pipeline.networks.arguments import check_choice


class LeNet(nn.Module):
    """LeNet.

    Two unpadded 5×5 convolutions (6, 16 filters), each pooled by 2, and linear layers
    with 120, 84 and `outputs` units.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        side: Side of the input in pixels.
        downsampling: 'pool'; 'stride', convolutions of stride 2 instead of pooling; or
            'none', neither, and a first linear layer on the larger maps (paper 1,
            fig. 3).
    """

    def __init__(self, channels, outputs, side=32, downsampling="pool"):
        super().__init__()
        check_choice("downsampling", downsampling, ("pool", "stride", "none"))
        if side % 4 or side < 16:
            # Otherwise a pooling drops the last row and column, and the network loses
            # its symmetry under flips.
            raise ValueError("side must be a multiple of 4, at least 16")
        stride = 2 if downsampling == "stride" else 1
        self.pool = nn.MaxPool2d(2) if downsampling == "pool" else nn.Identity()
        self.conv1 = nn.Conv2d(channels, 6, 5, stride)
        self.conv2 = nn.Conv2d(6, 16, 5, stride)
        last = side - 8 if downsampling == "none" else (side - 12) // 4
        self.fc1 = nn.Linear(16 * last**2, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, outputs)

    @staticmethod
    def symmetry(downsampling="pool", **arguments):
        """Return the symmetry of the square.

        Convolutions of stride 2 leave out the last rows and columns, so that
        transposition is the only symmetry.
        """
        return "transposition" if downsampling == "stride" else "square"

    def forward(self, x):
        # Pooling before the ReLU is the same function (both are monotone) on a quarter
        # of the values.
        x = F.relu(self.pool(self.conv1(x)))
        x = F.relu(self.pool(self.conv2(x)))
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc3(F.relu(self.fc2(x)))
