"""The table of networks, all for 32×32 inputs with the framework's default initialisation.

An architecture in params.yaml is a name for an entry of `NETWORKS` with its keyword arguments, for example
`resnet18_narrow: {network: resnet18, width: 0.125}`, or for a network of one's own. A network maps (N, C, 32, 32) to (N, outputs) and, if it is one of the table,
ends in a linear layer, the *read-out*.
"""

import importlib
import inspect

import torch
import torch.nn.functional as F
from torch import nn

from pipeline.errors import InputError
from pipeline.params import SIDE, D


class LogReg(nn.Sequential):
    """Logistic regression: one linear layer."""

    symmetry = "square"

    def __init__(self, channels, outputs):
        super().__init__(nn.Flatten(), nn.Linear(channels * D, outputs))


class MLP(nn.Sequential):
    """Fully connected ReLU network with the given hidden widths (paper 2: 100, 20 in §3 and 200, 50 in §4)."""

    symmetry = "square"

    def __init__(self, channels, outputs, hidden):
        widths = [channels * D, *hidden]
        layers = [nn.Flatten()]
        for fan_in, fan_out in zip(widths, widths[1:]):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        super().__init__(*layers, nn.Linear(widths[-1], outputs))


class LeNet(nn.Module):
    """LeNet: two unpadded 5×5 convolutions (6, 16 filters), each pooled by 2, and linear layers 120, 84, outputs."""

    symmetry = "square"

    def __init__(self, channels, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, outputs)

    def forward(self, x):
        # Pooling before the ReLU is the same function (both are monotone) on a quarter of the values.
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        x = F.relu(self.fc2(F.relu(self.fc1(x.flatten(1)))))
        return self.fc3(x)


class Residual(nn.Module):
    """ResNet's basic block: two 3×3 convolutions with batch norm beside an identity or a strided 1×1 convolution."""

    def __init__(self, fan_in, fan_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(fan_in, fan_out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(fan_out)
        self.conv2 = nn.Conv2d(fan_out, fan_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(fan_out)
        self.shortcut = nn.Identity()
        if stride != 1 or fan_in != fan_out:
            self.shortcut = nn.Sequential(nn.Conv2d(fan_in, fan_out, 1, stride, bias=False), nn.BatchNorm2d(fan_out))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x), inplace=True)


class ResNet18(nn.Module):
    """ResNet-18 with the CIFAR stem (3×3 convolution, no pooling); every layer's filters are multiplied by `width`."""

    symmetry = "transposition"  # stride 2 with padding 1 starts at the first pixel and stops before the last

    def __init__(self, channels, outputs, width=1.0):
        super().__init__()
        if not 0.125 <= width <= 4:
            # Below 8 filters a layer, the CPU library's convolution crashes in the backward pass (torch 2.15, AVX2).
            raise ValueError("width must lie between 0.125 and 4")
        planes = [max(1, round(width * n)) for n in (64, 128, 256, 512)]
        self.conv1 = nn.Conv2d(channels, planes[0], 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes[0])
        blocks, fan_in = [], planes[0]
        for fan_out, stride in zip(planes, (1, 2, 2, 2)):
            blocks += [Residual(fan_in, fan_out, stride), Residual(fan_out, fan_out, 1)]
            fan_in = fan_out
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(fan_in, outputs)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x))))
        return self.fc(F.avg_pool2d(x, 4).flatten(1))


class VGG11(nn.Module):
    """VGG-11 with batch norm: convolutions drawn from N(0, 2/(k²·out)) with zero bias, head 512–512–outputs with dropout."""

    symmetry = "square"

    def __init__(self, channels, outputs):
        super().__init__()
        layers, fan_in = [], channels
        for fan_out, pooled in (
            (64, True),
            (128, True),
            (256, False),
            (256, True),
            (512, False),
            (512, True),
            (512, False),
            (512, True),
        ):
            layers += [nn.Conv2d(fan_in, fan_out, 3, padding=1), nn.BatchNorm2d(fan_out), nn.ReLU(inplace=True)]
            nn.init.normal_(layers[-3].weight, std=(2 / (9 * fan_out)) ** 0.5)
            nn.init.zeros_(layers[-3].bias)
            layers += [nn.MaxPool2d(2)] if pooled else []
            fan_in = fan_out
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(),
            nn.Linear(512, 512),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(512, 512),
            nn.ReLU(inplace=True),
            nn.Linear(512, outputs),
        )

    def forward(self, x):
        return self.head(self.features(x))


