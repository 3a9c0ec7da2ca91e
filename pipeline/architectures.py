"""The table of networks, with the framework's default initialisation.

An architecture in params.yaml is a name for an entry of `NETWORKS` with its keyword arguments, for example
`resnet18_narrow: {network: resnet18, width: 0.125}`, or for a network of one's own. A network maps (N, C, H, W) to
(N, outputs) and, if it is one of the table, ends in a linear layer, the *read-out*. Inputs are 32×32 unless `side` says
otherwise; networks that end in a mean over the whole map take any multiple of 8.
"""

import importlib
import inspect

import torch
import torch.nn.functional as F
from torch import nn

from pipeline.errors import InputError
from pipeline.params import SIDE


class LogReg(nn.Sequential):
    """Logistic regression: one linear layer."""

    symmetry, together = "square", "stack"

    def __init__(self, channels, outputs, side=SIDE):
        super().__init__(nn.Flatten(), nn.Linear(channels * side**2, outputs))


class MLP(nn.Sequential):
    """Fully connected ReLU network with the given hidden widths (paper 2: 100, 20 in §3 and 200, 50 in §4)."""

    symmetry, together = "square", "stack"

    def __init__(self, channels, outputs, hidden, side=SIDE):
        widths = [channels * side**2, *hidden]
        layers = [nn.Flatten()]
        for fan_in, fan_out in zip(widths, widths[1:]):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        super().__init__(*layers, nn.Linear(widths[-1], outputs))


def max_pool(x):
    """2×2 max pooling of maps with even sides, (N, C, H, W) to (N, C, H/2, W/2).

    Without gradients it is written as maxima of neighbours, the same values up to nine times as fast for few channels on a
    CPU; with gradients PyTorch's own is the faster one, forward and backward together.
    """
    if torch.is_grad_enabled():
        return F.max_pool2d(x, 2)
    x = torch.maximum(x[:, :, ::2], x[:, :, 1::2])
    return torch.maximum(x[..., ::2], x[..., 1::2])


class LeNet(nn.Module):
    """LeNet: two unpadded 5×5 convolutions (6, 16 filters), each pooled by 2, and linear layers 120, 84, outputs.

    downsampling: 'pool'; 'stride', convolutions of stride 2 instead of the pooling; 'none', neither, and a first linear
    layer that takes the larger maps (paper 1, fig. 3).
    """

    together = "stack"

    def __init__(self, channels, outputs, side=SIDE, downsampling="pool"):
        super().__init__()
        _check_choice("downsampling", downsampling, ("pool", "stride", "none"))
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
        first, bias, second = self.conv1.weight, self.conv1.bias, self.conv2.weight
        if self.training and x.device.type == "cpu":
            # Two filters of zeros, which nothing reads: CPUs train eight channels faster than six.
            first, bias, second = F.pad(first, (0,) * 7 + (2,)), F.pad(bias, (0, 2)), F.pad(second, (0,) * 5 + (2,))
        # Pooling before the ReLU is the same function (both are monotone) on a quarter of the values.
        x = F.relu(self.pool(F.conv2d(x, first, bias, self.conv1.stride)))
        x = F.relu(self.pool(F.conv2d(x, second, self.conv2.bias, self.conv2.stride)))
        x = F.relu(self.fc2(F.relu(self.fc1(x.flatten(1)))))
        return self.fc3(x)


def _check_choice(argument, value, choices):
    """Raise ValueError unless an argument has one of its values."""
    if value not in choices:
        raise ValueError(f"{argument} must be one of {', '.join(map(str, choices))}, not {value!r}")


def _check_width(width):
    """Raise ValueError for a width with which the network cannot be trained everywhere."""
    if not 0.125 <= width <= 4:
        # Below 8 filters a layer, the CPU library's convolution crashes in the backward pass (torch 2.15, AVX2).
        raise ValueError("width must lie between 0.125 and 4")


