"""The table of networks, with the framework's default initialisation.

An architecture in params.yaml is a name for an entry of `NETWORKS` with its keyword arguments, for example
`resnet18_narrow: {network: resnet18, width: 0.125}`, or for a network of one's own. A network maps (N, C, H, W) to
(N, outputs) and, if it is one of the table, ends in a linear layer, the *read-out*. Inputs are 32×32 unless `side` says
otherwise; networks that end in a mean over the whole map take any multiple of 8.

Once read, an architecture is a *specification*: {"network": "package.module:name", and its keyword arguments}. So what is made
of it depends on that place alone, not on what else stands in the table.
"""

import difflib
import importlib
import inspect
import re
import typing
from collections.abc import Callable

import torch
from torch import nn

from pipeline.networks.libraries import LIBRARIES, of_timm
from pipeline.project.errors import InputError, nearest

NETWORKS = {
    "logreg": "pipeline.networks.mlp:LogReg",
    "mlp": "pipeline.networks.mlp:MLP",
    "lenet": "pipeline.networks.lenet:LeNet",
    "vgg11": "pipeline.networks.vgg:VGG11",
    "resnet18": "pipeline.networks.resnet:ResNet18",
    "densenet121": "pipeline.networks.densenet:DenseNet121",
}
"""Where each network is. Its class states the `symmetry` of the square under which the law of its weights and its geometry are
unchanged, as a word or, where it depends on its arguments, as a function of them; and how several of it are trained `together`
on a GPU: in a 'stack', or each in a recorded 'graph' of its own, which batch norm needs (`pipeline.training.ensembles`)."""

PLACE = re.compile(r"[^:/\\]*(?<!\.py):.*", re.DOTALL)
"""What the place of a network looks like: a colon after a module, which is named without folders and ending."""

Specification = dict[str, typing.Any]
Shape = tuple[int, int, int]


def specification(architecture: dict[str, typing.Any]) -> Specification:
    """An architecture of params.yaml with the place of its network instead of a name of the table.

    Raises InputError if the name is neither in the table nor of the form `package.module:name`.
    """
    name = architecture.get("network")
    if not isinstance(name, str) or name not in NETWORKS and not PLACE.fullmatch(name):
        raise InputError(
            f"the network {name!r} is unknown; {_meant(str(name))} One of your own is named package.module:name, a library's "
            "torchvision.models:name or timm:name"
        )
    return architecture | {"network": NETWORKS.get(name, name)}


def _meant(name: str) -> str:
    """What to write instead of a name that is none: the table's nearest, or a place with its colon where it belongs."""
    module, _, attribute = name.partition(":")
    if module.endswith(".py") and attribute:
        folder, _, file = module.removesuffix(".py").rpartition("/")
        path = f", with {folder} in the environment variable PYTHONPATH" if folder else ""
        return f"write '{file}:{attribute}'{path}"
    if ":" not in name and "." in name.strip(".") and "/" not in name:
        module, _, attribute = name.rpartition(".")
        return f"write '{module}:{attribute}'"
    return nearest(name, NETWORKS)


def constructor(place: str) -> Callable[..., nn.Module]:
    """What builds a network: the callable at `package.module:name`.

    It is called with the numbers of input channels and of outputs, then the specification's keyword arguments, and returns a
    torch module; those of `LIBRARIES` are adapted to that, and `timm:name` is what timm lists under that name. A network of
    one's own may state a `symmetry` as the built-in ones do. Raises InputError if it cannot be imported.
    """
    module, _, attribute = place.partition(":")
    if module == "timm":
        return of_timm(attribute)
    try:
        imported = importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"the network {place!r} cannot be imported ({error}); its module must lie in the repository's root, or in a folder "
            "that the environment variable PYTHONPATH names"
        ) from None
    package = module.partition(".")[0]
    if not hasattr(imported, attribute):
        where = "torchvision.models" if module == "torchvision" else module
        known = dir(importlib.import_module(where))
        near = difflib.get_close_matches(attribute, known, n=1)
        meant = f"; did you mean '{where}:{near[0]}'?" if near else ""
        raise InputError(f"the network {place!r} cannot be imported: {module} has no {attribute!r}{meant}")
    found = getattr(imported, attribute)
    return LIBRARIES[package](found) if package in LIBRARIES else found


def keywords(specification: Specification) -> dict[str, typing.Any]:
    """The keyword arguments of a specification."""
    return {key: value for key, value in specification.items() if key != "network"}


def build(specification: Specification, channels: int, outputs: int, seed: int) -> nn.Module:
    """A new network of the specification, its initial weights determined by `seed` (made on the CPU).

    Raises InputError if it cannot be imported or built with these arguments.
    """
    make, given = constructor(specification["network"]), keywords(specification)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return make(channels, outputs, **given)
        except Exception as error:
            raise InputError(f"the network {specification['network']} cannot be built with {given}: {error}") from error


def symmetry(specification: Specification) -> str:
    """The symmetry of the square that a specification's network states, or 'measured' where it states none."""
    stated = getattr(constructor(specification["network"]), "symmetry", "measured")
    return stated(**keywords(specification)) if callable(stated) else stated


def together(specification: Specification) -> str:
    """How several networks of a specification are trained together on a GPU: as its class states, else 'alone'."""
    return getattr(constructor(specification["network"]), "together", "alone")


def check_arguments(specification: Specification) -> None:
    """Raise InputError if a specification's network takes no such argument."""
    parameters = inspect.signature(constructor(specification["network"])).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters][2:]
    for argument in keywords(specification):
        if argument not in known:
            raise InputError(
                f"the network {specification['network']} takes no argument {argument!r}; "
                + (nearest(argument, known) if known else "it takes none")
            )
