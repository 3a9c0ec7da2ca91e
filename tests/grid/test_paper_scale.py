"""The scale `paper` of the shipped params.yaml is what the papers state and show: data, networks, training, grids; and no more."""

import dataclasses

import pytest

from pipeline import experiments, networks, settings
from pipeline.training import Training


@pytest.fixture
def paper(shipped):
    """The plans of the scale `paper` by experiment."""
    return settings.plans(shipped)["paper"].experiments


def sizes(plan):
    """Training and test samples, and seeds."""
    return plan.train_samples, plan.test_samples, len(plan.seeds)


def trained(plan):
    """How each architecture is trained, by name."""
    return {name: member.training for name, member in plan.members.items()}


def places(plan, name):
    """The coordinates of one architecture's cells of the first seed."""
    experiment = experiments.find(plan.experiment)
    return [
        tuple(cell[coordinate] for coordinate in experiment.coordinates)
        for cell in experiment.cells(plan)
        if (cell["architecture"], cell["seed"]) == (name, plan.seeds[0])
    ]


INDICES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 800, 1000)


def test_linear_pairs(paper):
    """Paper 2, §3, A.1."""
    plan = paper["linear_pairs"]
    assert (plan.settings.eps1, plan.settings.eps2, plan.settings.sigma) == (1.0, 0.5, 1.0)
    assert sizes(plan) == (10_000, 10_000, 3)
    small = Training(50, 0.2, 0.9, 0.0, "triangular")
    assert trained(plan) == {
        "resnet18": Training(30, 0.1, 0.9, 1e-5, "triangular"),
        # Clipped at 0.5, as the others, it is not fitted along late pairs: docs/fidelity.md.
        "lenet": dataclasses.replace(small, clip=0.1),
        "mlp_100_20": small,
    }
    for name in plan.members:
        assert places(plan, name) == [(first, second) for first in INDICES for second in INDICES]
    assert plan.members["mlp_100_20"].specification == {"network": networks.NETWORKS["mlp"], "hidden": [100, 20]}


def test_image_pairs(paper):
    """Paper 2, §4, A.2."""
    plan = paper["image_pairs"]
    assert plan.settings.eps == 1.0 and sizes(plan) == (50_000, 10_000, 3)
    assert {name: plan.settings.sigma[name] for name in plan.members} == {
        "resnet18": 3.0,
        "lenet": 1.0,
        "mlp_200_50": 3.0,
    }
    assert trained(plan) == {
        name: Training(epochs, 0.15, 0.9, 1e-5, "triangular")
        for name, epochs in (("resnet18", 40), ("lenet", 40), ("mlp_200_50", 60))
    }
    for name in plan.members:
        assert places(plan, name) == [(index,) for index in INDICES]
    assert plan.members["mlp_200_50"].specification == {"network": networks.NETWORKS["mlp"], "hidden": [200, 50]}


def test_fourier(paper):
    """Paper 1, §2: every even frequency from −16 to 14, k and −k once."""
    plan = paper["fourier"]
    assert (plan.settings.eps, plan.settings.sigma) == (1.0, 3.0) and sizes(plan) == (10_000, 10_000, 1)
    shown = {"logreg", "lenet", "vgg11", "resnet18", "densenet121", "lenet_unpooled", "resnet18_unpooled"}
    assert set(plan.members) == shown
    assert set(trained(plan).values()) == {Training(20, 0.5, 0.0, 0.0, "linear")}
    different = {frozenset([k, tuple((-part + 16) % 32 - 16 for part in k)]) for k in places(plan, "lenet")}
    square = {(row, column) for row in range(-16, 16, 2) for column in range(-16, 16, 2)}
    assert len(different) == len(places(plan, "lenet")) and set().union(*different) == square
    coarser = {(row, column) for row, column in places(plan, "lenet") if row % 4 == column % 4 == 0}
    for name in plan.members:
        assert set(places(plan, name)) == (coarser if name == "resnet18_unpooled" else set(places(plan, "lenet")))


def test_convergence(paper):
    """Paper 1, fig. 2: the frequencies of `fourier`, with little noise."""
    plan = paper["convergence"]
    assert (plan.settings.eps, plan.settings.sigma) == (1.0, 0.5) and sizes(plan) == (10_000, 10_000, 1)
    assert trained(plan) == dict.fromkeys(["densenet121", "resnet18", "lenet"], Training(20, 0.5, 0.0, 0.0, "linear"))
    for name in plan.members:
        assert places(plan, name) == places(paper["fourier"], name)


def test_nad_sweep(paper):
    """Paper 1, §4: indices 0–10, 14, 18, …, 1022."""
    plan = paper["nad_sweep"]
    assert plan.settings.eps == 1.0 and sizes(plan) == (10_000, 10_000, 1)
    assert {name: plan.settings.sigma[name] for name in plan.members} == {
        "densenet121": 3.0,
        "resnet18": 3.0,
        "vgg11": 3.0,
        "lenet": 1.0,
    }
    assert set(trained(plan).values()) == {Training(20, 0.5, 0.0, 0.0, "linear")}
    indices = [*range(11), *range(14, 1023, 4)]
    for name in plan.members:
        both = ("secant", "gradient") if name == "lenet" else ("secant",)
        assert places(plan, name) == [(estimand, index) for estimand in both for index in indices]


def test_poison(paper):
    """Paper 1, §5, fig 7: first indices 0, 10, …, 1020."""
    plan = paper["poison"]
    assert plan.settings.size == 0.05 and sizes(plan) == (50_000, 10_000, 1)
    assert trained(plan) == {"resnet18": Training(50, 0.21, 0.9, 5e-4, "linear")}
    assert [index for data, index in places(plan, "resnet18") if data == "images"] == [-1, *range(0, 1021, 10)]


def test_flip(paper):
    """Paper 1, §5, table 1."""
    plan = paper["flip"]
    assert sizes(plan) == (50_000, 10_000, 1)
    assert set(trained(plan).values()) == {Training(30, 0.21, 0.9, 5e-4, "triangular")}
    assert set(plan.members) == {"densenet121", "resnet18", "vgg11", "lenet"}
    assert places(plan, "vgg11") == [("plain",), ("flipped",)]


def test_the_papers_networks_have_no_arguments(paper):
    for plan in paper.values():
        for name, member in plan.members.items():
            if name in networks.NETWORKS:
                assert member.specification == {"network": networks.NETWORKS[name]}
            assert member.training.precision == "float32"