class Residual(nn.Module):
    """ResNet's basic block: two 3×3 convolutions with batch norm beside an identity or a strided 1×1 convolution.

    skip: whether there is something beside them; without it the block is its two convolutions.
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
            self.shortcut = nn.Sequential(nn.Conv2d(fan_in, fan_out, 1, stride, bias=False), nn.BatchNorm2d(fan_out))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.shortcut(x) if self.skip else y, inplace=True)


class ResNet18(nn.Module):
    """ResNet-18 with the CIFAR stem (3×3 convolution, no pooling); every layer's filters are multiplied by `width`.

    downsampling: 'stride', three times, and the mean over the last maps; 'none', neither, and a linear layer that takes
    the whole maps (paper 1, fig. 3). skip: whether the blocks have their skip connections.
    """

    together = "graph"

    def __init__(self, channels, outputs, width=1.0, downsampling="stride", skip=True, side=SIDE):
        super().__init__()
        _check_width(width)
        _check_choice("downsampling", downsampling, ("stride", "none"))
        _check_choice("skip", skip, (True, False))
        self.mean = downsampling == "stride"
        planes = [max(1, round(width * n)) for n in (64, 128, 256, 512)]
        self.conv1 = nn.Conv2d(channels, planes[0], 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes[0])
        blocks, fan_in = [], planes[0]
        for fan_out, stride in zip(planes, (1, 2, 2, 2)):
            stride = stride if self.mean else 1
            blocks += [Residual(fan_in, fan_out, stride, skip), Residual(fan_out, fan_out, 1, skip)]
            fan_in = fan_out
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(fan_in if self.mean else fan_in * side**2, outputs)

    @staticmethod
    def symmetry(downsampling="stride", **arguments):
        """Stride 2 with padding 1 starts at the first pixel and stops before the last, so flips do not leave it the same."""
        return "transposition" if downsampling == "stride" else "square"

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x))))
        return self.fc((F.avg_pool2d(x, x.shape[-2:]) if self.mean else x).flatten(1))


class VGG11(nn.Module):
    """VGG-11 with batch norm: convolutions drawn from N(0, 2/(k²·out)) with zero bias, head 512–512–outputs with dropout.

    Every layer's filters are multiplied by `width`.
    """

    symmetry, together = "square", "graph"

    def __init__(self, channels, outputs, width=1.0, side=SIDE):
        super().__init__()
        _check_width(width)
        if side % 32:
            raise ValueError("side must be a multiple of 32")
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
            fan_out = round(width * fan_out)
            layers += [nn.Conv2d(fan_in, fan_out, 3, padding=1), nn.BatchNorm2d(fan_out), nn.ReLU(inplace=True)]
            nn.init.normal_(layers[-3].weight, std=(2 / (9 * fan_out)) ** 0.5)
            nn.init.zeros_(layers[-3].bias)
            layers += [nn.MaxPool2d(2)] if pooled else []
            fan_in = fan_out
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(),
            nn.Linear(fan_in * (side // 32) ** 2, fan_in),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(fan_in, fan_in),
            nn.ReLU(inplace=True),
            nn.Linear(fan_in, outputs),
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

    symmetry, together = "square", "graph"

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
            *layers, nn.BatchNorm2d(fan_in), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.fc = nn.Linear(fan_in, outputs)

    def forward(self, x):
        return self.fc(self.features(x))


NETWORKS = {
    name: f"{__name__}:{kind.__name__}"
    for name, kind in {
        "logreg": LogReg,
        "mlp": MLP,
        "lenet": LeNet,
        "vgg11": VGG11,
        "resnet18": ResNet18,
        "densenet121": DenseNet121,
    }.items()
}
"""Where each class is. It states the `symmetry` of the square under which the law of its weights and its geometry are unchanged, as a
word or, where it depends on its arguments, as a function of them; and how several of it are trained `together` on a GPU: in a
'stack', or each in a recorded 'graph' of its own, which batch norm needs (`pipeline.ensembles`)."""


def _torchvision(make):
    """A constructor of torchvision as ours are called: it takes three channels and names the outputs `num_classes`."""

    def build(channels, outputs, **arguments):
        if channels != 3:
            raise ValueError(f"torchvision's networks take 3 channels, not {channels}")
        return make(num_classes=outputs, **arguments)

    return build


def _timm(make):
    """A constructor of timm as ours are called."""
    return lambda channels, outputs, **arguments: make(in_chans=channels, num_classes=outputs, **arguments)


LIBRARIES = {"torchvision": _torchvision, "timm": _timm}
"""Packages whose networks can be named without code of one's own, and how they are called."""


