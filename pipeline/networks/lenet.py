"""LeNet, and its variants without max pooling (paper 1, fig. 3)."""

import torch
import torch.nn.functional as F
from torch import nn

from pipeline.networks.arguments import check_choice
from pipeline.project.shapes import SIDE


def max_pool(x):
    """2×2 max pooling of maps with even sides, (N, C, H, W) to (N, C, H/2, W/2).

    Without gradients it is written as maxima of neighbours, the same values up to nine times as fast for few channels on a
    CPU; with gradients PyTorch's own is the faster one, forward and backward together.
    """
    if torch.is_grad_enabled():
        return F.max_pool2d(x, 2)
    x = torch.maximum(x[:, :, ::2], x[:, :, 1::2])
    return torch.maximum(x[..., ::2], x[..., 1::2])


def by_two_columns(x, weight, bias):
    """The unpadded convolution of stride 1 of x (N, C, H, W) with weight (K, C, h, w) and bias (K,): (N, K, H − h + 1, W − w + 1).

    The number of columns of the result is even, and x channels last. A column and the next are made together, by 2 K filters one
    column wider at every second place: the same values, and with K = 8 as many at once as a CPU with AVX-512 multiplies.
    """
    left, right = F.pad(weight, (0, 1)), F.pad(weight, (1, 0))
    x = F.conv2d(x, torch.cat([left, right]), torch.cat([bias, bias]), stride=(1, 2))
    # Channels lie innermost, so the two columns' values lie beside each other as they shall.
    return x.permute(0, 2, 3, 1).unflatten(-1, (2, len(weight))).flatten(2, 3).permute(0, 3, 1, 2)


class LeNet(nn.Module):
    """LeNet: two unpadded 5×5 convolutions (6, 16 filters), each pooled by 2, and linear layers 120, 84, outputs.

    downsampling: 'pool'; 'stride', convolutions of stride 2 instead of the pooling; 'none', neither, and a first linear
    layer that takes the larger maps (paper 1, fig. 3).
    """

    together = "stack"

    def __init__(self, channels, outputs, side=SIDE, downsampling="pool"):
        super().__init__()
        check_choice("downsampling", downsampling, ("pool", "stride", "none"))
        if side % 4 or side < 16:
            # Otherwise a pooling drops the last row and column, and the network loses its symmetry under flips.
            raise ValueError("side must be a multiple of 4, at least 16")
        stride = 2 if downsampling == "stride" else 1
        self.pool = max_pool if downsampling == "pool" else nn.Identity()
        self.conv1 = nn.Conv2d(channels, 6, 5, stride)
        self.conv2 = nn.Conv2d(6, 16, 5, stride)
        last = side - 8 if downsampling == "none" else (side - 12) // 4
        self.fc1 = nn.Linear(16 * last**2, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, outputs)

    @staticmethod
    def symmetry(downsampling="pool", **arguments):
        """Convolutions of stride 2 leave out the last row and column, so only the transposition is left."""
        return "transposition" if downsampling == "stride" else "square"

    def forward(self, x):
        if self.training and x.device.type == "cpu" and self.conv1.stride == (1, 1):
            # Two filters of zeros, which nothing reads: CPUs train eight channels faster than six.
            second = F.pad(self.conv2.weight, (0,) * 5 + (2,))
            x = by_two_columns(x, F.pad(self.conv1.weight, (0,) * 7 + (2,)), F.pad(self.conv1.bias, (0, 2)))
        else:
            x, second = self.conv1(x), self.conv2.weight
        # Pooling before the ReLU is the same function (both are monotone) on a quarter of the values.
        x = F.relu(self.pool(x))
        x = self.pool(F.conv2d(x, second, self.conv2.bias, self.conv2.stride))
        # Flattened before the ReLU, whose backward pass then meets one layout: of two it would go through value by value.
        x = F.relu(x.flatten(1))
        x = F.relu(self.fc2(F.relu(self.fc1(x))))
        return self.fc3(x)
