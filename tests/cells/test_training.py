"""One network's training: schedules, each step against numbers worked out by hand, what it returns,
repeatability, divergence."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from pipeline import networks
from pipeline.cells import training

HOW = training.Training(epochs=2, lr=0.2, momentum=0.9, weight_decay=1e-3)
ONE_EPOCH = dataclasses.replace(HOW, epochs=1)
LENET = {"network": networks.NETWORKS["lenet"]}
NARROW = {"network": networks.NETWORKS["resnet18"], "width": 0.125}


def mlp(*hidden):
    """An untrained MLP of two channels and two classes."""
    return networks.build({"network": networks.NETWORKS["mlp"], "hidden": list(hidden)}, 2, 2, 1)


def data(count=200):
    """Noise in two channels, and the sign of the first one's mean."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(count, 2, 32, 32, generator=generator)
    return x, (x[:, 0].mean((1, 2)) > 0).long()


def softmax_regression(inputs, classes, dtype=torch.float64):
    """A linear map without bias from zeros, (classes, inputs), on inputs of one pixel a channel."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(inputs, classes, bias=False, dtype=dtype))
    nn.init.zeros_(network[1].weight)
    return network


@pytest.mark.parametrize(
    ("schedule", "peak", "rates"),
    [
        ("triangular", 0.6, [0.15, 0.45, 0.5, 0.3, 0.1]),
        ("linear", 0.8, [0.7, 0.5, 0.3, 0.1]),
        ("cosine", 0.8, [0.4 + 0.4 * 3**0.5 / 2, 0.4, 0.4 - 0.4 * 3**0.5 / 2]),
    ],
)
def test_the_schedules(schedule, peak, rates):
    """Taken in the middle of each step: the triangle rises to its peak at 2/5 of training, 1/4 and
    3/4 of it, and falls to 0, 5/6, 3/6 and 1/6 of it; the line falls from its peak to 0, and so
    does half a cosine, at 30°, 90° and 150° here."""
    np.testing.assert_allclose(training.SCHEDULES[schedule](len(rates), peak), rates, rtol=1e-12)


def by_hand(x, y, how, seed, rates):
    """Weights, losses and last accuracy of `softmax_regression`, its gradients and updates written
    out in NumPy."""
    weights = momentum = np.zeros((3, x.shape[1]))
    rates, order, losses, norms = iter(rates), torch.Generator().manual_seed(seed), [], []
    for _ in range(how.epochs):
        shuffled, loss, correct = torch.randperm(len(x), generator=order).numpy(), 0.0, 0
        for start in range(0, len(x), 128):
            rows = shuffled[start : start + 128]
            scores = x[rows] @ weights.T
            exponentials = np.exp(scores)
            probabilities = exponentials / exponentials.sum(1, keepdims=True)
            loss -= np.log(probabilities[np.arange(len(rows)), y[rows]]).sum()
            correct += (scores.argmax(1) == y[rows]).sum()
            gradient = (probabilities - np.eye(3)[y[rows]]).T @ x[rows] / len(rows)
            norms.append(np.linalg.norm(gradient))
            # As `clip_grad_norm_` rounds it.
            gradient = gradient * min(1.0, 0.5 / (norms[-1] + 1e-6))
            momentum = how.momentum * momentum + gradient + how.weight_decay * weights
            weights = weights - next(rates) * momentum
        losses.append(loss / len(x))
    return weights, losses, correct / len(x), norms


@pytest.mark.parametrize(
    ("schedule", "count"), [("triangular", 300), ("linear", 256), ("triangular", 50)]
)
def test_training_is_clipped_sgd_with_momentum_and_weight_decay(schedule, count):
    """Three classes; batches of 128, 128 and 44, of 128 and 128, or one of 50; some gradients are
    clipped and some are not."""
    rng = np.random.default_rng(count)
    x = 1.5 * rng.standard_normal((count, 4))
    y = (x @ [1.0, -2.0, 0.5, 0.0] > 0).astype(int) + (x[:, 3] > 1)
    how = training.Training(epochs=4, lr=0.9, momentum=0.7, weight_decay=0.02, schedule=schedule)
    network = softmax_regression(4, 3)
    inputs = torch.as_tensor(x).reshape(count, 4, 1, 1)
    found = training.train(network, inputs, torch.as_tensor(y), how, seed=5)

    batches = -(-count // 128)
    middle = (np.arange(4 * batches) + 0.5) / (4 * batches)
    triangle = np.where(middle < 0.4, middle / 0.4, (1 - middle) / 0.6)
    shape = triangle if schedule == "triangular" else 1 - middle
    weights, expected, correct, norms = by_hand(x, y, how, 5, 0.9 * shape)
    np.testing.assert_allclose(network[1].weight.detach().numpy(), weights, atol=1e-9)
    assert found.losses == pytest.approx(expected, rel=1e-6)
    assert found.accuracy == pytest.approx(correct)
    assert max(norms) > 0.5 > min(norms), "clipping must matter, and not always"


def test_adamw_divides_the_mean_gradient_by_its_size_and_shrinks_the_weights_beside_it():
    """One sample a step, so that the whole course can be written down: PyTorch's betas, 0.9 and
    0.999, corrected for their start at 0, and a decay that the gradient's size does not change."""
    how = training.Training(
        epochs=5, lr=0.1, momentum=0.0, weight_decay=0.2, schedule="linear", optimiser="adamw"
    )
    network = softmax_regression(1, 2)
    x, y = torch.full((1, 1, 1, 1), 0.3, dtype=torch.float64), torch.tensor([1])
    training.train(network, x, y, how, seed=0)
    weights, mean, square = np.zeros(2), np.zeros(2), np.zeros(2)
    for step, rate in enumerate(training.linear(5, 0.1), 1):
        exponentials = np.exp(0.3 * weights)
        gradient = 0.3 * (exponentials / exponentials.sum() - [0, 1])  # of norm below 0.5
        weights *= 1 - rate * 0.2
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        size = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        weights -= rate * mean / (1 - 0.9**step) / size
    found = network[1].weight.detach().numpy()[:, 0]
    np.testing.assert_allclose(found, weights, atol=1e-9)
    assert abs(found[1]) > 0.2, "five steps of about a rate of 0.1, whatever the gradient's size"


