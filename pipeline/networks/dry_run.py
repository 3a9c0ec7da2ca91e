"""A trial run of a network before any work starts."""

import functools
import math

from torch import nn

from pipeline.networks import custom, registry
from pipeline.networks.registry import CONTIGUOUS, Specification
from pipeline.project.errors import prefix_errors
from pipeline.training.shapes import Shape, as_text

LAG = 0.05
"""Largest accepted weight of the initial values in batch norms' running statistics at
the end."""


def dry_run(
    specification: Specification, shape: Shape, outputs: int, steps: float = math.inf
) -> list[str]:
    """Try a network on inputs of a shape.

    Args:
        specification: The network. It gets the item `CONTIGUOUS` if the network needs
            it.
        shape: (C, H, W) of one input.
        outputs: Number of outputs.
        steps: Number of steps of the shortest training that follows.

    Returns:
        A sentence for each property that may be intended.

    Raises:
        InputError: If the network cannot be built, does not run, or fails a check.
    """
    place = specification["network"]
    notices = []
    if registry.is_custom(place):
        notices += _try_custom(specification, shape, outputs)
    network = registry.build(specification, shape[0], outputs, 0)
    if registry.is_custom(place):
        notices += _find_slow_norms(place, network, steps)
    else:  # tests check its other properties; the largest networks take seconds
        with prefix_errors(f"{place}: "):
            custom.run(network.train(), custom.noise(2, shape), (outputs,))
    channels, height, width = shape
    if width <= 4 < min(channels, height):
        notices.append(
            f"inputs of {as_text(shape)} are {channels} channels of {height}×{width} pixels; a "
            "shape is channels × height × width"
        )
    return notices


def _try_custom(specification: Specification, shape: Shape, outputs: int) -> list[str]:
    """Check a custom network, add its memory format to the specification, and return
    notices."""
    place = specification["network"]
    usual = specification | CONTIGUOUS
    build = functools.partial(registry.build, specification, shape[0], outputs)
    build_usual = functools.partial(registry.build, usual, shape[0], outputs)
    notices = []
    if specification == usual or custom.needs_contiguous(
        place, build, build_usual, shape
    ):
        specification.update(CONTIGUOUS)
        notices.append(
            f"{place} runs in PyTorch's default memory format, not in channels last"
        )
    return notices + custom.check(place, build, shape, (outputs,))


def _find_slow_norms(place: str, network: nn.Module, steps: float) -> list[str]:
    """Return a sentence on batch norms whose running statistics a short training leaves
    behind."""
    norms = custom.batch_norms(network).values()
    slow = min(
        [norm.momentum for norm in norms if norm.momentum is not None], default=1
    )
    lag = (1 - slow) ** steps
    if lag <= LAG:
        return []
    return [
        f"of the running statistics of {place}'s batch norms (momentum {slow:g}) {lag:.0%} are "
        f"still their initial values after {steps:,} training steps, so test accuracy may be at "
        "chance; a larger momentum or more epochs help"
    ]
