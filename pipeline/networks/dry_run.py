"""A trial run of a network before any work: built under two seeds, run as it will be, and compared
in what must differ and in what must not."""

import functools
import math
from collections.abc import Callable, Iterable

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from pipeline import networks
from pipeline.cells.shapes import Shape, as_text
from pipeline.networks import CONTIGUOUS, Specification, defaults, reason, usual_defaults
from pipeline.project.errors import InputError, at

LAG = 0.05
"""The part of their first values up to which batch norms' running statistics may be at the end."""

JUMP = 0.2
"""The relative change of outputs in eval mode by a pass in train mode up to which it is no jump: by
the first step of an older spectral norm's power method it is more in 99 of 100 networks."""

ROUNDING = 1e-4  # relative distance up to which outputs are the same


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
        with at(f"{place} cannot be "):
            _run(network, _noise(2, shape), (outputs,))
    else:
        contiguous = CONTIGUOUS in specification.items()
        network, notices, contiguous = check_untrained(place, build, shape, (outputs,), contiguous)
        specification.update([CONTIGUOUS] if contiguous else [])
        momenta = [norm.momentum for norm in _norms(network) if norm.momentum is not None]
        slow = min(momenta, default=1)
        if (lag := (1 - slow) ** steps) > LAG:
            notices.append(
                f"of the running statistics of {place}'s batch norms (momentum {slow:g}) {lag:.0%} "
                f"are still their first values after {steps:,} steps of training, so it may seem "
                "to guess on new samples; a larger momentum or more epochs help"
            )
    if shape[2] <= 4 < min(shape[:2]):
        notices.append(
            f"inputs of {as_text(shape)} are {shape[0]} channels of {as_text(shape[1:])} pixels; a "
            "shape is channels × height × width"
        )
    return sum(value.nbytes for value in network.state_dict().values()), notices


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
    None for any. Raises InputError, beginning with `name`, for what cannot be run, and for what is
    no function of one image and torch's seed.
    """
    made = [build(seed, contiguous) for seed in (0, 0, 1)]
    try:
        with at(f"{name} cannot be "), usual_defaults():
            odd = _oddities(made, shape, wanted)
    except InputError:
        if contiguous:
            raise
        return check_untrained(name, build, shape, wanted, True)
    if contiguous:
        odd.append("runs in torch's usual memory format alone, not in channels last")
    return made[-1], [f"{name} {each}" for each in odd], contiguous


def _oddities(made: list[nn.Module], shape: Shape, wanted: tuple[int, ...] | None) -> list[str]:
    """What is odd about networks of the seeds 0, 0 and 1, of which the first is run in all ways."""
    first, same, other = made
    one, two, three = map(_state, made)
    if new := (one.keys() ^ two.keys()) | (one.keys() ^ three.keys()):
        raise InputError(f"used: each network has other names for its weights: {_some(new)}")
    differing = lambda state: {key for key in one if not torch.equal(one[key], state[key])}
    unseeded, drawn = differing(two), differing(three)
    parameters, x, called = dict(first.named_parameters()), _noise(2, shape), []
    linear = {module for module in first.modules() if isinstance(module, nn.Linear)}
    note = lambda layer, _, output: called.append((layer, output)) if layer in linear else None
    first.to(memory_format=torch.channels_last).eval()
    with register_module_forward_hook(note):
        before = _run(first, x, wanted)
    run = functools.partial(_run, wanted=before.shape[1:])
    by_chance, alone = run(first, x, seed=1), run(first, x[1:])
    # The same in torch's usual memory format, and after another image.
    usual = x.clone(memory_format=torch.contiguous_format)
    run(same.eval(), usual[1:], seed=1)
    alike = _alike(before, run(same, usual, seed=1))
    for norm in _norms(first):
        norm.momentum = 0.0  # so that passes in train mode leave its statistics as they are
    trained = run(first.train(), 2 * x + 1, backward=True)
    after = run(first.eval(), x, backward=True).detach()
    late = {key for key, value in first.named_parameters() if parameters.get(key) is not value}
    late |= first.state_dict().keys() - one.keys()
    # Some take gradients with respect to their inputs themselves.
    known = {id(parameter) for parameter in parameters.values()}
    shapes = {tuple(leaf.shape) for leaf in _leaves(trained) if id(leaf) not in known}
    strange = {str(each) for each in shapes - {tuple(x.shape)}}
    steady, jump = alike or _alike(after, run(first, x)), _distance(before, after)
    if jump > JUMP:  # running means, of norms of one's own too, change step by step
        run(first.train(), 2 * x + 1)
        steady = steady and _distance(after, run(first.eval(), x)) >= jump / 2
    coarse = {str(layer.weight.dtype) for layer in linear if layer.weight.itemsize < 4}
    last = [layer for layer, output in called if torch.equal(output.float(), before)]
    # More and larger images, since a small network's ReLUs may all be off at two.
    end = "" if last else _end(run(first, 100 * _noise(8, shape)))
    for wrong, sentence in (
        (not before.isfinite().all(), "its outputs at noise are not finite"),
        (
            late,
            f"{_some(late)} came into being in the first forward pass, too late to be trained; "
            "make all parameters and buffers in the constructor",
        ),
        (
            strange,
            f"weights of shape {_some(strange)} are none of its parameters, so that no training "
            "reaches them; make layers in the constructor, several in an nn.ModuleList",
        ),
        (
            not steady,
            "its outputs in eval mode are decided by the passes before, so untrained it is not "
            "defined; let no pass in eval mode change a weight or buffer or draw with NumPy, and "
            "in place of torch.nn.utils.spectral_norm take "
            "torch.nn.utils.parametrizations.spectral_norm",
        ),
        (
            not _alike(before, by_chance),
            "its outputs in eval mode depend on chance; give dropout the argument "
            "training=self.training, and add noise in train mode alone",
        ),
        (
            coarse,
            f"derivatives are lost in the rounding of its linear layers in {_some(coarse)}; leave "
            "that out, and set `precision: bfloat16` to train so",
        ),
        (
            not _alike(before, torch.cat([before[:1], alone])),
            "its output for an image in eval mode depends on the others of its batch; batch norms "
            "need running statistics",
        ),
        (
            not alike or unseeded,
            "its initial weights differ though torch's seed is the same; draw them with torch and "
            "in the constructor, not with NumPy, Python's random or by its first images",
        ),
        (
            not drawn and _alike(before, run(other.eval(), usual)),
            "its weights are the same under two of torch's seeds, so it is not untrained; build a "
            "new network in each call, without a checkpoint and without torch.manual_seed",
        ),
        (
            end,
            f"its outputs {end}; leave that out, since training and NADs want the values before it",
        ),
    ):
        if wrong:
            raise InputError(f"used: {sentence}")
    flat = {key: one[key].flatten() for key in parameters.keys() - drawn}
    fixed = {key for key, value in flat.items() if (value != value[:1]).any()}
    for key in drawn - parameters.keys():
        # A parameter may only turn what a buffer beside it draws (`parametrizations.orthogonal`).
        fixed = {each for each in fixed if not key.startswith(f"{each.rpartition('.')[0]}.")}
    odd = [f"starts from the same {_some(fixed)} whatever the seed"] if fixed else []
    if any(not layer.weight.any() for layer in last):
        odd.append("has a last layer that starts at zero; its NADs are the features' then")
    return odd


def _end(output: torch.Tensor) -> str:
    """How outputs (N, outputs) of no linear layer end that are no logits; otherwise nothing."""
    if output.dim() != 2:
        return ""
    if (output >= 0).all() and _alike(output.sum(1), torch.ones(len(output))):
        return "sum to one, as after a softmax"
    if output.shape[1] > 1 and _alike(output.exp().sum(1), torch.ones(len(output))):
        return "are logarithms of what sums to one, as after a log-softmax"
    if torch.equal(output, output[:1].expand_as(output)):
        return (
            "are the same for all images, as after a log-softmax or a normalisation of one output, "
            "or a last convolution that starts at zero"
        )
    # Those of a deep network may differ by less than a thousandth.
    error = 1e-4 * (output - output[:1]).abs().max()
    lengths = torch.stack([output.norm(p, 1) for p in (1, 2, torch.inf)])
    same = ((lengths - lengths[:, :1]).abs().amax(1) <= error).any()
    return "have one length for all images, as after a normalisation" if same else ""


def _run(
    network: nn.Module,
    x: torch.Tensor,
    wanted: tuple[int, ...] | None,
    backward: bool = False,
    seed: int = 0,
) -> torch.Tensor:
    """The outputs of a network in its mode at inputs x (N, C, H, W); backward: to the weights in
    train mode, to the inputs in eval mode; seed: of what it draws."""
    x = x.clone().requires_grad_(backward and not network.training)
    try:
        with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(backward):
            torch.manual_seed(seed)
            before, output = defaults(), network(x)
            if changed := [name for name, value in defaults().items() if value != before[name]]:
                raise InputError(f"its forward pass sets for all of torch: {_some(changed)}")
            if not isinstance(output, torch.Tensor):
                raise InputError(f"it returns a {type(output).__name__}, not one tensor")
            if wanted is not None and output.shape != (len(x), *wanted):
                raise InputError(f"it returns {tuple(output.shape)}, not {(len(x), *wanted)}")
            if x.requires_grad:
                torch.autograd.grad(output.sum(), x)
            elif backward:
                output.sum().backward()
    except (Exception, SystemExit) as error:
        where = f"run on inputs of {as_text(x.shape[1:])} in a batch of {len(x)}: "
        raise InputError(reason(error, where)) from error
    return output.float()


def _leaves(output: torch.Tensor) -> list[torch.Tensor]:
    """The tensors from which a computation that is differentiated starts."""
    nodes, seen = [output.grad_fn], set()
    while nodes:
        if (node := nodes.pop()) and node not in seen:
            seen.add(node)
            nodes += [before for before, _ in node.next_functions]
    return [node.variable for node in seen if type(node).__name__ == "AccumulateGrad"]


def _noise(count: int, shape: Shape) -> torch.Tensor:
    """Images of noise, channels last in memory also where there is one channel."""
    channels, *size = shape
    noise = torch.randn(count, *size, channels, generator=torch.Generator().manual_seed(0))
    return noise.movedim(3, 1)


def _norms(network: nn.Module) -> list[nn.Module]:
    kind = nn.modules.batchnorm._BatchNorm
    return [module for module in network.modules() if isinstance(module, kind)]


def _state(network: nn.Module) -> dict[str, torch.Tensor]:
    """What is kept of a network, by name."""
    state = dict(network.named_parameters()) | network.state_dict()
    for name, value in state.items():
        if nn.parameter.is_lazy(value):
            raise InputError(
                f"used: {name} is of a lazy layer, which has no weights before it has seen an "
                "input; give the layer's size, as in nn.Linear(1568, outputs)"
            )
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            raise InputError(f"used: {name}, which its state has, is no tensor, or a sparse one")
    return state


def _distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """The distance of outputs, as a part of the larger; NaN where they are not finite."""
    return float((one - other).norm() / torch.stack([one.norm(), other.norm()]).max().clamp(1e-30))


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return _distance(one, other) <= ROUNDING


def _some(names: Iterable[str]) -> str:
    """The first names, and the number of the others."""
    names = sorted(names)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
