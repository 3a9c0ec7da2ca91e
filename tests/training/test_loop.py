"""One network's training: schedules, each step against numbers worked out by hand, what
it returns, repeatability, divergence."""

import dataclasses

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from pipeline import networks
from pipeline.training import loop

HOW = loop.Training(epochs=2, lr=0.2, momentum=0.9, weight_decay=1e-3)
ONE_EPOCH = dataclasses.replace(HOW, epochs=1)
NARROW = {"network": networks.NETWORKS["resnet18"], "width": 0.125}


def data(count):
    """Noise in two channels, and the sign of the first one's mean."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(count, 2, 32, 32, generator=generator)
    return x, (x[:, 0].mean((1, 2)) > 0).long()


@pytest.mark.parametrize(
    ("schedule", "peak", "rates"),
    [
        ("triangular", 0.6, [0.15, 0.45, 0.5, 0.3, 0.1]),
        ("linear", 0.8, [0.7, 0.5, 0.3, 0.1]),
        ("cosine", 0.8, [0.4 + 0.4 * 3**0.5 / 2, 0.4, 0.4 - 0.4 * 3**0.5 / 2]),
    ],
)
def test_the_schedules(schedule, peak, rates):
    """Taken in the middle of each step: the triangle rises to its peak at 2/5 of
    training, 1/4 and 3/4 of it, and falls to 0, 5/6, 3/6 and 1/6 of it; the line falls
    from its peak to 0, and so does half a cosine, at 30°, 90° and 150° here."""
    np.testing.assert_allclose(
        loop.SCHEDULES[schedule](len(rates), peak), rates, rtol=1e-12
    )


def by_hand(x, y, how, seed):
    """Weights (3, inputs), losses and last accuracy of a linear map of no bias from
    zeros, its gradients and updates written out in NumPy."""
    weights = momentum = np.zeros((3, x.shape[1]))
    rates = iter(loop.SCHEDULES[how.schedule](how.epochs * -(-len(x) // 128), how.lr))
    order = torch.Generator().manual_seed(seed)
    losses = []
    norms = []
    for _ in range(how.epochs):
        shuffled = torch.randperm(len(x), generator=order).numpy()
        loss = 0.0
        correct = 0
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
    """Three classes; batches of 128, 128 and 44, of 128 and 128, or one of 50; some
    gradients are clipped and some are not."""
    rng = np.random.default_rng(count)
    x = 1.5 * rng.standard_normal((count, 4))
    y = (x @ [1.0, -2.0, 0.5, 0.0] > 0).astype(int) + (x[:, 3] > 1)
    how = loop.Training(
        epochs=4, lr=0.9, momentum=0.7, weight_decay=0.02, schedule=schedule
    )
    layer = nn.Linear(4, 3, bias=False, dtype=torch.float64)
    nn.init.zeros_(layer.weight)
    inputs = torch.as_tensor(x).reshape(count, 4, 1, 1)
    network = nn.Sequential(nn.Flatten(), layer)
    found = loop.train(network, inputs, torch.as_tensor(y), how, seed=5)
    weights, expected, correct, norms = by_hand(x, y, how, 5)
    np.testing.assert_allclose(layer.weight.detach().numpy(), weights, atol=1e-9)
    assert found.losses == pytest.approx(expected, rel=1e-6)
    assert found.accuracy == pytest.approx(correct)
    assert max(norms) > 0.5 > min(norms), "clipping must matter, and not always"


def test_adamw_is_pytorchs_with_the_decay_of_the_training():
    how = dataclasses.replace(HOW, optimiser="adamw")
    optimiser = loop.make_optimiser([nn.Parameter(torch.ones(1))], how)
    assert type(optimiser) is torch.optim.AdamW
    assert [optimiser.defaults[key] for key in ("betas", "weight_decay")] == [
        (0.9, 0.999),
        1e-3,
    ]


def test_the_seed_decides_dropout_and_the_callers_random_numbers_are_restored():
    """The training accuracy is that with nothing left out."""
    x, y = data(40)
    found = []
    for seed, callers in ((1, 8), (1, 9), (2, 9)):
        network = nn.Sequential(nn.Flatten(), nn.Dropout(), nn.Linear(2048, 2))
        network.load_state_dict(
            {"2.weight": torch.zeros(2, 2048), "2.bias": torch.zeros(2)}
        )
        torch.manual_seed(callers)
        outcome = loop.train(network, x, y, ONE_EPOCH, seed)
        restored = torch.Generator().manual_seed(callers)
        assert torch.equal(torch.rand(1), torch.rand(1, generator=restored))
        assert (
            outcome.accuracy == loop.accuracy(network, x, y) != (y == 0).float().mean()
        )
        found.append(network[2].weight.detach())
    assert (
        torch.equal(found[0], found[1])
        and (found[0] - found[2]).norm() > 0.1 * found[0].norm()
    )


class WithoutDropoutLayer(nn.Module):
    """A network that leaves out most of its inputs in train mode."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(2048, 2)

    def forward(self, x):
        return self.last(F.dropout(x.flatten(1), 0.9, self.training))


