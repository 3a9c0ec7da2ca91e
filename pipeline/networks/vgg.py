"""VGG-11 with batch norm for 32×32 inputs."""

from torch import nn

from pipeline.networks.arguments import check_width


class VGG11(nn.Module):
    """VGG-11 with batch norm.

    Its convolutions are drawn from N(0, 2/(k²·out)) with zero bias. Its head is
    512–512–outputs with dropout after each ReLU.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        width: Number of filters and units of every layer, relative to VGG-11.
        side: Side of the input in pixels.
    """

    symmetry = "square"

    def __init__(self, channels, outputs, width=1.0, side=32):
        super().__init__()
        check_width(width)
        if side % 32:
            raise ValueError("side must be a multiple of 32")
        layers = []
        fan_in = channels
        filters = (64, 128, 256, 256, 512, 512, 512, 512)
        pools = (True, True, False, True, False, True, False, True)
        for count, pool in zip(filters, pools, strict=True):
            fan_out = round(width * count)
            convolution = nn.Conv2d(fan_in, fan_out, 3, padding=1)
            nn.init.normal_(convolution.weight, std=(2 / (9 * fan_out)) ** 0.5)
            nn.init.zeros_(convolution.bias)
            layers += [convolution, nn.BatchNorm2d(fan_out), nn.ReLU(inplace=True)]
            if pool:
                layers.append(nn.MaxPool2d(2))
            fan_in = fan_out
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(fan_in * (side // 32) ** 2, fan_in),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(fan_in, fan_in),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(fan_in, outputs),
        )

    def forward(self, x):
        return self.head(self.features(x))
