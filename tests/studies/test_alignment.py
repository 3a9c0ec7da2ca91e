"""The alignment of images with a covariance, against closed forms."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

from pipeline import experiments
from pipeline.nads import load
from pipeline.training import maps
from studies.alignment import make_plan, measure_alignment


@pytest.fixture
def lenet():
    return load("lenet")


def test_white_images_have_alignment_one(lenet):
    x = torch.randn(3000, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    assert measure_alignment(x, lenet) == pytest.approx(1, rel=0.05)


def test_images_along_a_nad_have_its_relative_eigenvalue(lenet):
    v = torch.as_tensor(lenet.directions[3], dtype=torch.float32).reshape(1, 1, 32, 32)
    sizes = torch.linspace(-1, 1, 50).reshape(-1, 1, 1, 1)
    expected = lenet.eigenvalues[3] / lenet.eigenvalues.mean()
    assert measure_alignment(sizes * v, lenet) == pytest.approx(expected, rel=1e-3)


def test_random_signs_change_nothing_and_the_flip_does(lenet):
    rng = np.random.default_rng(0)
    spectrum = torch.linspace(2, 0.1, 1024)
    coefficients = torch.randn(500, 1, 1024) * spectrum
    x = coefficients @ torch.as_tensor(lenet.directions, dtype=torch.float32)
    x = x.reshape(500, 1, 32, 32)
    plain, signs, flipped = (
        measure_alignment(maps.apply_map(x, lenet.directions, name, rng), lenet)
        for name in ("plain", "signs", "flipped")
    )
    assert signs == pytest.approx(plain, rel=1e-3)
    assert flipped < plain / 2


def test_the_maps_are_those_of_the_trained_networks(images, lenet):
    """The stages give an experiment seeds that are Python ints."""
    names = ["plain", "rotated_8"]
    rows = [(name, seed) for seed in (0, 1) for name in names]
    plan = make_plan(pd.DataFrame(rows, columns=["images", "seed"]))
    assert plan.members["lenet"].grid.maps == tuple(names)
    expected = dataclasses.replace(plan, seeds=(0, 1))
    for (cell, x), (expected_cell, expected_x) in zip(
        map_images(plan, images, lenet),
        map_images(expected, images, lenet),
        strict=True,
    ):
        assert cell == expected_cell
        assert torch.equal(x, expected_x)


def map_images(plan, images, nads):
    """Yield each cell of a plan with its test images."""
    experiment = experiments.find("flip")
    for cell in experiment.cells(plan):
        noise = experiment.draw_base_noise(plan, cell["seed"], images)
        x, _ = experiment.dataset(cell, "test", noise, [nads.directions])
        yield cell, x
