"""The table of networks, with the framework's default initialisation.

An architecture in params.yaml names a network (an entry of `NETWORKS`, a library's network, or a
person's own) and its keyword arguments: `resnet18_narrow: {network: resnet18, width: 0.125}`. It
becomes a *specification*: {"network": "package.module:name"} and the arguments. A network maps
(N, C, H, W) to (N, outputs). A network of the table ends in a linear layer, the *read-out*, and
takes inputs of 32×32 unless `side` says otherwise. Of others, which are other people's code, the
inputs are copied and torch's defaults kept.
"""

import contextlib
import dataclasses
import difflib
import functools
import importlib.util
import inspect
import os
import re
import sys
import tokenize
import typing
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path

import torch
from torch import nn

from pipeline.cells.shapes import SIDE, Shape
from pipeline.cells.training import initialised
from pipeline.networks.libraries import LIBRARIES
from pipeline.project.errors import InputError, nearest

NETWORKS = {
    "logreg": "pipeline.networks.mlp:LogReg",
    "mlp": "pipeline.networks.mlp:MLP",
    "lenet": "pipeline.networks.lenet:LeNet",
    "vgg11": "pipeline.networks.vgg:VGG11",
    "resnet18": "pipeline.networks.resnet:ResNet18",
    "densenet121": "pipeline.networks.densenet:DenseNet121",
    "vit": "pipeline.networks.vit:ViT",
    "mixer": "pipeline.networks.mixer:Mixer",
    "convmixer": "pipeline.networks.convmixer:ConvMixer",
    "convnext": "pipeline.networks.convnext:ConvNeXt",
}
"""The place of each network's class. The class states its `symmetry`, as a word or as a function of
its arguments: the symmetries of the square that leave the weights' law and the geometry unchanged.
It states `together = "stack"` where a GPU may train several as one, which batch norm forbids."""

SYMMETRIES = ("none", "transposition", "square")
"""The symmetries of the square that a network can state, each of which has those before it."""

CONTIGUOUS = ("memory_format", "contiguous")
"""The item of the specification of a network outside the table that does not run in the memory
format in which all others are trained and derived, channels last; the dry run adds it."""

REMEDIES = {
    "SystemExit": "its code ends Python, as sys.exit and argparse do; move that below "
    "`if __name__ == '__main__':`",
    r"No module named '(?P<name>\w+)'": "there is neither a file own/{name}.py or folder "
    "own/{name}/ of yours (`dvc exp run --temp` takes those along that git knows: `git add own`) "
    "nor an installed package",
    r"No module named '(?P<name>\w+)": "the {name} that is found here has it not, as another "
    "version may",
    "batch of 1:.* more than 1 value": "batch norms need running statistics",
    "batch of 1:": "it does run on two: give `squeeze()` its dimension, and write down no number "
    "of images",
    "not one tensor": "put a module around it that returns the tensor of its outputs alone, or "
    "give the argument that leaves out the others (in torchvision aux_logits: false)",
    r"it returns \(": "of N images it returns (N, outputs), where outputs is the second "
    "number with which it is built",
    "used in the graph|not require grad": "leave out `torch.no_grad()` and `.detach()`, since "
    "gradients are taken with respect to weights and inputs",
    "(?i)nvidia|cuda|device": "leave `.cuda()` and devices out of its code: it is built on "
    "the CPU, and its parameters and buffers are moved",
    "dtype|scalar type|Input type": "inputs are float32: leave out `.half()`, `.double()` and such",
    "(?i)hidden size|batch.?size": "a network takes any number of images",
    r"(?i)^(?!.*TypeError|.*reshape).*\b(sizes?|shapes?|channels?|height|width|axis)\b": "`input: "
    "[C, H, W]` in nads, --input or `shape` gives inputs of another size",
}
"""What to do about an exception of a network's own code, by words in it; the first found count, and
their groups stand in the remedy."""

