"""What the study of the order in time tests its networks on."""

import numpy as np
import pytest
import torch

from studies import order_in_time as study


@pytest.fixture
def basis(rng):
    return np.linalg.qr(rng.standard_normal((1024, 1024)))[0]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_projection_keeps_what_is_in_the_span_and_nothing_else(basis):
    inside = torch.as_tensor(basis[3], dtype=torch.float32).reshape(1, 1, 32, 32)
    outside = torch.as_tensor(basis[9], dtype=torch.float32).reshape(1, 1, 32, 32)
    both = torch.cat([inside, outside], 1)
    projected = study.project(both, basis[:8])
    assert torch.allclose(projected[:, :1], inside, atol=1e-5)
    assert torch.allclose(projected[:, 1:], torch.zeros(1, 1, 32, 32), atol=1e-5)


def test_no_directions_keep_more_energy_than_the_first_components(rng, basis):
    pictures = rng.integers(0, 256, (40, 3, 32, 32), np.uint8)
    noise = {
        "train_pictures": pictures,
        "test_pictures": pictures,
        "train_labels": np.arange(40),
        "test_labels": np.arange(40),
        "mean": pictures.mean((0, 2, 3)) / 255,
        "deviation": np.array([0.2, 0.3, 0.4]),
    }
    cell = {"images": "plain", "architecture": "lenet", "seed": 0}
    energy = {}
    for name, x, _, share in study.make_test_sets("flip", cell, noise, basis):
        energy[name] = share
        if name == "clean":
            total = float(x.square().sum())
        assert float(x.square().sum()) / total == pytest.approx(share, rel=1e-4)
    of_nads = [energy[f"first {count} NADs"] for count in study.FIRST]
    of_components = [energy[f"first {count} components"] for count in study.FIRST]
    assert of_nads == sorted(of_nads) and of_nads[-1] < energy["clean"]
    assert all(map(float.__gt__, of_components, of_nads))


def test_networks_are_trained_as_in_the_papers():
    plans = study.make_plans()
    assert plans["flip"].train_samples == plans["poison"].train_samples == 50_000
    assert plans["poison"].members["lenet"].grid.indices == study.CARRIERS
    assert {len(plan.seeds) for plan in plans.values()} == {study.SEEDS}
