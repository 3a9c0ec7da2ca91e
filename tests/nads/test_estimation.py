"""Estimates under way: their order and their end; and the library call."""

import contextlib
import dataclasses

import numpy as np
import psutil
import pytest
import torch
from nads_samples import SECANT, make_sampler
from refusals import refused
from torch import nn

from pipeline.nads import estimate
from pipeline.nads.covariance import Covariance
from pipeline.nads.directions import imported
from pipeline.nads.estimation import (
    Estimation,
    repeat_in_channels,
    start_estimate,
)
from pipeline.nads.estimator import Source
from pipeline.nads.jacobian import Sampler
from pipeline.nads.leading import Leading
from pipeline.nads.spectrum import overlaps
from pipeline.networks import Symmetry
from pipeline.project.errors import InputError

SHAPE = (1, 4, 4)


def estimation_of(samples, numbers, target_error=None):
    """An estimation to which samples are added in the order of the numbers."""
    covariance = Covariance(SHAPE)
    estimation = Estimation(make_sampler(), covariance, len(samples), target_error)
    for number in numbers:
        estimation.add(number, samples[number])
    return estimation


def test_an_estimate_stops_at_its_error_whatever_the_order():
    samples = [np.random.default_rng(n).standard_normal((2, 16)) for n in range(400)]
    in_order = np.arange(400)
    estimation = estimation_of(samples, in_order, 0.2)
    assert estimation.is_finished
    count = estimation.accumulator.count
    assert 4 < count < 400
    assert count % 2 == 0, "halves have the same size"
    assert estimation.accumulator.error() <= 0.2
    half = estimation_of(samples[: count // 2], range(count // 2))
    assert half.accumulator.error() > 0.2
    reordered = in_order.reshape(-1, 8)[:, ::-1].ravel()
    expected = estimation_of(samples, reordered, 0.2).nads()
    assert estimation.nads().directions.tobytes() == expected.directions.tobytes()


@pytest.mark.parametrize(
    ("source", "symmetry", "free", "stated"),
    [
        (Source(9), "none", 1e8, ["0.2 GB", "0.1 GB", "(first: 100)"]),
        (Source(512, first=9), "none", 3e8, ["0.4 GB", "method: plain"]),
        (Source(2, first=17), "none", 1e9, ["16 directions", "first 17"]),
        (Source(2, first=129), "square", 1e9, ["128 directions", "first 129"]),
        (Source(2, input=(1, 16, 64)), "square", 1e9, ["1×16×64", "symmetry square"]),
    ],
    ids=["memory", "memory of readout", "networks", "networks of a square", "side"],
)
def test_an_impossible_estimate_is_refused(source, symmetry, free, stated, monkeypatch):
    memory = psutil.virtual_memory()._replace(available=free)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)

    def build(seed):
        return nn.Sequential(nn.Flatten(), nn.Linear(1024, 8), nn.Linear(8, 1))

    sampler = Sampler(build, source.input, (0, "net"), SECANT)
    kind = "wrong-shape" if source.input != (1, 32, 32) else "out-of-range"
    with refused(kind) as caught:
        start_estimate(sampler, source, Symmetry(symmetry))
    for value in stated:
        assert value in str(caught.value)


class Tiny(nn.Sequential):
    """A network for images of twelve rows by eight."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(2, 3, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(3 * 10 * 6, 7),
            nn.Linear(7, 1),
        )


def estimate_tiny(shape=(2, 12, 8), networks=6, seed=3, **arguments):
    return estimate(Tiny, shape, networks, seed=seed, **arguments)


def test_the_library_call_estimates_nads_from_a_constructor():
    state = torch.get_rng_state()
    nads = estimate_tiny()
    assert torch.equal(torch.get_rng_state(), state)
    assert (nads.networks, nads.method, nads.estimand) == (6, "readout", "secant")
    assert (nads.shape, nads.symmetry) == ((2, 12, 8), "none")
    again = estimate_tiny(shape=[2, 12, 8])
    assert nads.directions.tobytes() == again.directions.tobytes()
    assert nads.directions.tobytes() != estimate_tiny(seed=4).directions.tobytes()
    leading = estimate_tiny(first=4)
    np.testing.assert_allclose(leading.eigenvalues, nads.eigenvalues[:4], rtol=1e-4)
    assert estimate_tiny(networks=90, error=0.5).networks < 90


@pytest.mark.parametrize(
    "arguments",
    [{}, {"method": "plain", "step": 5}, {"point": "many", "estimand": "gradient"}],
)
def test_the_directions_are_eigenvectors_of_the_mean_of_the_samples(arguments):
    """The mean is (1/N) Σ JᵀJ; `halves` are uᵀCu of even and odd networks."""
    estimator = dataclasses.replace(SECANT, symmetry=False, **arguments)

    def build(seed):
        torch.manual_seed(seed)
        return Tiny()

    sampler = Sampler(build, (2, 12, 8), (3, "library"), estimator)
    squares = []
    for number in range(6):
        jacobian = sampler(number).astype(float)
        squares.append(jacobian.T @ jacobian)
    even = sum(squares[::2]) / 3
    odd = sum(squares[1::2]) / 3
    nads = estimate_tiny(**arguments)
    u = nads.directions
    rounding = 1e-6 * nads.eigenvalues[0]
    expected = nads.eigenvalues[:, None] * u
    np.testing.assert_allclose(u @ (even + odd) / 2, expected, atol=rounding)
    halves = [((u @ even) * u).sum(1), ((u @ odd) * u).sum(1)]
    np.testing.assert_allclose(nads.halves, halves, atol=rounding)
    assert nads.method == estimator.method
    assert nads.step == estimator.step
    assert nads.point == estimator.point


class Symmetric(nn.Sequential):
    """A network with the symmetries of the square that ends in no linear layer."""

    def __init__(self, channels):
        super().__init__(
            nn.Conv2d(channels, 4, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(4, 1, 6),
            nn.Flatten(),
        )


@pytest.mark.parametrize("symmetry", ["transposition", "square", "measured"])
def test_the_library_call_averages_over_symmetries(symmetry, capsys):
    nads = estimate(lambda: Symmetric(1), (1, 6, 6), 30, symmetry=symmetry)
    assert nads.method == "plain"
    assert capsys.readouterr().err.startswith("notice: ")
    assert nads.symmetry == ("square" if symmetry == "measured" else symmetry)


def test_no_symmetry_is_measured_for_the_first_directions_only():
    with refused("conflict"):
        estimate_tiny(networks=4, symmetry="measured", first=3)


def test_two_channels_have_twice_as_many_directions_as_vectors():
    """Two networks give 14 vectors, one for each input of their last layers; by
    channel, 28 shorter ones, each in two colours."""
    for symmetry, count in (("none", 14), ("none+channels", 56)):
        nads = estimate_tiny(networks=2, symmetry=symmetry, first=count)
        assert len(nads.directions) == count
        with refused("out-of-range"):
            estimate_tiny(networks=2, symmetry=symmetry, first=count + 1)


@pytest.mark.parametrize("first", [None, 4])
def test_channels_that_are_alike_have_the_nads_of_one_channel_in_each_colour(first):
    """They are eigenvectors of the mean of the channels' blocks of C."""
    shape = (3, 6, 6)

    def estimate_symmetric(symmetry, first=None):
        return estimate(
            lambda: Symmetric(3), shape, 12, symmetry=symmetry, first=first, seed=2
        )

    nads = estimate_symmetric("square+channels", first)
    whole = estimate_symmetric("square")
    u = whole.directions.reshape(108, 3, 36)
    block = np.einsum("k,kci,kcj->ij", whole.eigenvalues, u, u) / 3
    c = np.kron(np.eye(3), block)
    count = 6 if first else 108
    assert nads.directions.shape == (count, 108)
    assert (nads.shape, nads.symmetry) == (shape, "square+channels")
    products = nads.directions @ nads.directions.T
    np.testing.assert_allclose(products, np.eye(count), atol=1e-5)
    rounding = 1e-5 * nads.eigenvalues[0]
    expected = nads.eigenvalues[:, None] * nads.directions
    np.testing.assert_allclose(nads.directions @ c, expected, atol=rounding)
    grey, red_green, blue_yellow = nads.directions[:3].reshape(3, 3, 36)
    np.testing.assert_allclose(grey, grey[[1, 2, 0]])
    expected = [red_green[0], -red_green[0], np.zeros(36)]
    np.testing.assert_allclose(red_green, expected, atol=1e-6)
    np.testing.assert_allclose(blue_yellow.sum(0), 0, atol=1e-6)
    assert nads.error < 0.6 * whole.error
    assert (nads.nearby % 3 == [0, 2]).all()


def test_the_overlap_in_colours_is_that_of_the_spans():
    """Of two halves whose directions are those of one channel in the same colours."""
    rng = np.random.default_rng(0)
    first = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    second = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    overlap = overlaps(first @ second.T)
    nads = dataclasses.replace(imported(first, (1, 2, 2)), overlap=overlap)
    colours = repeat_in_channels(nads, 3)
    others = repeat_in_channels(imported(second, (1, 2, 2)), 3)
    products = colours.directions @ others.directions.T
    np.testing.assert_allclose(colours.overlap, overlaps(products))


@pytest.mark.filterwarnings(
    "ignore:invalid value encountered:RuntimeWarning"
)  # in the sums
@pytest.mark.parametrize("make", [Covariance, lambda shape: Leading(shape, 2)])
@pytest.mark.parametrize("weight", [0.0, float("nan")])
def test_a_covariance_that_is_zero_or_not_finite_is_refused(weight, make):
    estimation = Estimation(make_sampler(), make(SHAPE), 6)
    for number in range(6):
        estimation.add(number, np.full((2, 16), weight, np.float32))
    with refused("network-derivative") as caught:
        estimation.nads()
    assert "(secant, step 100)" in str(caught.value)


@pytest.mark.parametrize("point", ["normal", "many", "zero"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_the_other_estimand_keeps_everything_but_a_symmetry_that_it_lacks(
    point, symmetry
):
    secant = dataclasses.replace(SECANT, point=point, symmetry=symmetry, compare=True)
    gradient = secant.swap_estimand()
    assert gradient.estimand == "gradient"
    assert gradient.symmetry == (symmetry and point != "normal")
    assert dataclasses.replace(gradient, estimand="secant", symmetry=symmetry) == secant


def make_small():
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 4), nn.ReLU(), nn.Linear(4, 1))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("networks", 8.0),
        ("networks", "8"),
        ("networks", torch.tensor(8.0)),
        ("shape", 8),
        ("shape", (1, 4.0, 4)),
        ("step", None),
        ("first", 4.0),
        ("seed", None),
    ],
)
def test_a_value_of_another_type_is_an_error(argument, value):
    arguments = {"make": make_small, "shape": SHAPE, "networks": 4, argument: value}
    with pytest.raises(TypeError):
        estimate(**arguments)