def resolved(specification):
    """A specification with the place of its network, `package.module:name`, instead of a name of the table.

    What trains a network is given this: so no result depends on what else stands in the table. Raises InputError if the name is
    neither in the table nor of that form.
    """
    name = specification.get("network")
    if not isinstance(name, str) or name not in NETWORKS and ":" not in name:
        raise InputError(
            f"the network {name!r} is unknown; known are {', '.join(NETWORKS)}, or one of your own as package.module:name"
        )
    return specification | {"network": NETWORKS.get(name, name)}


def factory(specification):
    """What builds the network of a specification."""
    return named(resolved(specification)["network"])


def named(name):
    """What builds a network: the callable that `package.module:name` names.

    It is called with the numbers of input channels and of outputs, then the specification's other keyword arguments, and
    returns a torch module; those of `LIBRARIES` are adapted to that. A network of one's own may state a `symmetry` as the
    built-in ones do. Raises InputError if it cannot be imported.
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"the network {name!r} cannot be imported ({error}); its module must be importable from the "
            f"repository's root"
        ) from None
    package = module.partition(".")[0]
    if package not in LIBRARIES:
        return found
    return LIBRARIES[package](found)


def symmetry(specification):
    """The symmetry of the square that a specification's network states, or 'measured' where it states none."""
    stated = getattr(factory(specification), "symmetry", "measured")
    return stated(**_arguments(specification)) if callable(stated) else stated


def together(specification):
    """How several networks of a `resolved` specification are trained together on a GPU: as its class states, else 'alone'."""
    return getattr(named(specification["network"]), "together", "alone")


def _arguments(specification):
    """The keyword arguments of a specification; raises InputError if its network takes no such argument."""
    arguments = _keywords(specification)
    parameters = inspect.signature(factory(specification)).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        known = [parameter.name for parameter in parameters][2:]
        for argument in arguments:
            if argument not in known:
                name = specification["network"]
                raise InputError(
                    f"the network {name} takes no argument {argument!r}; it takes {', '.join(known) or 'none'}"
                )
    return arguments


def _keywords(specification):
    return {key: value for key, value in specification.items() if key != "network"}


def build(specification, channels, outputs, seed):
    """A new network of the architecture, its initial weights determined by `seed` (made on the CPU).

    `specification` is one value of params.yaml's `architectures`: a mapping with `network` and keyword arguments.
    Raises InputError if the network is unknown or cannot be built with these arguments.
    """
    _arguments(specification)
    return made(resolved(specification), channels, outputs, seed)


def made(specification, channels, outputs, seed):
    """As `build`, of a `resolved` specification."""
    name, arguments = specification["network"], _keywords(specification)
    make = named(name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return make(channels, outputs, **arguments)
        except Exception as error:
            raise InputError(f"the network {name} cannot be built with {arguments}: {error}") from error


def check(architectures, uses):
    """Raise InputError unless every network of params.yaml's `architectures` is known and can be run as it is used.

    uses: architecture → set of ((C, H, W), outputs) that it must map from and to.
    """
    for name, specification in architectures.items():
        try:
            _arguments(specification)
            for shape, outputs in sorted(uses.get(name, ())):
                network = build(specification, shape[0], outputs, 0).eval()
                with torch.no_grad():
                    found = tuple(network(torch.zeros(2, *shape)).shape)
                if found != (2, outputs):
                    size = ", ".join(map(str, (2, *shape)))
                    raise InputError(f"{specification['network']} maps ({size}) to {found}, not to (2, {outputs})")
        except (RuntimeError, ValueError, TypeError, AssertionError, IndexError) as error:
            sentence = " ".join(str(error).split())
            raise InputError(f"architectures.{name}: {specification['network']} cannot be run: {sentence}") from None
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
        return network.rpartition(":")[2] + (f" ({described})" if described else "")
    name = LABELS[network]
    if "hidden" in arguments:
        name += f" ({', '.join(map(str, arguments['hidden']))})"
    if arguments.get("width", 1) != 1:
        name += f", width ×{arguments['width']:g}"
    if network == "lenet" and arguments.get("downsampling", "pool") != "pool":
        name += {"stride": ", stride for pooling", "none": ", no pooling"}[arguments["downsampling"]]
    if network == "resnet18" and arguments.get("downsampling") == "none":
        name += ", no pooling"
    if not arguments.get("skip", True):
        name += ", no skip connections"
    if arguments.get("growth", 32) != 32:
        name += f", growth {arguments['growth']}"
    if arguments.get("side", SIDE) != SIDE:
        name += f", {arguments['side']}×{arguments['side']}"
    return name
