"""The scale `paper` of the shipped params.yaml is what the papers state and show: data, networks,
training, grids; and no more."""

import dataclasses

import pytest

from pipeline import experiments, networks, settings
from pipeline.cells.training import Training


@pytest.fixture
def paper(shipped):
    """The plans of the scale `paper` by experiment."""
    return settings.plans(shipped)["paper"].experiments


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("linear_pairs", (10_000, 10_000, 3)),
        ("image_pairs", (50_000, 10_000, 3)),
        *((name, (10_000, 10_000, 1)) for name in ("fourier", "convergence", "nad_sweep")),
        *((name, (50_000, 10_000, 1)) for name in ("poison", "flip")),
    ],
)
def test_training_and_test_samples_and_seeds(name, sizes, paper):
    plan = paper[name]
    assert (plan.train_samples, plan.test_samples, len(plan.seeds)) == sizes


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
    small = Training(50, 0.2, 0.9, 0.0, "triangular")
    assert trained(plan) == {
        "resnet18": Training(30, 0.1, 0.9, 1e-5, "triangular"),
        # Clipped at 0.5, as the others, it is not fitted along late pairs: docs/fidelity.md.
        "lenet": dataclasses.replace(small, clip=0.1),
        "mlp_100_20": small,
    }
    for name in plan.members:
        assert places(plan, name) == [(first, second) for first in INDICES for second in INDICES]
    mlp = {"network": networks.NETWORKS["mlp"], "hidden": [100, 20]}
    assert plan.members["mlp_100_20"].specification == mlp


def test_image_pairs(paper):
    """Paper 2, §4, A.2."""
    plan = paper["image_pairs"]
    assert plan.settings.eps == 1.0
    sigma = {"resnet18": 3.0, "lenet": 1.0, "mlp_200_50": 3.0}
    assert {name: plan.settings.sigma[name] for name in plan.members} == sigma
    assert trained(plan) == {
        name: Training(epochs, 0.15, 0.9, 1e-5, "triangular")
        for name, epochs in (("resnet18", 40), ("lenet", 40), ("mlp_200_50", 60))
    }
    for name in plan.members:
        assert places(plan, name) == [(index,) for index in INDICES]
    mlp = {"network": networks.NETWORKS["mlp"], "hidden": [200, 50]}
    assert plan.members["mlp_200_50"].specification == mlp


def test_fourier(paper):
    """Paper 1, §2: every even frequency from −16 to 14, k and −k once."""
    plan = paper["fourier"]
    assert (plan.settings.eps, plan.settings.sigma) == (1.0, 3.0)
    shown = {"logreg", "lenet", "vgg11", "resnet18", "densenet121"}
    assert set(plan.members) == shown | {"lenet_unpooled", "resnet18_unpooled"}
    assert set(trained(plan).values()) == {Training(20, 0.5, 0.0, 0.0, "linear")}
    different = {
        frozenset([k, tuple((-part + 16) % 32 - 16 for part in k)]) for k in places(plan, "lenet")
    }
    square = {(row, column) for row in range(-16, 16, 2) for column in range(-16, 16, 2)}
    assert len(different) == len(places(plan, "lenet")) and set().union(*different) == square
    coarser = {(row, column) for row, column in places(plan, "lenet") if row % 4 == column % 4 == 0}
    for name in plan.members:
        whole = set(places(plan, "lenet"))
        assert set(places(plan, name)) == (coarser if name == "resnet18_unpooled" else whole)


def test_convergence(paper):
    """Paper 1, fig. 2: the frequencies of `fourier`, with little noise."""
    plan = paper["convergence"]
    assert (plan.settings.eps, plan.settings.sigma) == (1.0, 0.5)
    assert trained(plan) == dict.fromkeys(
        ["densenet121", "resnet18", "lenet"], Training(20, 0.5, 0.0, 0.0, "linear")
    )
    for name in plan.members:
        assert places(plan, name) == places(paper["fourier"], name)


def test_nad_sweep(paper):
    """Paper 1, §4: indices 0–10, 14, 18, …, 1022."""
    plan = paper["nad_sweep"]
    assert plan.settings.eps == 1.0
    sigma = {"densenet121": 3.0, "resnet18": 3.0, "vgg11": 3.0, "lenet": 1.0}
    assert {name: plan.settings.sigma[name] for name in plan.members} == sigma
    assert set(trained(plan).values()) == {Training(20, 0.5, 0.0, 0.0, "linear")}
    indices = [*range(11), *range(14, 1023, 4)]
    for name in plan.members:
        both = ("secant", "gradient") if name == "lenet" else ("secant",)
        assert places(plan, name) == [(estimand, index) for estimand in both for index in indices]


def test_poison(paper):
    """Paper 1, §5, fig 7: first indices 0, 10, …, 1020."""
    plan = paper["poison"]
    assert plan.settings.size == 0.05
    assert trained(plan) == {"resnet18": Training(50, 0.21, 0.9, 5e-4, "linear")}
    indices = [index for data, index in places(plan, "resnet18") if data == "images"]
    assert indices == [-1, *range(0, 1021, 10)]


def test_flip(paper):
    """Paper 1, §5, table 1."""
    plan = paper["flip"]
    assert set(trained(plan).values()) == {Training(30, 0.21, 0.9, 5e-4, "triangular")}
    assert set(plan.members) == {"densenet121", "resnet18", "vgg11", "lenet"}
    assert places(plan, "vgg11") == [("plain",), ("flipped",)]
