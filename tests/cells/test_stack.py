"""Networks trained in a stack end as each trained alone does."""

import copy
import dataclasses

import pytest
import torch

from pipeline import networks
from pipeline.cells import stack, training
from pipeline.cells.training import Training

CPU = torch.device("cpu")
HOW = Training(epochs=2, lr=0.2, momentum=0.9, weight_decay=1e-3)
SPECIFICATIONS = {
    "logreg": {"network": networks.NETWORKS["logreg"]},
    "mlp": {"network": networks.NETWORKS["mlp"], "hidden": [6, 4]},
    "lenet": {"network": networks.NETWORKS["lenet"]},
    "vit": {"network": networks.NETWORKS["vit"], "width": 8, "depth": 1},
    "mixer": {"network": networks.NETWORKS["mixer"], "width": 8, "depth": 1},
    "convnext": {"network": networks.NETWORKS["convnext"], "widths": [4, 4], "depths": [1, 1]},
}


def cells(specification, count=3, samples=150, dtype=torch.float64):
    """Networks with weights and data of their own: 150 samples, a batch of 128 and one of 22."""
    made = [networks.build(specification, 2, 2, seed).to(dtype) for seed in range(count)]
    generator, sets = torch.Generator().manual_seed(0), []
    for _ in range(count):
        x = torch.randn(samples, 2, 32, 32, generator=generator, dtype=dtype)
        sets.append((x, (x[:, 0].mean((1, 2)) > 0).long()))
    return made, sets


@pytest.mark.parametrize(
    ("name", "optimiser"), [*((name, "sgd") for name in SPECIFICATIONS), ("mlp", "adamw")]
)
def test_networks_in_a_stack_are_trained_as_alone(name, optimiser):
    made, sets = cells(SPECIFICATIONS[name])
    how = HOW if optimiser == "sgd" else dataclasses.replace(HOW, lr=0.01, optimiser=optimiser)
    assert networks.constructor(SPECIFICATIONS[name]["network"]).together == "stack"
    alone = copy.deepcopy(made)
    expected = [
        training.train(network, *pair, how, seed)
        for seed, (network, pair) in enumerate(zip(alone, sets))
    ]
    found = stack.train(made, sets, how, range(3), CPU)
    for ours, theirs, one, other in zip(found, expected, made, alone):
        # Means over an epoch are of float32, which alone is trained with.
        assert ours.losses == pytest.approx(theirs.losses, rel=1e-6)
        assert (ours.accuracy, ours.steps) == (theirs.accuracy, theirs.steps)
        for weight, alike in zip(one.parameters(), other.parameters()):
            torch.testing.assert_close(weight, alike, rtol=0, atol=1e-9)


def test_each_networks_gradient_is_clipped_by_itself():
    gradients = {"a": torch.tensor([[3.0], [0.3]]), "b": torch.tensor([[[4.0]], [[0.4]]])}
    clipped = stack.clip(gradients, 0.5)
    # Norms 5 and 0.5: the first is scaled to 0.5, the second stays.
    torch.testing.assert_close(clipped["a"], torch.tensor([[0.3], [0.3]]), rtol=1e-5, atol=0)
    torch.testing.assert_close(clipped["b"], torch.tensor([[[0.4]], [[0.4]]]), rtol=1e-5, atol=0)


def test_bfloat16_multiplies_in_bfloat16_and_keeps_weights_in_float32():
    made, sets = cells(SPECIFICATIONS["mlp"], dtype=torch.float32)
    exact = copy.deepcopy(made)
    in_bfloat16 = dataclasses.replace(HOW, precision="bfloat16")
    for how, some in ((HOW, exact), (in_bfloat16, made)):
        stack.train(some, sets, how, range(3), CPU)
    for one, other in zip(made, exact):
        ours, theirs = (torch.cat([w.flatten() for w in n.parameters()]) for n in (one, other))
        assert ours.dtype == torch.float32
        assert 0 < (ours - theirs).norm() / theirs.norm() < 0.05
