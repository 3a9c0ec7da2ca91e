"""The table of networks: how a network is named, built and identified in cache keys.

An architecture in params.yaml names a network (a row of `FAMILIES`, a library's
network, or your own) and its keyword arguments: `resnet18_narrow: {network: resnet18,
width: 0.125}`. It becomes a *specification*: {"network": "package.module:name"} and the
arguments.
"""

import dataclasses
import functools
import importlib
import importlib.util
import re
import tokenize
import typing
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

from torch import nn

from pipeline.networks import custom
from pipeline.networks.libraries import LIBRARIES
from pipeline.project.errors import InputError, prefix_errors, suggest
from pipeline.training.loop import initialise
from pipeline.training.shapes import SIDE, Shape


@dataclasses.dataclass(frozen=True)
class Family:
    """A row of the table.

    The class at `import_path` states its `symmetry`, as a word or as a function of its
    arguments.

    Attributes:
        import_path: `package.module:name` of the class, its name in cache keys.
        label: Name in figures and tables.
    """

    import_path: str
    label: str


FAMILIES = {
    "logreg": Family("pipeline.networks.mlp:LogReg", "LogReg"),
    "mlp": Family("pipeline.networks.mlp:MLP", "MLP"),
    "lenet": Family("pipeline.networks.lenet:LeNet", "LeNet"),
    "vgg11": Family("pipeline.networks.vgg:VGG11", "VGG-11"),
    "resnet18": Family("pipeline.networks.resnet:ResNet18", "ResNet-18"),
    "densenet121": Family("pipeline.networks.densenet:DenseNet121", "DenseNet-121"),
    "vit": Family("pipeline.networks.vit:ViT", "ViT"),
    "mixer": Family("pipeline.networks.mixer:Mixer", "MLP-Mixer"),
    "convmixer": Family("pipeline.networks.convmixer:ConvMixer", "ConvMixer"),
    "convnext": Family("pipeline.networks.convnext:ConvNeXt", "ConvNeXt"),
}
"""The networks that params.yaml can name by one word."""

NETWORKS = {name: family.import_path for name, family in FAMILIES.items()}
"""The import path of each network of the table."""

LABELS = {family.import_path: family.label for family in FAMILIES.values()}
"""The label of each network of the table, by its import path."""

SYMMETRIES = ("none", "transposition", "square")
"""Symmetries of the square that a network can state. Each includes those before it."""

CONTIGUOUS = {"memory_format": "contiguous"}
"""Item in the specification of a custom network that does not run in channels last."""

