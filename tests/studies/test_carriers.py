"""Images whose coefficients on all carriers are erased."""

import numpy as np
import pytest
import torch

from pipeline.training import pictures
from studies.carriers import erase, make_plan, make_test_sets

SIZE = 0.05


@pytest.fixture
def nads():
    rng = np.random.default_rng(0)
    return np.linalg.qr(rng.standard_normal((64, 64)))[0][:2].astype(np.float32)


@pytest.fixture
def images():
    return torch.rand(10, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def coefficients(x, nads):
    return x.flatten(2) @ torch.as_tensor(nads).T


def test_erased_images_have_no_coefficient_on_the_nads_and_keep_the_rest(images, nads):
    erased = erase(images, nads)
    assert coefficients(erased, nads).abs().max() < 1e-5
    change = (images - erased).flatten(2)
    inside = coefficients(change, nads) @ torch.as_tensor(nads)
    assert torch.allclose(inside, change, atol=1e-5)


@pytest.mark.parametrize("kind", ["erased", "replaced"])
def test_the_test_sets_differ_only_on_the_carriers(kind, images, nads):
    y = torch.arange(10)
    sets = {
        name: (x, carried)
        for name, x, carried in make_test_sets(kind, images, y, nads, SIZE)
    }
    assert torch.equal(sets["clean"][0], images)
    for name, (x, _) in sets.items():
        rest = erase(x, nads)
        assert torch.allclose(rest, erase(images, nads), atol=1e-5), name
    assert coefficients(sets["erased"][0], nads).abs().max() < 1e-5
    x, carried = sets["wrong"]
    assert carried.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    written = coefficients(x, nads).abs()
    assert torch.allclose(written.sum((1, 2)), torch.full((10,), SIZE), atol=1e-4)
    offset, channel, sign = pictures.carrier_of(3, 3)
    value = coefficients(x, nads)[2, channel, offset]  # image 2 carries class 3
    assert float(value) == pytest.approx(sign * SIZE, abs=1e-5)


def test_images_with_replaced_coefficients_keep_those_of_other_classes(images, nads):
    y = torch.arange(10)
    sets = {name: x for name, x, _ in make_test_sets("replaced", images, y, nads, SIZE)}
    change = coefficients(sets["carriers"], nads) - coefficients(images, nads)
    assert ((change.abs() > 1e-5).sum((1, 2)) == 1).all()


@pytest.mark.parametrize("name", ["lenet", "resnet18_narrow"])
def test_the_plan_has_one_network_per_index_and_seed(name):
    plan = make_plan(name, [0, 30], 2)
    assert plan.members[name].grid.indices == (0, 30)
    assert plan.members[name].training.epochs == 20
    assert plan.train_samples == 20_000
    assert plan.seeds == (0, 1)