def test_every_epoch_shows_every_sample_once_in_an_order_of_the_seed():
    """What dropout draws does not change the order."""
    x, y, orders = torch.arange(300.0).reshape(300, 1, 1, 1), torch.zeros(300).long(), []
    for seed in (3, 3, 4):
        network, seen = nn.Sequential(nn.Flatten(), nn.Dropout(), nn.Linear(1, 2)).eval(), []
        network.register_forward_pre_hook(
            lambda module, inputs, seen=seen: seen.append((inputs[0], module.training))
        )
        training.train(network, x, y, dataclasses.replace(HOW, lr=1e-6), seed)
        batches = [batch.int().flatten().tolist() for batch, _ in seen[:6]]
        assert [len(batch) for batch in batches] == [128, 128, 44] * 2
        assert [mode for _, mode in seen] == [True] * 6 + [False] * 3
        epochs = [sum(batches[start : start + 3], []) for start in (0, 3)]
        assert all(sorted(epoch) == list(range(300)) for epoch in epochs) and epochs[0] != epochs[1]
        drawn = torch.Generator().manual_seed(seed)
        assert epochs == [torch.randperm(300, generator=drawn).tolist() for _ in range(2)]
        orders.append(epochs)
    assert orders[0] == orders[1] != orders[2]


def test_the_seed_decides_what_dropout_leaves_out_and_the_callers_random_numbers_are_restored():
    x, y = data(40)
    found = []
    for seed, callers in ((1, 8), (1, 9), (2, 9)):
        network = nn.Sequential(nn.Flatten(), nn.Dropout(), nn.Linear(2048, 2))
        network.load_state_dict({"2.weight": torch.zeros(2, 2048), "2.bias": torch.zeros(2)})
        torch.manual_seed(callers)
        training.train(network, x, y, ONE_EPOCH, seed)
        restored = torch.Generator().manual_seed(callers)
        assert torch.equal(torch.rand(1), torch.rand(1, generator=restored))
        found.append(network[2].weight.detach())
    assert torch.equal(found[0], found[1]) and (found[0] - found[2]).norm() > 0.1 * found[0].norm()


def test_the_training_accuracy_of_a_network_with_dropout_is_that_without():
    x, y = data(300)
    network = nn.Sequential(nn.Flatten(), nn.Dropout(0.9), nn.Linear(2048, 2))
    found = training.train(network, x, y, HOW, 0)
    assert found.accuracy == training.accuracy(network, x, y)