def test_the_training_accuracy_of_any_random_network_is_that_in_eval_mode():
    x, y = data(40)
    network = loop.initialise(WithoutDropoutLayer, 0)
    trainer = loop.Trainer(network, x, y, ONE_EPOCH, 1)
    while not trainer.finished:
        trainer.advance()
    accuracy = loop.accuracy(network, x, y)
    assert trainer.outcome().accuracy == accuracy != trainer.correct / 40


def test_same_seed_same_bits():
    x, y = data(96)
    states = []
    for seed in (5, 5, 6):
        network = networks.build(NARROW, 2, 2, 1)
        loop.train(network, loop.channels_last(x, "cpu"), y, ONE_EPOCH, seed)
        states.append(
            torch.cat([t.flatten().float() for t in network.state_dict().values()])
        )
        assert network.conv1.weight.is_contiguous(memory_format=torch.channels_last), (
            "fastest"
        )
    assert torch.equal(states[0], states[1]) and torch.isfinite(states[0]).all()
    assert not torch.equal(states[0], states[2])


@pytest.mark.parametrize(
    "wrong", [{"schedule": "step"}, {"precision": "bf16"}, {"optimiser": "adam"}]
)
def test_an_unknown_schedule_precision_or_optimiser_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong.values()))):
        dataclasses.replace(HOW, **wrong)


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
def test_a_training_set_is_learned_when_ten_batches_in_a_row_have_a_small_mean_loss(
    losses, steps
):
    losses = torch.tensor([losses], dtype=torch.float64)
    samples = 128 * losses.numel()
    assert loop.summarise(losses, torch.tensor(0), samples, 128).steps == steps


def test_accuracy_is_the_fraction_of_known_outputs_that_are_largest_at_the_class():
    """Of 300 samples in batches of 128, 128 and 44, those whose number is a multiple of
    four are right; in eval mode the network's outputs are its inputs."""
    y = torch.arange(300) % 3
    sizes = []
    answers = torch.where(torch.arange(300) % 4 == 0, y, (y + 1) % 3)
    x = torch.eye(3)[answers].reshape(300, 3, 1, 1)
    network = nn.Sequential(nn.Dropout(0.9), nn.Flatten()).train()
    network.register_forward_hook(lambda *given: sizes.append(len(given[2])))
    assert loop.accuracy(network, x, y) == 75 / 300
    assert torch.equal(loop.logits(network, x), x.flatten(1))
    assert sizes == 2 * [128, 128, 44]


def test_only_the_last_loss_tells_divergence():
    losses = torch.tensor([[float("inf"), 1.0], [1.0, 2.0]])
    found = loop.summarise(losses, torch.tensor(60), 160, 128)
    # A batch of 128 samples and one of 32.
    assert found.losses == pytest.approx([float("inf"), (128 * 1 + 32 * 2) / 160])
    assert found.accuracy == 60 / 160
    for last in (float("inf"), -float("inf"), float("nan")):
        losses = torch.tensor([[1.0, 1.0], [last, 2.0]])
        with pytest.raises(loop.Diverged, match=f"became {last}"):
            loop.summarise(losses, torch.tensor(0), 160, 128)
