"""A trial run of a network before any work starts."""

import functools
import math

from torch import nn

from pipeline.networks import checks, passes, registry
from pipeline.networks.registry import CONTIGUOUS, Specification
from pipeline.project.errors import prefix_errors
from pipeline.training.loop import BATCH
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
    import_path = specification["network"]
    notices = []
    if registry.is_custom(import_path):
        notices += _try_custom(specification, shape, outputs)
        network = registry.build(specification, shape[0], outputs, 0)
        notices += _find_slow_norms(import_path, network, steps)
    else:  # tests check its other properties; the largest networks take seconds
        network = registry.build(specification, shape[0], outputs, 0)
        with prefix_errors(f"{import_path}: "):
            passes.run(network.train(), passes.noise(2, shape), (outputs,))
    channels, height, width = shape
    if width <= 4 < min(channels, height):
        notices.append(
            f"inputs of {as_text(shape)} are {channels} channels of {height}×{width} "
            "pixels; a shape is channels × height × width"
        )
    return notices


def _try_custom(specification: Specification, shape: Shape, outputs: int) -> list[str]:
    """Check a custom network, and add its memory format to the specification."""
    import_path = specification["network"]
    contiguous = specification | CONTIGUOUS
    build = functools.partial(registry.build, specification, shape[0], outputs)
    build_contiguous = functools.partial(registry.build, contiguous, shape[0], outputs)
    notices = []
    if specification == contiguous or passes.needs_contiguous(
        import_path, build, build_contiguous, shape
    ):
        specification.update(CONTIGUOUS)
        notices.append(
            f"{import_path} runs in PyTorch's default memory format, not in channels "
            "last"
        )
    return notices + checks.check(import_path, build, shape, (outputs,), BATCH)


def _find_slow_norms(import_path: str, network: nn.Module, steps: float) -> list[str]:
    """Return a sentence on batch norms that are too slow for a short training."""
    if math.isinf(steps):  # nothing is trained
        return []
    # Without a momentum, the statistics are the mean of all steps.
    momenta = [
        1 if norm.momentum is None else norm.momentum
        for norm in passes.batch_norms(network)
    ]
    lag = (1 - min(momenta, default=1)) ** steps
    if lag <= LAG:
        return []
    return [
        f"of the running statistics of {import_path}'s batch norms, {lag:.0%} are "
        f"still their initial values after {steps:,} training steps, so test accuracy "
        "may be at chance; a larger momentum or more epochs help"
    ]
