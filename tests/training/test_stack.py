"""Networks trained in a stack end as each trained alone does."""

import copy
import dataclasses

import pytest
import torch

from pipeline import networks
from pipeline.training import loop, stack
from pipeline.training.loop import Training

HOW = Training(epochs=2, lr=0.2, momentum=0.9, weight_decay=1e-3)
SPECIFICATIONS = {
    "logreg": {"network": networks.NETWORKS["logreg"]},
    "mlp": {"network": networks.NETWORKS["mlp"], "hidden": [6, 4]},
    "lenet": {"network": networks.NETWORKS["lenet"]},
    "vit": {"network": networks.NETWORKS["vit"], "width": 8, "depth": 1},
    "mixer": {"network": networks.NETWORKS["mixer"], "width": 8, "depth": 1},
    "convnext": {
        "network": networks.NETWORKS["convnext"],
        "widths": [4, 4],
        "depths": [1, 1],
    },
}


def cells(specification, dtype=torch.float64):
    """Two networks with weights and data of their own: a batch of 128 samples and one
    of 22."""
    made = [networks.build(specification, 2, 2, seed).to(dtype) for seed in range(2)]
    generator = torch.Generator().manual_seed(0)
    sets = []
    for _ in made:
        x = torch.randn(150, 2, 32, 32, generator=generator, dtype=dtype)
        sets.append((x, (x[:, 0].mean((1, 2)) > 0).long()))
    return made, sets


@pytest.mark.parametrize(
    ("name", "optimiser"),
    [*((name, "sgd") for name in SPECIFICATIONS), ("mlp", "adamw")],
)
def test_networks_in_a_stack_are_trained_as_alone(name, optimiser):
    made, sets = cells(SPECIFICATIONS[name])
    how = (
        HOW
        if optimiser == "sgd"
        else dataclasses.replace(HOW, lr=0.01, optimiser=optimiser)
    )
    assert networks.constructor(SPECIFICATIONS[name]["network"]).together == "stack"
    alone = copy.deepcopy(made)
    expected = [
        loop.train(network, *pair, how, seed)
        for seed, (network, pair) in enumerate(zip(alone, sets, strict=True))
    ]
    found = stack.train(made, sets, how, range(2))
    for ours, theirs, one, other in zip(found, expected, made, alone, strict=True):
        # Means over an epoch are of float32, which alone is trained with.
        assert ours.losses == pytest.approx(theirs.losses, rel=1e-6)
        assert (ours.accuracy, ours.steps) == (theirs.accuracy, theirs.steps)
        for weight, alike in zip(one.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(weight, alike, rtol=0, atol=1e-9)


def test_bfloat16_multiplies_in_bfloat16_and_keeps_weights_in_float32():
    """In a stack and alone."""
    how = dataclasses.replace(HOW, precision="bfloat16")
    made, sets = cells(SPECIFICATIONS["mlp"], dtype=torch.float32)
    kinds = []
    made[0][1].register_forward_hook(lambda *given: kinds.append(given[2].dtype))
    alone = copy.deepcopy(made[0])
    loop.train(alone, *sets[0], how, 0)
    stack.train(made, sets, how, range(2))
    assert kinds == 2 * 4 * [torch.bfloat16], "two epochs of two batches each"
    for network in (alone, *made):
        assert {weight.dtype for weight in network.parameters()} == {torch.float32}
