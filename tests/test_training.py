"""One network's training: the schedule, one step against a loop written out, repeatability, divergence."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from pipeline import networks
from pipeline.training import single as training

RECIPE = training.Recipe(epochs=2, lr=0.2, momentum=0.9, weight_decay=1e-3)


def data(count=200):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(count, 2, 32, 32, generator=generator)
    return x, (x[:, 0].mean((1, 2)) > 0).long()


def test_triangular_schedule():
    rates = training.triangular(1000, 0.2)
    assert rates[0] < 0.001 and rates[-1] < 0.001 and rates.max() == pytest.approx(0.2, rel=0.01)
    assert abs(rates.argmax() - 400) <= 1
    np.testing.assert_allclose(np.diff(rates[:399]), 0.2 / 400)
    np.testing.assert_allclose(np.diff(rates[401:]), -0.2 / 600)


def test_linear_schedule():
    rates = training.linear(1000, 0.5)
    assert rates[0] == pytest.approx(0.5, rel=0.001) and 0 < rates[-1] < 0.001
    np.testing.assert_allclose(np.diff(rates), -0.5 / 1000)


def test_training_is_clipped_sgd_with_momentum_and_weight_decay():
    """The real loop against the update rule written out on plain tensors."""
    x, y = data()
    network, mirror = (networks.build({"network": "mlp", "hidden": [6, 4]}, 2, 2, 1) for _ in range(2))
    training.train(network, x, y, RECIPE, seed=5)

    parameters = list(mirror.parameters())
    momentum = [torch.zeros_like(p) for p in parameters]
    order, rates = torch.Generator().manual_seed(5), training.triangular(4, RECIPE.lr)
    for epoch in range(2):
        shuffled = torch.randperm(200, generator=order)
        for half in range(2):
            chosen = shuffled[128 * half : 128 * (half + 1)]
            gradients = torch.autograd.grad(F.cross_entropy(mirror(x[chosen]), y[chosen]), parameters)
            norm = torch.sqrt(sum((g**2).sum() for g in gradients))
            scale = min(1.0, 0.5 / (float(norm) + 1e-6))
            for i, (p, g) in enumerate(zip(parameters, gradients)):
                momentum[i] = 0.9 * momentum[i] + scale * g + 1e-3 * p.detach()
                p.data -= rates[2 * epoch + half] * momentum[i]
    for ours, theirs in zip(network.parameters(), parameters):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("specification", [{"network": "lenet"}, {"network": "resnet18", "width": 0.125}])
def test_same_seed_same_bits(specification):
    torch.set_num_threads(1)
    x, y = data(96)
    states = []
    for seed in (5, 5, 6):
        network = networks.build(specification, 2, 2, 1)
        training.train(network, training.arranged(x, "cpu"), y, training.Recipe(1, 0.1, 0.9, 0.0), seed)
        states.append(torch.cat([t.flatten().float() for t in network.state_dict().values()]))
    assert torch.equal(states[0], states[1]) and torch.isfinite(states[0]).all()
    assert not torch.equal(states[0], states[2])


def test_a_learnable_problem_is_learned():
    x, y = data(1024)
    x[:, 1] += (2 * y - 1).reshape(-1, 1, 1)
    network = networks.build({"network": "mlp", "hidden": [16, 8]}, 2, 2, 1)
    losses, accuracy = training.train(network, x, y, training.Recipe(5, 0.1, 0.9, 0.0), 0)
    assert (
        len(losses) == 5
        and losses[0] > losses[-1]
        and losses[-1] < 0.05
        and accuracy > 0.99
        and training.accuracy(network, x, y) > 0.99
    )


def test_divergence_is_an_error():
    x, y = data()
    with pytest.raises(training.Diverged, match="the training loss became"):
        training.train(networks.build({"network": "mlp", "hidden": [6, 4]}, 2, 2, 1), x * float("inf"), y, RECIPE, 0)
