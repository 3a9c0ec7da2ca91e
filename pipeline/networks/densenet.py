"""DenseNet-121 for 32×32 inputs."""

import torch
import torch.nn.functional as F
from torch import nn


class Dense(nn.Module):
    """DenseNet's bottleneck layer, which adds `growth` channels to its input."""

    def __init__(self, fan_in, growth):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(fan_in)
        self.conv1 = nn.Conv2d(fan_in, 4 * growth, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x):
        y = self.conv1(F.relu(self.bn1(x)))
        y = self.conv2(F.relu(self.bn2(y)))
        return torch.cat([y, x], 1)


class DenseNet121(nn.Module):
    """DenseNet-121 with the CIFAR stem and reduction 0.5.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        growth: Number of channels that each layer adds.
        blocks: Number of layers of each block.
    """

    symmetry = "square"

    def __init__(self, channels, outputs, growth=32, blocks=(6, 12, 24, 16)):
        super().__init__()
        fan_in = 2 * growth
        layers = [nn.Conv2d(channels, fan_in, 3, padding=1, bias=False)]
        for number, count in enumerate(blocks):
            if number > 0:
                layers += [
                    nn.BatchNorm2d(fan_in),
                    nn.ReLU(inplace=True),
                    nn.Conv2d(fan_in, fan_in // 2, 1, bias=False),
                    nn.AvgPool2d(2),
                ]
                fan_in //= 2
            layers += [Dense(fan_in + n * growth, growth) for n in range(count)]
            fan_in += count * growth
        self.features = nn.Sequential(
            *layers,
            nn.BatchNorm2d(fan_in),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.fc = nn.Linear(fan_in, outputs)

    def forward(self, x):
        return self.fc(self.features(x))
