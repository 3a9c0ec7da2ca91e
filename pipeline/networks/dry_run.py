"""A network tried before any work: whether it maps what it shall, how large it is, and what a sample costs.

One of the table is tried on torch's meta device, which computes shapes alone. One of a user's own is then also built and run
with numbers, forward and backward, since what it does with them nobody has seen.
"""

import contextlib
import dataclasses
import inspect
import signal
import threading
import warnings
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from pipeline import networks
from pipeline.networks import Shape, Specification
from pipeline.project.errors import InputError, Stopped

LARGEST = 4_000_000_000
"""Bytes of the state of the largest network that is tried: a billion weights."""

LARGEST_WITH_NUMBERS = 1_000_000_000, 5_000_000_000
"""Bytes of state, and operations of a sample's forward pass, of the largest network that is run with numbers: a few seconds, as
ResNet-18 takes for 224×224 pixels."""

LONGEST = 120
"""Seconds after which a trial ends: a network that takes as long to be built, or never ends, cannot be drawn again and again."""

STATED = {"symmetry": ("none", "transposition", "square", "measured"), "together": ("stack", "graph", "alone")}
"""What a network's class may state (see `pipeline.networks`); where it does not, its symmetry is measured, and it trains alone."""

SAID = 400
"""Characters of somebody else's message that a sentence repeats."""

MIXED = 1e-3
"""Part of the largest output by which an image's own may differ between two batches: more than rounding, less than chance."""


@dataclasses.dataclass(frozen=True)
class DryRun:
    """What a network turned out to be: bytes of its state, and floating-point operations of one sample's forward pass."""

    size: int
    operations: int


class _Unusable(Exception):
    """A network that another device would not make usable; the message goes on after its name."""


class _TooLong(BaseException):
    """A trial that took too long: no Exception, which a network's code may catch."""


class _Unnormalised(TorchFunctionMode):
    """Context in which batch norm leaves its input as it is: on the meta device it takes longer than all the rest."""

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        if function is not F.batch_norm:
            return function(*arguments, **(keywords or {}))
        return _as_it_is(*arguments, **(keywords or {}))


def _as_it_is(input, running_mean, *arguments, **keywords):
    """The input of a batch norm whose statistics, where it has any, are of as many channels."""
    if running_mean is not None and len(running_mean) != input.shape[1]:
        raise ValueError(f"batch norm of {len(running_mean)} channels is given {input.shape[1]}")
    return input


def dry_run(specification: Specification, shape: Shape, outputs: int) -> DryRun:
    """Build and run a specification's network on torch's meta device, or where that fails for real; see `_compute` for a user's own.

    shape: (C, H, W) of its inputs. Raises InputError, with one sentence, unless it is known and maps (N, C, H, W) to (N, outputs).
    """
    place = specification["network"]
    try:
        with _limited(LONGEST), warnings.catch_warnings():
            # Where a network is wrong, it is said below, and where it is right, in training.
            warnings.simplefilter("ignore")
            _check_constructor(place)
            networks.check_arguments(specification)
            _check_stated(specification)
            try:
                result = _tried(specification, shape, outputs, "meta")
            except _Unusable:
                raise
            except Exception:
                # A network of one's own may need the numbers themselves.
                result = _tried(specification, shape, outputs, "cpu")
            largest, most = LARGEST_WITH_NUMBERS
            if place not in networks.NETWORKS.values() and result.size <= largest and result.operations <= most:
                _compute(specification, shape, outputs)
            return result
    except InputError as error:
        raise InputError(_said(error)) from None
    except _Unusable as error:
        raise InputError(f"{place} {error}") from None
    except _TooLong:
        raise InputError(f"{place} cannot be run: it was not done after {LONGEST} seconds") from None
    except BaseException as error:
        # Ctrl-C is the user's own, which in a stage arrives as `Stopped`.
        if isinstance(error, Stopped) or (isinstance(error, KeyboardInterrupt) and _may_be_interrupted()):
            raise
        # Whatever a module of one's own raises, also at its import: SystemExit, which would end the stage as if all were well.
        raise InputError(f"{place} cannot be run: {type(error).__name__}: {_said(error)}".strip()) from None


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Context that raises `_TooLong` in what takes longer, where a signal can: in the main thread, of Unix, between calls into C."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    # Once a second from then on, should the first be caught.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _may_be_interrupted() -> bool:
    """Whether Ctrl-C raises KeyboardInterrupt in this process."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _said(error: BaseException) -> str:
    """The message of an exception of somebody else's on one line, not all of it if it is long."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        return "it has no message"
    return text if len(text) <= SAID else f"{text[: SAID - 1]}…"


