"""Images multiplied by a checkerboard."""

import pytest
import torch

from pipeline.nads import load
from pipeline.training.fourier import cosines
from studies.alignment import measure_alignment
from studies.checkerboard import make_plan, multiply_by_checkerboard


@pytest.fixture
def images():
    return torch.randn(4, 3, 6, 8, generator=torch.Generator().manual_seed(0))


def test_every_value_keeps_its_pixel_and_its_magnitude(images):
    checkered = multiply_by_checkerboard(images)
    assert torch.equal(checkered.abs(), images.abs())
    assert torch.equal(checkered[..., 0, 1], -images[..., 0, 1])
    assert torch.equal(multiply_by_checkerboard(checkered), images)


def test_a_constant_image_becomes_the_highest_frequency():
    checkered = multiply_by_checkerboard(torch.ones(1, 1, 8, 8))
    spectrum = torch.fft.fft2(checkered)[0, 0].abs()
    assert spectrum.argmax() == 4 * 8 + 4
    assert spectrum.max() == pytest.approx(64)


def test_smooth_images_are_no_longer_aligned_with_lenet():
    smooth = torch.as_tensor(cosines((32, 32)))[1:30].reshape(-1, 1, 32, 32)
    x = torch.cat([smooth, -smooth])
    lenet = load("lenet")
    plain = measure_alignment(x, lenet)
    assert measure_alignment(multiply_by_checkerboard(x), lenet) < plain / 10


def test_the_plan_has_one_network_per_seed_on_plain_images():
    plan = make_plan(["lenet"], 20_000, 10, 3)
    assert plan.members["lenet"].grid.maps == ("plain",)
    assert plan.members["lenet"].training.epochs == 10
    assert plan.seeds == (0, 1, 2)
    assert plan.train_samples == 20_000
