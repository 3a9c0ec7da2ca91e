"""A network tried without computing: whether it maps what it shall, how large it is, and what a sample costs."""

import dataclasses

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from pipeline import networks
from pipeline.networks import Shape, Specification
from pipeline.project.errors import InputError

LARGEST = 4_000_000_000
"""Bytes of the state of the largest network that is tried: a billion weights."""


@dataclasses.dataclass(frozen=True)
class DryRun:
    """What a network turned out to be: bytes of its state, and floating-point operations of one sample's forward pass."""

    size: int
    operations: int


class _Unusable(Exception):
    """A network that another device would not make usable; the message says why."""


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
    """Build and run a specification's network on torch's meta device, which computes shapes alone; for real, where that fails.

    shape: (C, H, W) of its inputs. Raises InputError, with one sentence, unless it is known and maps (N, C, H, W) to (N, outputs).
    """
    try:
        networks.check_arguments(specification)
        try:
            found, result = _tried(specification, shape, outputs, "meta")
        except _Unusable:
            raise
        except Exception:
            # A network of one's own may need the numbers themselves.
            found, result = _tried(specification, shape, outputs, "cpu")
    except InputError as error:
        raise InputError(" ".join(str(error).split())) from None
    except (Exception, SystemExit) as error:
        # Whatever a module of one's own raises, also at its import.
        reason = str(error) if isinstance(error, _Unusable) else f"{type(error).__name__}: {error}"
        raise InputError(f"{specification['network']} cannot be run: {' '.join(reason.split())}") from None
    if found != (2, outputs):
        size = ", ".join(map(str, (2, *shape)))
        raise InputError(f"{specification['network']} maps ({size}) to {found}, not to (2, {outputs})")
    return result


def _tried(specification, shape, outputs, device):
    """The shape of what a specification's network on a device makes of two inputs, and the `DryRun`."""
    with torch.device(device):
        network = networks.build(specification, shape[0], outputs, 0)
        if not isinstance(network, nn.Module):
            raise _Unusable(f"it is of type {type(network).__name__}, not a torch module")
        size = sum(value.nbytes for value in network.state_dict().values())
        if size > LARGEST:
            raise _Unusable(f"its weights take {size / 1e9:,.0f} GB, more than {LARGEST / 1e9:,.0f}")
        with FlopCounterMode(display=False) as counter, _Unnormalised(), torch.no_grad():
            output = network.eval()(torch.zeros(2, *shape))
    if not isinstance(output, torch.Tensor):
        raise _Unusable(f"it returns a value of type {type(output).__name__}, not a tensor")
    return tuple(output.shape), DryRun(size, counter.get_total_flops() // 2)