DEFAULTS = {
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "default device": (
        torch.get_default_device,
        lambda device: torch.set_default_device(None if device.type == "cpu" else device),
    ),
    "gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "threads": (torch.get_num_threads, torch.set_num_threads),
    "determinism": (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    "precision": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "current folder": (os.getcwd, os.chdir),
}
"""What one network's code may set for all, and the functions that tell and set it."""


@dataclasses.dataclass(frozen=True)
class Symmetry:
    """What leaves the law of a network's weights and its geometry unchanged.

    square: one of `SYMMETRIES`, or 'measured' where none is known; channels: whether the weights of
    each input channel are drawn independently, and with either sign. Raises ValueError for any
    other word.
    """

    square: str = "none"
    channels: bool = False

    def __post_init__(self) -> None:
        if self.square not in (*SYMMETRIES, "measured"):
            raise ValueError(
                f"symmetry must be one of {', '.join(SYMMETRIES)} or measured, with or without "
                f"+channels, not {self.square!r}"
            )

    @classmethod
    def named(cls, name: str) -> typing.Self:
        """The symmetry of a name such as square or square+channels."""
        square = name.removesuffix("+channels")
        return cls(square, square != name)

    def __str__(self) -> str:
        return self.square + "+channels" * self.channels


OWN = Path("own")  # the folder of a person's own networks, below the current folder
Specification = dict[str, typing.Any]


def specification(architecture: dict[str, typing.Any]) -> Specification:
    """The specification of an architecture in params.yaml.

    Raises InputError if the name is neither in the table nor of the form `package.module:name`.
    """
    name = str(architecture.get("network"))
    module, _, attribute = name.partition(":")
    if name in NETWORKS or attribute and "/" not in module and not module.endswith(".py"):
        return architecture | {"network": NETWORKS.get(name, name)}
    if attribute:
        meant = f"write '{Path(module).stem}:{attribute}'; its file lies in own/, or a link to it."
    elif "." in name:
        meant = "write '{}:{}'.".format(*name.rpartition(".")[::2])
    else:
        meant = nearest(name, NETWORKS)
    raise InputError(
        f"the network {name!r} is unknown; {meant} One of your own is named module:name, a "
        "library's torchvision.models:name or timm:name"
    )


def constructor(place: str) -> Callable[..., nn.Module]:
    """The callable at `package.module:name`, which builds a network from the numbers of input
    channels and of outputs and the specification's arguments.

    A person's own modules lie in `own/`; the callables of `LIBRARIES` are adapted; `timm:name` is
    the network that timm lists under that name. Raises InputError if it cannot be imported.
    """
    module, _, attribute = place.partition(":")
    module = "torchvision.models" if module == "torchvision" else module
    if (folder := str(OWN.absolute())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        with usual_defaults():
            imported = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise InputError(f"the network {place!r} cannot be imported: {reason(error)}") from error
    if module == "timm":
        return LIBRARIES["timm"](functools.partial(imported.create_model, attribute))
    if not hasattr(imported, attribute):
        near = difflib.get_close_matches(attribute, dir(imported), n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"the network {place!r} is not there: {module} has no {attribute!r}{meant}"
        )
    make, package = getattr(imported, attribute), module.partition(".")[0]
    return LIBRARIES[package](make) if package in LIBRARIES else make


def reason(error: BaseException, where: str = "") -> str:
    """An exception of a network's own code, on one line that begins with `where`, and its remedy
    where one is known."""
    text = str(error).rpartition("RuntimeError: ")[2]  # of a scripted module's own traceback
    if not isinstance(error, InputError):
        text = " ".join(f"{type(error).__name__}: {text}".split())
    for words, remedy in REMEDIES.items():
        if found := re.search(words, where + text):
            return f"{where}{text}; {remedy.format(**found.groupdict())}"
    return where + text


def defaults() -> dict[str, object]:
    """The present values of `DEFAULTS`."""
    return {name: tell() for name, (tell, _) in DEFAULTS.items()}


@contextlib.contextmanager
def usual_defaults() -> Iterator[None]:
    """Context in which torch makes float32 tensors and gradients, and after which `DEFAULTS` are
    what they were: other people's code sets them when it is imported or run. It reads no words of
    this command as options of its own."""
    before, words, sys.argv = defaults(), sys.argv, sys.argv[:1]
    torch.set_default_dtype(torch.float32)
    try:
        with torch.enable_grad():
            yield
    finally:
        sys.argv = words
        for name, value in defaults().items():
            if value != before[name]:
                DEFAULTS[name][1](before[name])


def keywords(specification: Specification) -> dict[str, typing.Any]:
    """The keyword arguments of a specification."""
    others = (item for item in specification.items() if item != CONTIGUOUS)
    return {key: value for key, value in others if key != "network"}


def build(specification: Specification, channels: int, outputs: int, seed: int) -> nn.Module:
    """A new network of a specification, its initial weights drawn on the CPU from `seed`.

    Raises InputError if it cannot be imported or built with these arguments.
    """
    place, given = specification["network"], keywords(specification)
    make, contiguous = constructor(place), CONTIGUOUS in specification.items()
    built = lambda: make(channels, outputs, **given)
    try:
        if place in NETWORKS.values() and not contiguous:
            return initialised(built, seed)
        return untrained(built, seed, contiguous)
    except (Exception, SystemExit) as error:
        sentence = f"the network {place} cannot be built with {given}: {reason(error)}"
        if isinstance(error, TypeError):
            name = place.partition(":")[2]
            arguments = [channels, outputs, *(f"{key}={value!r}" for key, value in given.items())]
            sentence += (
                f"; it takes {inspect.signature(make)} and is called with the numbers of input "
                f"channels and of outputs, {name}({', '.join(map(str, arguments))}); if it takes "
                "others, name a function that returns it, such as "
                f"`def net(channels, outputs): return {name}(outputs)`"
            )
        raise InputError(sentence) from error


def untrained(make: Callable[[], nn.Module], seed: int, contiguous: bool = False) -> nn.Module:
    """The network that other people's code builds, its weights drawn on the CPU from `seed`.

    It maps a copy of its inputs, which many networks change in place; contiguous: in torch's usual
    memory format, whatever its inputs and weights have. Raises InputError for what is no module.
    """
    with usual_defaults():
        network = initialised(make, seed)
    if not isinstance(network, nn.Module):
        raise InputError(f"what is built is a {type(network).__name__}, not a torch module")
    # Of scripted modules too, whose own method refuses.
    nn.Module.register_forward_pre_hook(network, functools.partial(_copied, contiguous))
    return network


def _copied(
    contiguous: bool, network: nn.Module, inputs: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, ...]:
    if not contiguous:
        return tuple(x.clone() for x in inputs)
    for value in (*network.parameters(), *network.buffers()):
        if list(value.stride()) != sorted(value.stride(), reverse=True):
            value.data = value.data.clone(memory_format=torch.contiguous_format)
    return tuple(x.clone(memory_format=torch.contiguous_format) for x in inputs)


def symmetry(specification: Specification) -> Symmetry:
    """The symmetry that a network states, or a measured one where it states none that is known.

    Those of the table state the square's; that of the channels holds for all of them.
    """
    make, known = constructor(specification["network"]), Symmetry("measured")
    with contextlib.suppress(Exception, SystemExit):  # of a symmetry of another meaning
        stated = getattr(make, "symmetry", "measured")
        known = Symmetry.named(stated(**keywords(specification)) if callable(stated) else stated)
    of_the_table = specification["network"] in NETWORKS.values()
    return Symmetry(known.square, known.channels or of_the_table)


def symmetry_of_inputs(specification: Specification, shape: Shape) -> Symmetry:
    """The part of a network's `symmetry` that inputs (C, H, W) can have."""
    stated = symmetry(specification)
    square = stated.square if shape[1] == shape[2] else "none"
    of_the_table = specification["network"] in NETWORKS.values()
    if of_the_table and square == "square" and shape[1] % specification.get("side", SIDE):
        square = "measured"  # strides and poolings may leave out the last rows of such inputs
    return Symmetry(square, stated.channels and shape[0] > 1)


def files(place: str) -> list[Path]:
    """The package's files that decide the network at a place.

    A person's own network, or one of another library, may build on any of the table's.
    """
    module = place.partition(":")[0]
    if module.partition(".")[0] in LIBRARIES:
        module = "pipeline.networks.libraries"
    if module.startswith("pipeline."):
        return [Path(importlib.util.find_spec(module).origin)]
    return sorted(Path(__file__).parent.glob("*.py"))


_distributions = functools.cache(metadata.packages_distributions)


def version(place: str, own: Iterable[str] = ()) -> str:
    """The versions of installed packages that decide a network outside the table.

    own: the files of a person's own network; a package counts if a word in them names its module.
    """
    if place in NETWORKS.values():
        return ""
    package, packages = place.partition(":")[0].partition(".")[0], set(LIBRARIES)
    if package not in LIBRARIES:
        words = {package}
        for file in own:
            if file.endswith(".py"):
                with tokenize.open(file) as source:  # in the encoding that its first lines state
                    words.update(re.findall(r"\w+", source.read()))
        packages.update(*(_distributions().get(word, ()) for word in words))
    versions = []
    for name in sorted(packages):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions.append(f"{name} {metadata.version(name)}")
    return ", ".join(versions)