class Dense(nn.Module):
    """DenseNet's bottleneck layer: its `growth` new channels are stacked onto its input's."""

    def __init__(self, fan_in, growth):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(fan_in)
        self.conv1 = nn.Conv2d(fan_in, 4 * growth, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([self.conv2(F.relu(self.bn2(self.conv1(F.relu(self.bn1(x)))))), x], 1)


class DenseNet121(nn.Module):
    """DenseNet-121 with the CIFAR stem: growth 32, reduction 0.5, blocks of 6, 12, 24 and 16 layers."""

    symmetry = "square"

    def __init__(self, channels, outputs, growth=32, blocks=(6, 12, 24, 16)):
        super().__init__()
        fan_in = 2 * growth
        layers = [nn.Conv2d(channels, fan_in, 3, padding=1, bias=False)]
        for number, count in enumerate(blocks):
            if number:
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
            *layers, nn.BatchNorm2d(fan_in), nn.ReLU(inplace=True), nn.AvgPool2d(4), nn.Flatten()
        )
        self.fc = nn.Linear(fan_in, outputs)

    def forward(self, x):
        return self.fc(self.features(x))


NETWORKS = {
    "logreg": LogReg,
    "mlp": MLP,
    "lenet": LeNet,
    "vgg11": VGG11,
    "resnet18": ResNet18,
    "densenet121": DenseNet121,
}
"""Each class states the `symmetry` of the square under which the law of its weights and its geometry are unchanged."""


def factory(specification):
    """What builds the network of a specification: an entry of `NETWORKS`, or the callable that `package.module:name` names.

    It is called with the numbers of input channels and of outputs, then the specification's other keyword arguments, and
    returns a torch module. A network of one's own may state a `symmetry` as the built-in ones do; without it, it has none.
    Raises InputError if the name is neither in the table nor importable.
    """
    name = specification.get("network")
    if name in NETWORKS:
        return NETWORKS[name]
    if not isinstance(name, str) or ":" not in name:
        raise InputError(
            f"the network {name!r} is unknown; known are {', '.join(NETWORKS)}, or one of your own as package.module:name"
        )
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"the network {name!r} cannot be imported ({error}); its module must be importable from the "
            f"repository's root"
        ) from None


def symmetry(specification):
    """The symmetry that the network of a specification states: 'square', 'transposition' or 'none'."""
    return getattr(factory(specification), "symmetry", "none")


def build(specification, channels, outputs, seed):
    """A new network of the architecture, its initial weights determined by `seed` (made on the CPU).

    `specification` is one value of params.yaml's `architectures`: a mapping with `network` and keyword arguments.
    Raises InputError if the network is unknown or cannot be built with these arguments.
    """
    make, name = factory(specification), specification["network"]
    arguments = {key: value for key, value in specification.items() if key != "network"}
    parameters = inspect.signature(make).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        known = [parameter.name for parameter in parameters][2:]
        for argument in arguments:
            if argument not in known:
                raise InputError(
                    f"the network {name} takes no argument {argument!r}; it takes {', '.join(known) or 'none'}"
                )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return make(channels, outputs, **arguments)
        except Exception as error:
            raise InputError(f"the network {name} cannot be built with {arguments}: {error}") from error


def check(architectures):
    """Raise InputError unless every architecture of params.yaml can be built and maps (2, C, 32, 32) to (2, outputs)."""
    for name, specification in architectures.items():
        try:
            for channels, outputs in ((1, 1), (2, 2)):
                network = build(specification, channels, outputs, 0).eval()
                if specification["network"] in NETWORKS:
                    continue
                with torch.no_grad():
                    found = tuple(network(torch.zeros(2, *input_shape(channels))).shape)
                if found != (2, outputs):
                    raise InputError(
                        f"{specification['network']} maps (2, {channels}, {SIDE}, {SIDE}) to {found}, not to "
                        f"(2, {outputs})"
                    )
        except (RuntimeError, ValueError) as error:
            raise InputError(f"architectures.{name}: {specification['network']} cannot be run: {error}") from None
        except InputError as error:
            raise InputError(f"architectures.{name}: {error}") from None


LABELS = {
    "logreg": "LogReg",
    "mlp": "MLP",
    "lenet": "LeNet",
    "vgg11": "VGG-11",
    "resnet18": "ResNet-18",
    "densenet121": "DenseNet-121",
}


def label(specification):
    """How a figure names the architecture: for example 'MLP (100, 20)' or 'ResNet-18, width ×0.125'."""
    arguments = dict(specification)
    network = arguments.pop("network")
    if network not in LABELS:
        described = ", ".join(f"{key} {value}" for key, value in arguments.items())
        return network.partition(":")[2] + (f" ({described})" if described else "")
    name = LABELS[network]
    if "hidden" in arguments:
        name += f" ({', '.join(map(str, arguments['hidden']))})"
    if arguments.get("width", 1) != 1:
        name += f", width ×{arguments['width']:g}"
    return name


def input_shape(channels):
    """Shape (C, H, W) of one input."""
    return channels, SIDE, SIDE