def _check_constructor(place):
    """Raise InputError unless what builds a network may be called to see what it is: functions in C do things, and build none."""
    if not callable(made := networks.constructor(place)):
        raise InputError(
            f"{place} is of type {type(made).__name__}; name a class or a function that returns a torch module"
        )
    if inspect.isbuiltin(made):
        raise InputError(
            f"{place} is a function built into Python; name a class or a function that returns a torch module"
        )


def _check_output(output, count, shape, outputs):
    """Raise _Unusable unless a network made (count, outputs) numbers in float32 of `count` inputs of `shape`."""
    if not isinstance(output, torch.Tensor):
        raise _Unusable(f"cannot be run: it returns a value of type {type(output).__name__}, not a tensor")
    if tuple(output.shape) != (count, outputs):
        size = ", ".join(map(str, (count, *shape)))
        raise _Unusable(f"maps ({size}) to {tuple(output.shape)}, not to ({count}, {outputs})")
    if output.dtype != torch.float32:
        raise _Unusable(f"cannot be run: it returns numbers of type {output.dtype}, not torch.float32")


def _check_stated(specification):
    """Raise _Unusable unless what a network's class states is among what it may."""
    for name, stated in (
        ("symmetry", networks.symmetry(specification)),
        ("together", networks.together(specification)),
    ):
        if stated not in STATED[name]:
            known = ", ".join(STATED[name])
            raise _Unusable(f"cannot be run: its class states {name} = {stated!r}, which is not one of {known}")


def _tried(specification, shape, outputs, device):
    """What a specification's network on a device turned out to be, given two inputs."""
    with torch.device(device):
        network = networks.build(specification, shape[0], outputs, 0)
        if not isinstance(network, nn.Module):
            raise _Unusable(f"cannot be run: it is of type {type(network).__name__}, not a torch module")
        size = sum(value.nbytes for value in network.state_dict().values())
        if size > LARGEST:
            raise _Unusable(f"cannot be run: its weights take {size / 1e9:,.0f} GB, more than {LARGEST / 1e9:,.0f}")
        with FlopCounterMode(display=False) as counter, _Unnormalised(), torch.no_grad():
            output = network.eval()(torch.zeros(2, *shape))
    _check_output(output, 2, shape, outputs)
    if next(network.parameters(), None) is None:
        raise _Unusable("cannot be run: it has no weights")
    return DryRun(size, counter.get_total_flops() // 2)


def _compute(specification, shape, outputs):
    """Raise _Unusable unless a network of a user's own does with numbers what its training and its NADs rest on.

    Given three standard-normal images, which lie in memory as they do in training: a gradient of some weights, numbers that are
    finite, images that are left as they are, in eval mode an output for each that is its own; and weights that the seed decides.
    """
    x = torch.randn(3, *shape, generator=torch.Generator().manual_seed(0)).contiguous(memory_format=torch.channels_last)
    given = x.clone()
    with torch.random.fork_rng(devices=[]):
        network = networks.build(specification, shape[0], outputs, 0)
        weights = {name: value.clone() for name, value in network.state_dict().items()}
        network.to(memory_format=torch.channels_last).train()
        with torch.enable_grad():
            output = network(x)
            _check_output(output, 3, shape, outputs)
            if output.requires_grad:
                output.sum().backward()
        with torch.no_grad():
            together, alone = network.eval()(x), network(x[:1])
        _check_output(together, 3, shape, outputs)
        _check_output(alone, 1, shape, outputs)
        again = networks.build(specification, shape[0], outputs, 0).state_dict()
    gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
    if not gradients:
        raise _Unusable("cannot be trained: none of its weights gets a gradient from its output")
    for what, values in (("output", (output, together)), ("gradient", gradients)):
        if not all(value.isfinite().all() for value in values):
            raise _Unusable(f"cannot be trained: its {what} is not finite for standard-normal images")
    if not torch.equal(x, given):
        raise _Unusable("cannot be used: it changes the images that it is given, so let it work on a copy of them")
    if (together[:1] - alone).abs().max() > MIXED * together.abs().max():
        raise _Unusable(
            "cannot be used: in eval mode its output for an image depends on chance, or on the images beside it"
        )
    if not all(torch.equal(value, again[name]) for name, value in weights.items()):
        raise _Unusable("cannot be used: its first weights are not decided by torch's seed; draw them with torch alone")
