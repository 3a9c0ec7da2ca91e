"""The labels of architectures in figures and tables, and the names of the papers'
networks."""

from collections.abc import Mapping
from typing import Any

from pipeline.networks import NETWORKS
from pipeline.networks.libraries import LIBRARIES
from pipeline.networks.registry import LABELS
from pipeline.training.shapes import INPUT, SIDE, as_text

COUNTED_WIDTH = {NETWORKS[name] for name in ("vit", "mixer", "convmixer")}
"""Networks whose `width` is a number of channels, not a multiple of the paper's."""

WORDED = ("side", "downsampling", "hidden", "width", "skip", "growth")
"""Arguments that labels describe in words; others are shown as they are."""


def label(specification: Mapping[str, Any], shape: tuple[int, ...] = INPUT) -> str:
    """The label of an architecture, such as 'ResNet-18, width ×0.125'.

    Args:
        specification: `network` and its arguments. The label of a custom network has
            all arguments.
        shape: (C, H, W) of one input, which the label has if it is not the papers'.
    """
    if specification["network"] not in LABELS:
        return _label_custom(specification, shape)
    name = LABELS[specification["network"]] + _describe_arguments(specification)
    side = specification.get("side", SIDE)
    if shape != INPUT:
        name += f", {as_text(shape)}"
    elif side != SIDE:
        name += f", {as_text((side, side))}"
    return name


def _label_custom(specification: Mapping[str, Any], shape: tuple[int, ...]) -> str:
    module, _, name = specification["network"].rpartition(":")
    package = module.partition(".")[0]
    if package in LIBRARIES:
        name = f"{package}'s {name}"
    parts = [
        f"{key} {value}" for key, value in specification.items() if key != "network"
    ]
    if shape != INPUT:
        parts.append(as_text(shape))
    return f"{name} ({', '.join(parts)})" if parts else name


def _describe_arguments(specification: Mapping[str, Any]) -> str:
    """The arguments of one of our networks that differ from the papers'."""
    arguments = dict(specification)
    network = arguments.pop("network")
    text = ""
    downsampling = arguments.get("downsampling")
    if downsampling == "none":
        text += " without pooling"
    if downsampling == "stride" and network == NETWORKS["lenet"]:
        text += " with strides"
    if "hidden" in arguments:
        text += f" ({', '.join(map(str, arguments['hidden']))})"
    counted = network in COUNTED_WIDTH
    if not counted and arguments.get("width", 1) != 1:
        text += f", width ×{arguments['width']:g}"
    if not arguments.get("skip", True):
        text += ", no skip connections"
    if arguments.get("growth", 32) != 32:
        text += f", growth {arguments['growth']}"
    for key, value in arguments.items():
        if key not in WORDED or (counted and key == "width"):
            text += f", {key} {value}"
    return text


def papers_network(specification: Mapping[str, Any]) -> str | None:
    """The name in `NETWORKS` of an architecture without arguments; None for others."""
    if len(specification) > 1:
        return None
    for name, import_path in NETWORKS.items():
        if import_path == specification["network"]:
            return name
    return None


def full_width(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The specification of the same network at full width."""
    wide = dict(specification)
    wide.pop("width", None)
    wide.pop("growth", None)
    return wide
