"""A trial run of a network before any work: built under two seeds, run as it will be, and compared
in what must differ and in what must not."""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable

import torch
from torch import nn

from pipeline import networks
from pipeline.cells.shapes import Shape, as_text
from pipeline.cells.training import channels_last
from pipeline.networks import CONTIGUOUS, Specification, reason
from pipeline.project.errors import InputError, at

LAG = 0.05
"""The part of their first values up to which batch norms' running statistics may be at the end."""

JUMP = 0.2
"""The relative change of outputs in eval mode by a pass in train mode up to which it is no jump: by
the first step of an older spectral norm's power method it is more in 99 of 100 networks."""

LENGTH = (
    "have one length for all images, as after a normalisation, a log-softmax of one, or a last "
    "convolution that starts at zero"
)


def dry_run(
    specification: Specification, shape: Shape, outputs: int, steps: float = math.inf
) -> tuple[int, list[str]]:
    """The bytes of a network's weights, and a sentence for each oddity that may be intended, after
    a trial run on inputs (C, H, W).

    steps: of the shortest training that follows. The specification gets the item `CONTIGUOUS` if
    the network needs it. Raises InputError, with one sentence, for a network that cannot be built,
    and where `check_untrained` does.
    """
    place = specification["network"]
    make = networks.constructor(place)
    if not callable(make) or isinstance(make, nn.Module):
        raise InputError(
            f"{place} is a {type(make).__name__}; name a class or a function that returns a network"
        )
    build = lambda seed, contiguous=False: networks.build(
        specification | dict([CONTIGUOUS] if contiguous else []), shape[0], outputs, seed
    )
    of_the_table, notices = place in networks.NETWORKS.values(), []
    if of_the_table:  # whose other properties tests check: the largest take seconds
        network = build(0).to(memory_format=torch.channels_last).train()
        with at(f"{place} cannot be "), torch.no_grad():
            _run(network, _noise(2, shape), 0, (outputs,))
    else:
        contiguous = CONTIGUOUS in specification.items()
        network, notices, contiguous = check_untrained(place, build, shape, (outputs,), contiguous)
        specification.update([CONTIGUOUS] if contiguous else [])
    tracked = [norm.momentum for norm in _norms(network) if norm.track_running_stats]
    slow = min((momentum for momentum in tracked if momentum is not None), default=1)
    if not of_the_table and (lag := (1 - slow) ** steps) > LAG:
        notices.append(
            f"of the running statistics of {place}'s batch norms (momentum {slow:g}) {lag:.0%} are "
            f"still their first values after {steps:,} steps of training, so it may seem to guess "
            "on new samples; a larger momentum or more epochs help"
        )
    state = network.state_dict().values()
    return sum(value.nbytes for value in state if isinstance(value, torch.Tensor)), notices


def check_untrained(
    name: str,
    build: Callable[..., nn.Module],
    shape: Shape,
    wanted: tuple[int, ...] | None = None,
    contiguous: bool = False,
) -> tuple[nn.Module, list[str], bool]:
    """An untrained network, a sentence for each oddity that may be intended, and whether such
    networks are to be `contiguous`, since they run in that memory format alone.

    build: (seed, contiguous) → network; shape: (C, H, W); wanted: shape of one input's outputs, or
    None for any. Raises InputError, beginning with `name`, where networks do not run, are decided
    by something else than torch's seed, or are one and the same under two seeds (a checkpoint, a
    seed set in the constructor), of which C would be the covariance of a single one.
    """
    made = [build(seed, contiguous) for seed in (0, 0, 1)]
    try:
        with at(f"{name} cannot be "):
            odd = _oddities(made, shape, wanted)
    except InputError:
        if not contiguous:
            with contextlib.suppress(InputError):
                return check_untrained(name, build, shape, wanted, True)
        raise
    if contiguous:
        odd.append("runs in torch's usual memory format alone, not in channels last")
    return made[-1], [f"{name} {each}" for each in odd], contiguous


