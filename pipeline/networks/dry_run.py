"""A trial run of a network before any work: built, run on two samples, drawn under two seeds."""

import inspect
import math
from collections.abc import Callable

import torch
from torch import nn

from pipeline import networks
from pipeline.cells import training
from pipeline.cells.shapes import Shape
from pipeline.networks import Specification, reason
from pipeline.project.errors import InputError, at

LAG = 0.05
"""The part of their first values up to which batch norms' running statistics may be at the end."""


def dry_run(
    specification: Specification, shape: Shape, outputs: int, steps: float = math.inf
) -> tuple[int, list[str]]:
    """The bytes of a network's weights, and a sentence for each oddity that may be intended, after
    a trial run on two inputs (C, H, W).

    steps: of the shortest training that follows. Raises InputError, with one sentence, unless the
    network maps them to finite values (2, outputs), not to probabilities, and, where it is not of
    the table, unless it has gradients and each of torch's seeds draws its weights anew.
    """
    place, given = specification["network"], networks.keywords(specification)
    make = networks.constructor(place)
    if not callable(make) or isinstance(make, nn.Module):
        raise InputError(
            f"{place} is a {type(make).__name__}; name a class or a function that returns a network"
        )
    arguments = [shape[0], outputs, *(f"{key}={value!r}" for key, value in given.items())]
    call = f"{place.partition(':')[2]}({', '.join(map(str, arguments))})"
    of_the_table = place in networks.NETWORKS.values()
    x = torch.randn(2, *shape, generator=torch.Generator().manual_seed(0))
    try:
        network = networks.build(specification, shape[0], outputs, 0)
        with torch.random.fork_rng(devices=[]):
            network(x)  # for which layers may wait that are to be refused below
            network.to(memory_format=torch.channels_last).train()
            output = network(training.channels_last(x, "cpu"))
        if not isinstance(output, torch.Tensor):
            raise ValueError(f"it returns a {type(output).__name__}, not one tensor")
        if output.shape != (2, outputs):
            raise ValueError(f"it returns {tuple(output.shape)}, not (2, {outputs})")
        if not of_the_table:  # whose gradients tests check: the largest take a second
            output.sum().backward()
    except Exception as error:
        sentence = f"{place} cannot be run on inputs {(2, *shape)}: {reason(error)}"
        remedy = "`input: [C, H, W]` in nads, or --input, gives inputs of another size"
        if isinstance(error, InputError):  # of `networks.build`
            sentence, returned = error, f"{place.partition(':')[2]}(outputs)"
            remedy = "if it takes others, name a function that returns it, such as "
            remedy += f"`def net(channels, outputs): return {returned}`"
        raise InputError(
            f"{sentence}; it takes {inspect.signature(make)} and is called with the numbers of "
            f"input channels and of outputs, {call}; {remedy}"
        ) from error
    if not output.isfinite().all():
        raise InputError(f"{place} cannot be used: its outputs at noise are not finite")
    if (output >= 0).all() and torch.allclose(output.sum(1), torch.ones(2)):
        raise InputError(
            f"{place} cannot be used: its outputs sum to one, as after a softmax; leave that out, "
            "since training and NADs want the values before it"
        )
    notices = []
    if not of_the_table:
        with at(f"{place} cannot be used: "):
            fixed = check_untrained(lambda: make(shape[0], outputs, **given))
        if fixed:
            notices.append(f"{place} starts from the same {', '.join(fixed)} whatever the seed")
        norms = [
            each for each in network.modules() if isinstance(each, nn.modules.batchnorm._BatchNorm)
        ]
        tracked = [each.momentum for each in norms if each.track_running_stats]
        slow = min((momentum for momentum in tracked if momentum is not None), default=1)
        if (lag := (1 - slow) ** steps) > LAG:
            notices.append(
                f"of the running statistics of {place}'s batch norms (momentum {slow:g}) {lag:.0%} "
                f"are still their first values after {steps:,} steps of training, so it may seem "
                "to guess on new samples; a larger momentum or more epochs help"
            )
    return sum(value.nbytes for value in network.state_dict().values()), notices


def check_untrained(make: Callable[[], nn.Module]) -> list[str]:
    """The names of parameters that stay the same under two seeds, without constant ones.

    make: builds the network. Raises InputError where all parameters stay the same (a seed set in
    the constructor, a checkpoint, one model returned twice), since C would be the covariance of a
    single network; and where one seed gives two networks (weights drawn by NumPy).
    """
    first, same, other = (_parameters(make, seed) for seed in (0, 0, 1))
    if any(not torch.equal(value, same[name]) for name, value in first.items()):
        raise InputError(
            "its initial weights differ though torch's seed is the same; draw them with torch, not "
            "with NumPy or Python's random"
        )
    drawn = [name for name, value in first.items() if value.min() < value.max()]
    fixed = [name for name in drawn if torch.equal(first[name], other[name])]
    if fixed == drawn:
        raise InputError(
            "its weights are the same under two of torch's seeds, so it is not untrained; build a "
            "new network in each call, without a checkpoint and without torch.manual_seed"
        )
    return fixed


def _parameters(make: Callable[[], nn.Module], seed: int) -> dict[str, torch.Tensor]:
    parameters = dict(training.initialised(make, seed).named_parameters())
    for name, value in parameters.items():
        if nn.parameter.is_lazy(value):
            raise InputError(
                f"{name} is of a lazy layer, which has no weights before it has seen an input; "
                "give the layer's size, as in nn.Linear(1568, outputs)"
            )
    return {name: value.detach().clone() for name, value in parameters.items()}