@pytest.mark.parametrize(
    ("argument", "value", "kind"),
    [
        ("shape", (1, 0, 4), "wrong-type"),
        ("shape", (4, 4), "wrong-type"),
        ("symmetry", "squares", "value"),
        ("estimand", None, "value"),
        ("method", "plane", "value"),
        ("point", 0, "value"),
        ("step", 1e9, "value"),
        ("error", 2, "value"),
        ("first", 0, "value"),
        ("make", None, "wrong-type"),
        ("make", make_small(), "wrong-type"),
    ],
)
def test_a_value_that_cannot_be_run_is_refused(argument, value, kind):
    arguments = {"make": make_small, "shape": SHAPE, "networks": 4, argument: value}
    with refused(kind):
        estimate(**arguments)


def test_a_device_that_is_not_there_is_refused():
    for device in ("xpu", "gpu", "meta"):
        with pytest.raises(InputError) as caught:
            estimate(make_small, SHAPE, 4, device=device)
        # A part of the sentence is PyTorch's.
        assert caught.value.kind == "missing-device"
        assert caught.value.fields == {"place": "device"}
    expected = estimate(make_small, SHAPE, 4)
    found = estimate(make_small, SHAPE, 4, device=torch.device("cpu"))
    np.testing.assert_array_equal(found.directions, expected.directions)


