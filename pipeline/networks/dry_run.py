"""A network tried without computing: whether it maps what it shall, how large it is, and what a sample costs."""

import dataclasses

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from pipeline import networks
from pipeline.networks import Shape, Specification
from pipeline.project.errors import InputError


@dataclasses.dataclass(frozen=True)
class DryRun:
    """What a network turned out to be: bytes of its state, and floating-point operations of one sample's forward pass."""

    size: int
    operations: int


class _Unnormalised(TorchFunctionMode):
    """Context in which batch norm leaves its input as it is: on the meta device it takes longer than all the rest."""

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        if function is F.batch_norm:
            x, mean = arguments[:2]
            if mean is not None and len(mean) != x.shape[1]:
                raise ValueError(f"batch norm of {len(mean)} channels is given {x.shape[1]}")
            return x
        return function(*arguments, **(keywords or {}))


def dry_run(specification: Specification, shape: Shape, outputs: int) -> DryRun:
    """Build and run a specification's network on torch's meta device, which computes shapes alone; for real, where that fails.

    shape: (C, H, W) of its inputs. Raises InputError unless it is known and maps (N, C, H, W) to (N, outputs).
    """
    networks.check_arguments(specification)
    try:
        try:
            found, result = _tried(specification, shape, outputs, "meta")
        except Exception:
            # A network of one's own may need the numbers themselves.
            found, result = _tried(specification, shape, outputs, "cpu")
    except InputError:
        raise
    except Exception as error:
        sentence = " ".join(str(error).split())
        raise InputError(f"{specification['network']} cannot be run: {sentence}") from None
    if found != (2, outputs):
        size = ", ".join(map(str, (2, *shape)))
        raise InputError(f"{specification['network']} maps ({size}) to {found}, not to (2, {outputs})")
    return result


def _tried(specification, shape, outputs, device):
    """The shape of what a specification's network on a device makes of two inputs, and the `DryRun`."""
    with torch.device(device):
        network = networks.build(specification, shape[0], outputs, 0).eval()
        with FlopCounterMode(display=False) as counter, _Unnormalised(), torch.no_grad():
            found = tuple(network(torch.zeros(2, *shape)).shape)
    size = sum(value.nbytes for value in network.state_dict().values())
    return found, DryRun(size, counter.get_total_flops() // 2)