@pytest.mark.parametrize("specification", [LENET, NARROW], ids=["lenet", "resnet18"])
def test_same_seed_same_bits(specification):
    x, y = data(96)
    states = []
    for seed in (5, 5, 6):
        network = networks.build(specification, 2, 2, 1)
        training.train(network, training.channels_last(x, "cpu"), y, ONE_EPOCH, seed)
        states.append(torch.cat([t.flatten().float() for t in network.state_dict().values()]))
        assert network.conv1.weight.is_contiguous(memory_format=torch.channels_last), "fastest"
    assert torch.equal(states[0], states[1]) and torch.isfinite(states[0]).all()
    assert not torch.equal(states[0], states[2])


def test_a_learnable_problem_is_learned():
    x, y = data(1024)
    x[:, 1] += (2 * y - 1).reshape(-1, 1, 1)
    network = mlp(16, 8)
    found = training.train(network, x, y, training.Training(5, 0.1, 0.9, 0.0), 0)
    assert len(found.losses) == 5 and found.losses[0] > found.losses[-1] < 0.05
    assert found.accuracy > 0.99 < training.accuracy(network, x, y)
    assert 8 < found.steps <= 3 * 8, "after the first of eight batches an epoch, by the third"


@pytest.mark.parametrize(
    ("losses", "steps"),
    [
        ([0.01] * 10, 10),
        ([0.0101] * 10, None),
        ([0.0] * 9, None),
        ([5.0] * 7 + [0.005] * 30, 17),
        # A mean over ten: one batch of 0.1 among nine of none is as much as may be.
        ([1.0] * 3 + [0.0] * 5 + [0.1] + [0.0] * 30, 13),
        ([1.0] * 3 + [0.0] * 5 + [0.11] + [0.0] * 30, 19),
        ([0.0] * 12 + [9.0] * 5, 10),
    ],
)
def test_a_training_set_is_learned_when_ten_batches_in_a_row_have_a_small_mean_loss(losses, steps):
    assert training.steps_until_learned(np.array(losses)) == steps


def test_bfloat16_multiplies_in_bfloat16_keeps_its_weights_in_float32_and_learns_the_same():
    x, y = data()
    losses, weights = [], []
    for precision, kind in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        network, seen = mlp(6, 4), set()
        network[1].register_forward_hook(lambda *given, seen=seen: seen.add(given[2].dtype))
        how = dataclasses.replace(HOW, precision=precision)
        losses.append(training.train(network, x, y, how, 0).losses[-1])
        weights.append(torch.cat([p.detach().flatten() for p in network.parameters()]))
        assert seen == {kind} and weights[-1].dtype == torch.float32
    assert 0 < (weights[1] - weights[0]).norm() / weights[0].norm() < 0.05
    assert losses[1] == pytest.approx(losses[0], abs=0.01)


def test_accuracy_is_the_fraction_of_known_outputs_that_are_largest_at_the_class():
    """Of 300 samples in batches of 128, 128 and 44, those whose number is a multiple of four are
    right; in eval mode the network's outputs are its inputs."""
    y, sizes = torch.arange(300) % 3, []
    answers = torch.where(torch.arange(300) % 4 == 0, y, (y + 1) % 3)
    x = torch.eye(3)[answers].reshape(300, 3, 1, 1)
    network = nn.Sequential(nn.Dropout(0.9), nn.Flatten()).train()
    network.register_forward_hook(lambda *given: sizes.append(len(given[2])))
    assert training.accuracy(network, x, y) == 75 / 300
    assert torch.equal(training.logits(network, x), x.flatten(1))
    assert sizes == 2 * [128, 128, 44]


def test_only_the_last_loss_tells_divergence():
    losses = torch.tensor([[float("inf"), 1.0], [1.0, 2.0]])
    found = training.outcome(losses, torch.tensor(60), 160)
    # A batch of 128 samples and one of 32.
    assert found.losses == pytest.approx([float("inf"), (128 * 1 + 32 * 2) / 160])
    assert found.accuracy == 60 / 160
    for last in (float("inf"), -float("inf"), float("nan")):
        with pytest.raises(training.Diverged, match=f"became {last}"):
            training.outcome(torch.tensor([[1.0, 1.0], [last, 2.0]]), torch.tensor(0), 160)
