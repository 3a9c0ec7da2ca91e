"""The labels of architectures in figures and tables, and the names of the papers'
networks."""

from collections.abc import Mapping
from typing import Any

from pipeline.networks import NETWORKS
from pipeline.networks.libraries import LIBRARIES
from pipeline.networks.registry import LABELS
from pipeline.training.shapes import INPUT, SIDE, as_text

# Networks whose `width` is a number of channels, not a multiple of the paper's.
TODAY = {NETWORKS[name] for name in ("vit", "mixer", "convmixer", "convnext")}


def label(specification: Mapping[str, Any], shape: tuple[int, ...] = INPUT) -> str:
    """The label of an architecture: 'ResNet-18, width ×0.125', or another's with all
    arguments.

    specification: `network` and its arguments; shape: of its inputs, which the label
    has where they are not the papers'.
    """
    arguments = dict(specification)
    network = arguments.pop("network")
    if network not in LABELS:
        parts = [f"{key} {value}" for key, value in arguments.items()]
        parts += [as_text(shape)] if shape != INPUT else []
        module, _, name = network.rpartition(":")
        package = module.partition(".")[0]
        name = f"{package}'s {name}" if package in LIBRARIES else name
        return name + (f" ({', '.join(parts)})" if parts else "")
    name = LABELS[network]
    if "hidden" in arguments:
        name += f" ({', '.join(map(str, arguments['hidden']))})"
    if network in TODAY:
        name += "".join(
            f", {key} {value}" for key, value in arguments.items() if key != "side"
        )
    elif arguments.get("width", 1) != 1:
        name += f", width ×{arguments['width']:g}"
    if arguments.get("downsampling") == "none":
        name += ", no pooling"
    if network == NETWORKS["lenet"] and arguments.get("downsampling") == "stride":
        name += ", stride for pooling"
    if not arguments.get("skip", True):
        name += ", no skip connections"
    if arguments.get("growth", 32) != 32:
        name += f", growth {arguments['growth']}"
    if shape != INPUT:
        name += f", {as_text(shape)}"
    elif (side := arguments.get("side", SIDE)) != SIDE:
        name += f", {as_text((side, side))}"
    return name


def papers_network(specification: Mapping[str, Any]) -> str | None:
    """The name in `NETWORKS` of an architecture without arguments, or None."""
    places = {place: name for name, place in NETWORKS.items()}
    return places.get(specification["network"]) if len(specification) == 1 else None


def without_width(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The specification of the same network at full width."""
    return {
        key: value
        for key, value in specification.items()
        if key not in ("width", "growth")
    }
