"""The table of networks, with the framework's default initialisation.

An architecture in params.yaml is a name for an entry of `NETWORKS` with its keyword arguments, for example
`resnet18_narrow: {network: resnet18, width: 0.125}`, or for a network of one's own. A network maps (N, C, H, W) to
(N, outputs) and, if it is one of the table, ends in a linear layer, the *read-out*. Inputs are 32×32 unless `side` says
otherwise; networks that end in a mean over the whole map take any multiple of 8.
"""

import importlib
import inspect

import torch

from pipeline.project.errors import InputError

NETWORKS = {
    "logreg": "pipeline.networks.mlp:LogReg",
    "mlp": "pipeline.networks.mlp:MLP",
    "lenet": "pipeline.networks.lenet:LeNet",
    "vgg11": "pipeline.networks.vgg:VGG11",
    "resnet18": "pipeline.networks.resnet:ResNet18",
    "densenet121": "pipeline.networks.densenet:DenseNet121",
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