def test_numbers_of_libraries_are_numbers():
    plain = estimate(make_small, SHAPE, 4, step=10, seed=3)
    other = estimate(
        make_small,
        np.array(SHAPE),
        torch.tensor(4),
        step=np.float32(10),
        seed=np.int64(3),
    )
    np.testing.assert_array_equal(other.directions, plain.directions)
    assert type(other.networks) is int
    for make_scalar in (np.array, torch.tensor):
        step = make_scalar(10.0)
        error = make_scalar(0.01)
        seed = make_scalar(3)
        other = estimate(make_small, SHAPE, 4, step=step, error=error, seed=seed)
        np.testing.assert_array_equal(other.directions, plain.directions)


def test_a_seed_may_be_of_any_size():
    assert estimate(make_small, SHAPE, 4, seed=2**70).networks == 4


@contextlib.contextmanager
def use_less_precise_products():
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        assert torch.get_float32_matmul_precision() == "medium"
        torch.set_float32_matmul_precision(precision)


@pytest.mark.parametrize("estimand", ["secant", "gradient"])
@pytest.mark.parametrize(
    "make_context",
    [
        torch.inference_mode,
        torch.no_grad,
        lambda: torch.autocast("cpu"),
        lambda: torch.device("meta"),
        use_less_precise_products,
    ],
)
def test_the_library_call_does_not_depend_on_the_callers_context(
    estimand, make_context
):
    expected = estimate(make_small, SHAPE, 4, estimand=estimand)
    with make_context():
        found = estimate(make_small, SHAPE, 4, estimand=estimand)
    np.testing.assert_array_equal(found.directions, expected.directions)
    np.testing.assert_array_equal(found.eigenvalues, expected.eigenvalues)