def _oddities(made: list[nn.Module], shape: Shape, wanted: tuple[int, ...] | None) -> list[str]:
    """What is odd about networks of the seeds 0, 0 and 1, of which the first is run in all ways."""
    for key, value in [*made[0].named_parameters(), *made[0].named_buffers()]:
        if nn.parameter.is_lazy(value):
            raise InputError(
                f"used: {key} is of a lazy layer, which has no weights before it has seen an "
                "input; give the layer's size, as in nn.Linear(1568, outputs)"
            )
    one, two, three = map(_state, made)
    if new := (one.keys() ^ two.keys()) | (one.keys() ^ three.keys()):
        raise InputError(f"used: each network has other names for its weights: {_some(new)}")
    first, same, other = (network.to(memory_format=torch.channels_last).eval() for network in made)
    parameters, keys = dict(first.named_parameters()), set(first.state_dict())
    x, norms = _noise(2, shape), _norms(first)
    with torch.no_grad():
        before = _run(first, x, 0, wanted)
        if all(norm.track_running_stats for norm in norms):  # others may need two images
            _run(first, x[:1], 1, before.shape[1:])
            _run(same, x[1:], 2, before.shape[1:])
        again, of_same, of_other = (_run(network, x, 3, wanted) for network in (first, same, other))
    for norm in norms:
        norm.momentum = 0.0  # so that passes in train mode leave its statistics as they are
    evaluated = [again]
    for _ in range(2):
        _run(first.train(), x, 3, wanted)
        evaluated.append(_run(first.eval(), x, 3, wanted))
    by_first, by_second = (_distance(*pair) for pair in itertools.pairwise(evaluated))
    late = {key for key, value in first.named_parameters() if parameters.get(key) is not value}
    late |= first.state_dict().keys() - keys
    if late:
        raise InputError(
            f"used: {_some(late)} came into being in the first forward pass, too late to be "
            "trained; make all parameters and buffers in the constructor"
        )
    if not again.isfinite().all():
        raise InputError("used: its outputs at noise are not finite")
    defined = by_second >= by_first / 2  # running means, of other norms too, change step by step
    # Dropout that is on in eval mode too makes outputs differ, but repeats itself.
    repeated = _alike(before, again) or _alike(again, of_same)
    if by_first > JUMP and not defined or not repeated:
        raise InputError(
            "used: its outputs in eval mode are decided by the passes before, so untrained it is "
            "not defined; let no pass in eval mode change a weight or buffer, and in place of "
            "torch.nn.utils.spectral_norm take torch.nn.utils.parametrizations.spectral_norm"
        )
    if _differing(one, two) or not _alike(again, of_same):
        raise InputError(
            "used: its initial weights differ though torch's seed is the same; draw them with "
            "torch and in the constructor, not with NumPy, Python's random or by its first images"
        )
    drawn = _differing(one, three)
    if not drawn and _alike(again, of_other):
        raise InputError(
            "used: its weights are the same under two of torch's seeds, so it is not untrained; "
            "build a new network in each call, without a checkpoint and without torch.manual_seed"
        )
    odd = []
    fixed = {key for key in parameters.keys() - drawn if (one[key] != one[key].flatten()[:1]).any()}
    for key in drawn - parameters.keys():
        # A parameter may only turn what a buffer beside it draws (`parametrizations.orthogonal`).
        fixed = {each for each in fixed if not key.startswith(f"{each.rpartition('.')[0]}.")}
    if fixed:
        odd.append(f"starts from the same {_some(fixed)} whatever the seed")
    if again.dim() == 2 and (end := _end(again)):
        with torch.no_grad():  # more images, since a small network's ReLUs may all be off at two
            end = _end(_run(first, 100 * _noise(8, shape), 3))
        zero = any(isinstance(m, nn.Linear) and not m.weight.any() for m in first.modules())
        if zero and end == LENGTH:
            odd.append("has a last layer that starts at zero; its NADs are the features' then")
        elif end:
            raise InputError(
                f"used: its outputs {end}; leave that out, since training and NADs want the values "
                "before it"
            )
    return odd


def _end(output: torch.Tensor) -> str:
    """How outputs (N, outputs) end that are no logits; otherwise nothing."""
    if (output >= 0).all() and _alike(output.sum(1), torch.ones(1)):
        return "sum to one, as after a softmax"
    if output.shape[1] > 1 and _alike(output.exp().sum(1), torch.ones(1)):
        return "are logarithms of what sums to one, as after a log-softmax"
    length = output.norm(dim=1)
    return LENGTH if _alike(length, length[:1], 1e-6) else ""


def _run(
    network: nn.Module, x: torch.Tensor, seed: int, wanted: tuple[int, ...] | None = None
) -> torch.Tensor:
    """The outputs of a network in its mode at inputs x (N, C, H, W), and backward where gradients
    are on: to the weights in train mode, to the inputs in eval mode; seed: of dropout."""
    x = x.clone().requires_grad_(torch.is_grad_enabled() and not network.training)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            output = network(x)
        if not isinstance(output, torch.Tensor):
            raise ValueError(f"it returns a {type(output).__name__}, not one tensor")
        if wanted is not None and output.shape != (len(x), *wanted):
            raise ValueError(f"it returns {tuple(output.shape)}, not {(len(x), *wanted)}")
        if x.requires_grad:
            torch.autograd.grad(output.sum(), x)
        elif torch.is_grad_enabled():
            output.sum().backward()
    except Exception as error:
        alone = ", whose dimension `squeeze()` takes too" if len(x) == 1 else ""
        size = f"inputs of {as_text(x.shape[1:])} in a batch of {len(x)}{alone}"
        raise InputError(f"run on {size}: {reason(error)}") from error
    return output.detach().float()


def _noise(count: int, shape: Shape) -> torch.Tensor:
    noise = torch.randn(count, *shape, generator=torch.Generator().manual_seed(0))
    return channels_last(noise, "cpu")


def _norms(network: nn.Module) -> list[nn.Module]:
    kind = nn.modules.batchnorm._BatchNorm
    return [module for module in network.modules() if isinstance(module, kind)]


def _state(network: nn.Module) -> dict[str, torch.Tensor]:
    """A copy of what is kept of a network."""
    tensors = dict(network.named_parameters()) | network.state_dict()
    tensors = {key: value for key, value in tensors.items() if isinstance(value, torch.Tensor)}
    return {key: value.detach().clone() for key, value in tensors.items()}


def _differing(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> set[str]:
    return {key for key, value in one.items() if not torch.equal(value, other[key])}


def _distance(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).norm() / max(one.norm(), other.norm()))


def _alike(one: torch.Tensor, other: torch.Tensor, error: float = 1e-4) -> bool:
    """Whether outputs are the same but for rounding."""
    return torch.allclose(one, other, error, error * float(other.abs().max()), equal_nan=True)


def _some(names: Iterable[str]) -> str:
    """The first names, and the number of the others."""
    names = sorted(names)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
