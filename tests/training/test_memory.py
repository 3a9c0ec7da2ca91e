"""Training on a GPU with tensors that have shapes and devices only: nothing may stay on the CPU, and what it takes is known."""

import pytest
import torch
from torch import nn

from pipeline import networks as table
from pipeline.training import Training, ensembles, memory

HOW = Training(epochs=1, lr=0.1, momentum=0.9, weight_decay=1e-5)
CUDA = torch.device("cuda")
BUILT_IN = [
    {"network": "logreg"},
    {"network": "mlp", "hidden": [6, 4]},
    {"network": "lenet"},
    {"network": "lenet", "downsampling": "stride"},
    {"network": "lenet", "downsampling": "none"},
    {"network": "resnet18", "width": 0.125},
    {"network": "resnet18", "width": 0.125, "downsampling": "none"},
    {"network": "resnet18", "width": 0.125, "skip": False},
    {"network": "vgg11", "width": 0.125},
    {"network": "densenet121", "growth": 4},
]


class Own(nn.Module):
    """A user's network that says it may be stacked: PyTorch's own layers, a buffer, a convolution without a bias."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, bias=False), nn.ReLU(), nn.Conv2d(3, 4, 3, stride=2))
        self.register_buffer("scale", torch.ones(4, 1, 1))
        self.head = nn.Linear(4 * 15 * 15, 2)

    def forward(self, x):
        return self.head((self.body(x) * self.scale).flatten(1))


class Astray(Own):
    """The same with a tensor that is made on the CPU wherever the network is."""

    def forward(self, x):
        return super().forward(x) + torch.ones(2)


def stack_on_a_gpu(networks, together):
    sets = [(torch.empty(300, 2, 32, 32), torch.empty(300, dtype=torch.int64)) for _ in networks]
    return ensembles.Stack(
        networks, sets, HOW, [1] * len(networks), CUDA, together == "stack", lambda function: function
    )


def pass_on_a_gpu(stack):
    """A forward pass, its loss, and an update with gradients of the weights' shapes: all of a step but the backward pass."""
    rows = stack.rows[128]
    outputs = stack.outputs(rows)
    losses = nn.functional.cross_entropy(outputs.flatten(0, 1), stack.y[rows].flatten(), reduction="none")
    stack.update(losses.view(rows.shape).mean(1), stack.correct, [torch.empty_like(weight) for weight in stack.weights])
    return outputs


@pytest.mark.parametrize("specification", BUILT_IN, ids=lambda s: "-".join(map(str, s.values())))
def test_every_built_in_network_is_wholly_on_the_device(specification):
    specification = table.specification(specification)
    together = table.together(specification)
    networks = [table.build(specification, 2, 2, seed) for seed in range(3 if together == "stack" else 1)]
    with memory.shapes_only():
        stack = stack_on_a_gpu(networks, together)
        for stack.convolving in ensembles.CONVOLUTIONS:
            outputs = pass_on_a_gpu(stack)
            assert outputs.device.type == "cuda" and outputs.shape == (len(networks), 128, 2)
        held = [
            *stack.weights,
            *stack.momenta,
            stack.x,
            stack.y,
            stack.rate,
            stack.losses,
            *stack.networks[0].buffers(),
        ]
        assert {tensor.device.type for tensor in held if together == "graph" or tensor.numel() != 4} == {"cuda"}


def test_a_network_of_ones_own_that_may_be_stacked():
    networks = [Own(), Own()]
    with memory.shapes_only():
        stack = stack_on_a_gpu(networks, "stack")
        for stack.convolving in ensembles.CONVOLUTIONS:
            assert pass_on_a_gpu(stack).shape == (2, 128, 2)


def test_a_tensor_on_another_device_is_found():
    network = Astray()
    with memory.shapes_only(), pytest.raises(RuntimeError, match="cpu"):
        pass_on_a_gpu(stack_on_a_gpu([network], "stack"))


def test_needed_memory_of_a_linear_network():
    """What a linear layer keeps for its backward pass is its inputs."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(2 * 32 * 32, 2))
    inputs, weights = 300 * 2048 * 4, (2 * 2048 + 2) * 4
    kept = 128 * 2048 * 4
    found = memory.needed(network, (2, 32, 32), 300, HOW, "stack")
    assert inputs + 2 * 300 * 8 + 4 * weights + memory.COPIES * kept <= found
    assert found <= inputs + 2 * 300 * 8 + 4 * weights + memory.COPIES * (kept + weights)
    assert next(network.parameters()).device.type == "cpu"


def test_needed_memory_of_lenet_counts_its_patches():
    """The patches of LeNet's two convolutions: 2·25 values at 28·28 places, 6·25 at 10·10, of 128 samples."""
    network = table.build(table.specification({"network": "lenet"}), 2, 2, 0)
    patches = 128 * (50 * 28**2 + 150 * 10**2) * 4
    data = 10_000 * 2048 * 4
    found = memory.needed(network, (2, 32, 32), 10_000, HOW, "stack")
    assert data + memory.COPIES * patches < found < data + memory.COPIES * 2 * patches


def test_how_many_fit():
    assert memory.fitting(10, 1000) == 90 and memory.fitting(10, 5) == 1
