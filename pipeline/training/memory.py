"""How much of a GPU's memory the training of a network takes, found without a GPU: shapes are computed, and nothing else."""

import contextlib
import copy
from collections.abc import Iterator

import psutil
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from pipeline.training import ensembles
from pipeline.training.single import Training

COPIES = 4
"""How often what a step keeps for its backward pass lies in memory, at most: as it is called, in its two recordings (the last
batch of an epoch is shorter), and once more as what the backward pass makes of it (choice; not yet measured on a GPU)."""

PART = 0.9
"""The part of a GPU's free memory that is planned with; libraries take some for themselves (choice)."""


@contextlib.contextmanager
def shapes_only() -> Iterator[None]:
    """Context in which tensors have shapes, types and devices and no values, so that the device need not be there."""
    overwriting = torch.__future__.get_overwrite_module_params_on_conversion()
    # A module that moves to another device swaps its parameters' contents unless told to replace them, and such tensors have none.
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            yield
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(overwriting)


def kept_by(stack: ensembles.Stack) -> int:
    """Bytes that the forward pass of the longest batch keeps for the backward pass."""
    kept = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        # The storage itself is held, so that no later one takes its place in memory and is counted as the same.
        kept[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        stack.outputs(stack.rows[max(stack.rows)])
    return sum(storage.nbytes() for storage in kept.values())


def needed(network: nn.Module, shape: tuple[int, ...], samples: int, how: Training, together: str) -> int:
    """Bytes of a GPU's memory that one network takes in `ensembles.train`: its data, its weights, and its steps.

    shape: of one input (C, H, W); samples: of its training set; together: 'stack' or 'graph'.
    """
    network, stacked = copy.deepcopy(network), together == "stack"
    with shapes_only():
        sets = [(torch.empty(samples, *shape), torch.empty(samples, dtype=torch.int64))]
        stack = ensembles.Stack([network], sets, how, [0], torch.device("cuda"), stacked, lambda function: function)
        steps = 0
        for stack.convolving in ensembles.CONVOLUTIONS if stacked else ("grouped",):
            steps = max(steps, COPIES * kept_by(stack))
        # The order of an epoch's samples; the weights, their momenta, gradients and clipped gradients.
        return stack.x.nbytes + 2 * stack.y.nbytes + 4 * sum(weight.nbytes for weight in stack.weights) + steps


def free(device: torch.device) -> int:
    """Bytes of memory that are free on a device."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().available


def fitting(needed: int, free: int) -> int:
    """How many networks that take so many bytes each fit into a GPU with so many free; at least one, which may then fail."""
    return max(1, int(PART * free) // needed)
