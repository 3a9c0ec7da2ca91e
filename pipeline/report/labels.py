"""What figures and tables call an architecture, and which architectures are the papers' own networks."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pipeline.networks import NETWORKS
from pipeline.project.shapes import SIDE, as_text

Value = TypeVar("Value")

LABELS = {
    NETWORKS["logreg"]: "LogReg",
    NETWORKS["mlp"]: "MLP",
    NETWORKS["lenet"]: "LeNet",
    NETWORKS["vgg11"]: "VGG-11",
    NETWORKS["resnet18"]: "ResNet-18",
    NETWORKS["densenet121"]: "DenseNet-121",
}
"""The names of the project's own networks, by their place."""


LONGEST = 80
"""Letters of a name in figures."""


def label(specification: Mapping[str, Any]) -> str:
    """How a figure names the architecture: for example 'MLP (100, 20)' or 'ResNet-18, width ×0.125'.

    specification: a network's place, `package.module:name`, with its arguments, and its `input` where that is not 32×32. A network that is not the project's own is
    called by its name and all its arguments.
    """
    arguments = dict(specification)
    network, pixels = arguments.pop("network"), arguments.pop("input", None)
    if network not in LABELS:
        parts = [f"{key} {value}" for key, value in arguments.items()] + ([as_text(pixels)] if pixels else [])
        described = ", ".join(parts)
        name = network.rpartition(":")[2]
        # A legend leaves out what begins with an underscore.
        name = (network if name.startswith("_") else name) + (f" ({described})" if described else "")
        return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    name = LABELS[network]
    if "hidden" in arguments:
        name += f" ({', '.join(map(str, arguments['hidden']))})"
    if arguments.get("width", 1) != 1:
        name += f", width ×{arguments['width']:g}"
    if arguments.get("downsampling") == "none":
        name += ", no pooling"
    if network == NETWORKS["lenet"] and arguments.get("downsampling") == "stride":
        name += ", stride for pooling"
    if not arguments.get("skip", True):
        name += ", no skip connections"
    if arguments.get("growth", 32) != 32:
        name += f", growth {arguments['growth']}"
    side = arguments.get("side", SIDE)
    if pixels or side != SIDE:
        name += f", {as_text(pixels or (side, side))}"
    return name


WIDTHS = ("width", "growth")
"""Arguments that make a network narrower or wider and change nothing else of it."""


def of_the_papers(
    specifications: Mapping[str, Mapping[str, Any]], published: Mapping[str, Value], **arguments: Any
) -> dict[str, Value]:
    """What is published of each architecture that is one of the papers' networks as they have it.

    specifications: by architecture; published: by name in `pipeline.networks.NETWORKS`; arguments: what the network that
    `published` belongs to is given, which is nothing for most.
    """
    return {
        name: value
        for name, specification in specifications.items()
        for network, value in published.items()
        if dict(specification) == {"network": NETWORKS[network], **arguments}
    }


def of_full_width(specifications: Mapping[str, Mapping[str, Any]], published: Mapping[str, Value]) -> dict[str, Value]:
    """What is published of the papers' network that an architecture differs from in its width (or growth) and nothing else."""
    varied = {name: some for name, some in specifications.items() if any(key in some for key in WIDTHS)}
    bare = {name: {key: some[key] for key in some if key not in WIDTHS} for name, some in varied.items()}
    return of_the_papers(bare, published)
