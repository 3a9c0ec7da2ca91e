"""Recorded steps train as steps that run by themselves, on an accelerator that is only
pretended: its recorder repeats operations on the memory that they had, with the numbers
that the CPU had at the time."""

import dataclasses

import accelerator
import pytest
import torch
from accelerator import DEVICE, Accelerator
from small_networks import FAMILIES
from torch import nn

from pipeline import networks
from pipeline.training import loop

HOW = loop.Training(epochs=6, lr=0.05, momentum=0.9, weight_decay=1e-3, batch_size=16)
SAMPLES = 40  # batches of 16, 16 and 8


def training_set():
    x = torch.randn(SAMPLES, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    return loop.channels_last(x, DEVICE), (torch.arange(SAMPLES) % 2).to(DEVICE)


def finish(trainer):
    """Outcome and weights of a training, made to its end."""
    with loop.own_random_numbers(DEVICE):
        while not trainer.finished:
            trainer.advance()
    state = trainer.network.state_dict()
    return trainer.outcome(), {name: value.cpu() for name, value in state.items()}


def refuse(function):
    """A recorder that can record nothing."""
    return None


def train_both(make, how, reference=refuse):
    """(outcome, weights) with steps that run by themselves and with recorded ones, and
    the trainer of the latter.

    Unless `reference` is None, both have the optimiser of recorded steps, so that no
    rounding tells them apart."""
    with Accelerator():
        x, y = training_set()
        eager = loop.Trainer(make(), x, y, how, 5, record=reference)
        recorded = loop.Trainer(make(), x, y, how, 5, record=accelerator.record)
        return finish(eager), finish(recorded), recorded


def assert_same(eager, recorded, how=HOW):
    """Equal but for rounding, since a replay may compute a sum in other parts than
    PyTorch's backward pass; bfloat16 and AdamW make it larger."""
    rounding = 0.01 if how.precision == "float32" else 0.1
    assert recorded[0].losses == pytest.approx(eager[0].losses, rel=rounding)
    assert eager[1].keys() == recorded[1].keys()
    if how.precision == "float32" and how.optimiser == "sgd":
        assert recorded[0].accuracy == pytest.approx(eager[0].accuracy, abs=0.06)
        for name, value in eager[1].items():
            torch.testing.assert_close(recorded[1][name], value, rtol=0.01, atol=2e-3)


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family(name, precision, optimiser):
    specification = networks.specification({"network": name} | FAMILIES[name])
    lr = HOW.lr if optimiser == "sgd" else 1e-3
    how = dataclasses.replace(HOW, lr=lr, precision=precision, optimiser=optimiser)
    eager, recorded, trainer = train_both(
        lambda: networks.build(specification, 1, 2, 3), how
    )
    assert set(trainer.replays) == {16, 8}
    assert trainer.shareable == (name != "vgg11"), "which alone has dropout"
    assert_same(eager, recorded, how)


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_the_optimiser_of_recorded_steps_is_the_usual_one_but_for_rounding(optimiser):
    specification = networks.specification({"network": "lenet"})
    how = dataclasses.replace(HOW, optimiser=optimiser)
    eager, recorded, trainer = train_both(
        lambda: networks.build(specification, 1, 2, 3), how, reference=None
    )
    assert trainer.lr is not None
    assert recorded[0].losses == pytest.approx(eager[0].losses, rel=1e-3)


def test_sgd_without_momentum():
    specification = networks.specification({"network": "lenet"})
    how = dataclasses.replace(HOW, momentum=0.0)
    eager, recorded, _ = train_both(lambda: networks.build(specification, 1, 2, 3), how)
    assert_same(eager, recorded)


def test_dropout_draws_the_same_numbers_and_shares_the_device_with_no_other_network():
    def make():
        torch.manual_seed(0)
        return nn.Sequential(nn.Flatten(), nn.Dropout(), nn.Linear(1024, 2))

    eager, recorded, trainer = train_both(make, HOW)
    assert trainer.replays and not trainer.shareable
    assert_same(eager, recorded)


class HostRead(nn.Linear):
    """A linear network that reads one of its numbers in every forward pass."""

    def forward(self, x):
        output = super().forward(x.flatten(1))
        return output if output.detach().sum().item() < 1e9 else -output


def test_a_network_that_reads_numbers_trains_without_being_recorded():
    def make():
        torch.manual_seed(0)
        return HostRead(1024, 2)

    eager, recorded, trainer = train_both(make, HOW)
    assert trainer.record is None and not trainer.replays and not trainer.shareable
    assert_same(eager, recorded)


def test_the_callback_sees_the_weights_after_each_epoch():
    specification = networks.specification({"network": "logreg"})
    weights = {}
    with Accelerator():
        x, y = training_set()
        for record in (None, accelerator.record):
            network = networks.build(specification, 1, 2, 3)
            seen = weights[record] = []

            def note(epochs, network=network, seen=seen):
                value = next(iter(network.parameters())).detach().cpu().clone()
                seen.append((epochs, value))

            finish(loop.Trainer(network, x, y, HOW, 5, note, record))
    eager, recorded = weights.values()
    assert [epochs for epochs, _ in recorded] == list(range(7))
    for (_, one), (_, other) in zip(eager, recorded, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)