Specification = dict[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Symmetry:
    """What leaves the distribution of a network's weights and its geometry unchanged.

    Attributes:
        square: One of `SYMMETRIES`, or 'measured' if none is known.
        channels: Whether each input channel's weights are drawn independently, with
            either sign.

    Raises:
        ValueError: If `square` is any other word.
    """

    square: str = "none"
    channels: bool = False

    def __post_init__(self) -> None:
        if self.square not in (*SYMMETRIES, "measured"):
            raise ValueError(
                f"symmetry must be one of {', '.join(SYMMETRIES)} or measured, with or "
                f"without +channels, not {self.square!r}"
            )

    @classmethod
    def parse(cls, name: str) -> typing.Self:
        """Return the symmetry of a name such as square or square+channels."""
        square = str(name).removesuffix("+channels")
        return cls(square, square != name)

    def __str__(self) -> str:
        return f"{self.square}+channels" if self.channels else self.square


def is_custom(import_path: str) -> bool:
    """Return whether a network is not in the table."""
    return import_path not in LABELS


def reads_own(specification: Specification) -> bool:
    """Return whether a network may use files in own/.

    It is neither in the table nor from a library.
    """
    import_path = specification["network"]
    package = import_path.partition(":")[0].partition(".")[0]
    return is_custom(import_path) and package not in LIBRARIES


def specification(architecture: dict[str, typing.Any]) -> Specification:
    """Return the specification of an architecture in params.yaml.

    Raises:
        InputError: If the name is missing, or neither in the table nor of the form
            `package.module:name`.
    """
    if "network" not in architecture:
        raise InputError(
            "the key 'network' is missing; it names the network, such as lenet or "
            "my_networks:Mixer",
            "missing-key",
            key="network",
        )
    if CONTIGUOUS.keys() & architecture.keys():
        raise InputError(
            "a network cannot have an argument memory_format; give it another name",
            "unknown-key",
            key="memory_format",
        )
    name = str(architecture["network"])
    module, colon, _ = name.partition(":")
    if colon and "/" not in module and not module.endswith(".py"):
        return dict(architecture)
    if name not in NETWORKS:
        advice = suggest(name, NETWORKS)
        dotted = re.fullmatch(r"([A-Za-z_][\w.]*)\.(?!py$)([A-Za-z_]\w*)", name)
        if dotted and dotted[1] not in NETWORKS:
            advice = f"did you mean '{dotted[1]}:{dotted[2]}'?"
        raise InputError(
            f"the network {name!r} is unknown; {advice} Name your own network "
            "module:name, where the module is in own/, and a library's "
            "torchvision.models:name or timm:name",
            "unknown-name",
            name=name,
        )
    return architecture | {"network": NETWORKS[name]}


def constructor(import_path: str) -> Callable[..., nn.Module]:
    """Return the callable that builds a network.

    It is called with channels, outputs and keyword arguments. The callables of
    `LIBRARIES` are adapted. `timm:name` is the network that timm lists under that name.

    Args:
        import_path: `package.module:name`; a module of yours is in own/.

    Raises:
        InputError: If the network cannot be imported.
    """
    module, _, attribute = import_path.partition(":")
    if not is_custom(import_path):
        return getattr(importlib.import_module(module), attribute)
    if module == "torchvision":
        module = "torchvision.models"
    imported = custom.load(module)
    if module == "timm":
        return LIBRARIES["timm"](functools.partial(imported.create_model, attribute))
    make = getattr(imported, attribute, None)
    if make is None:
        raise InputError(
            f"the network {import_path}: {suggest(attribute, dir(imported))}",
            "unknown-name",
            name=attribute,
        )
    if not callable(make) or isinstance(make, nn.Module):
        raise InputError(
            f"{import_path} is a {type(make).__name__}; name a class or a function "
            "that returns a network",
            "wrong-type",
            name=import_path,
        )
    package = module.partition(".")[0]
    return LIBRARIES[package](make) if package in LIBRARIES else make


def keywords(specification: Specification) -> dict[str, typing.Any]:
    """Return the keyword arguments of a specification."""
    reserved = ("network", *CONTIGUOUS)
    return {key: value for key, value in specification.items() if key not in reserved}


def build(
    specification: Specification, channels: int, outputs: int, seed: int
) -> nn.Module:
    """Build a network whose initial weights are drawn on the CPU.

    Args:
        specification: The network and its arguments.
        channels: Number of input channels.
        outputs: Number of outputs.
        seed: Seed of PyTorch's generator.

    Raises:
        InputError: If the network cannot be imported or built with these arguments.
    """
    import_path = specification["network"]
    arguments = keywords(specification)
    make = functools.partial(constructor(import_path), channels, outputs, **arguments)
    given = [f"channels {channels}", f"outputs {outputs}"]
    given += [f"{name} {value}" for name, value in arguments.items()]
    with prefix_errors(f"{import_path} ({', '.join(given)}): ", TypeError, ValueError):
        if is_custom(import_path):
            return custom.build(make, seed, CONTIGUOUS.items() <= specification.items())
        return initialise(make, seed)


def symmetry(specification: Specification) -> Symmetry:
    """Return the symmetry that a network's class states, or 'measured'.

    A family states it as a word or as a function of its arguments, a custom network as
    a word. Any other attribute of this name has a meaning of its own. A custom class
    or function states it itself: what inherits from a class, or wraps one, may break
    its symmetry.
    """
    import_path = specification["network"]
    make = constructor(import_path)
    if is_custom(import_path):
        own = {} if hasattr(make, "__wrapped__") else getattr(make, "__dict__", {})
        try:
            return Symmetry.parse(own.get("symmetry"))
        except ValueError:
            return Symmetry("measured")
    stated = getattr(make, "symmetry", None)
    if callable(stated):
        stated = stated(**keywords(specification))
    return Symmetry(stated or "measured", channels=True)


def symmetry_of_inputs(specification: Specification, shape: Shape) -> Symmetry:
    """Return the part of a network's `symmetry` that its inputs can have.

    Args:
        specification: The network and its arguments.
        shape: (C, H, W) of one input.
    """
    stated = symmetry(specification)
    channels, height, width = shape
    square = stated.square if height == width else "none"
    side = specification.get("side", SIDE)
    custom_network = is_custom(specification["network"])
    if square == "square" and height % side and not custom_network:
        # Strides and poolings may leave out the last rows of such inputs.
        square = "measured"
    return Symmetry(square, stated.channels and channels > 1)


def files(import_path: str) -> list[Path]:
    """Return the package's files that determine a network.

    Your own network, or a network of another library, may build on any network of the
    table.
    """
    module = import_path.partition(":")[0]
    if module.partition(".")[0] in LIBRARIES:
        folder = Path(__file__).parent
        return [folder / "custom.py", folder / "libraries.py"]
    if module.startswith("pipeline."):
        return [Path(importlib.util.find_spec(module).origin)]
    return sorted(Path(__file__).parent.glob("*.py"))


_distributions = functools.cache(metadata.packages_distributions)


def version(import_path: str, own: Iterable[str] = ()) -> str:
    """Return the versions of the installed packages that determine a custom network.

    Args:
        import_path: `package.module:name`; a network of the table has no such packages.
        own: Files of your own network. A package counts if its module's name occurs in
            them.
    """
    if not is_custom(import_path):
        return ""
    package = import_path.partition(":")[0].partition(".")[0]
    packages = set(LIBRARIES)
    if package not in LIBRARIES:
        words = {package}
        for file in own:
            if file.endswith(".py"):
                # In the encoding that its first lines state.
                with tokenize.open(file) as source:
                    words.update(re.findall(r"\w+", source.read()))
        for word in words:
            packages.update(_distributions().get(word, ()))
    versions = []
    for name in sorted(packages):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(versions)
