"""Estimates under way: in what order samples are added, when they end, going on; and the library call."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import psutil
import pytest
import torch
from nads_samples import GRADIENT, SECANT, jacobians
from structure import ROOT
from torch import nn

from pipeline.nads import Covariance, Estimation, Leading, estimate, jacobian_of_untrained
from pipeline.nads.estimation import accumulator, stopping_count
from pipeline.nads.uncertainty import groups_of, nearby_of, standard_errors
from pipeline.project.errors import InputError

SHAPE = (1, 4, 4)


def estimation(networks, target_error=None):
    return Estimation(Covariance(SHAPE), networks, target_error)


def added(estimation, samples, numbers=None):
    """The estimation with the samples of these networks added, in this order."""
    for number in range(len(samples)) if numbers is None else numbers:
        estimation.add(number, samples[number])
    return estimation


def test_samples_are_added_in_their_order_and_none_after_the_end():
    samples = jacobians(9, 2, SHAPE)
    one, other = added(estimation(7), samples), estimation(7)
    for number, count in ((1, 0), (2, 0), (0, 3), (4, 3), (8, 3), (3, 5), (6, 5)):
        other.add(number, samples[number])
        assert other.accumulator.count == count
        assert not other.finished
    added(other, samples, [5, 7])
    assert other.finished
    assert one.accumulator.count == other.accumulator.count == 7
    np.testing.assert_array_equal(one.accumulator.sums, other.accumulator.sums)
    assert one.trace == other.trace


def test_the_error_is_looked_at_after_numbers_of_networks_that_grow_by_a_fifth():
    found = added(estimation(100), jacobians(100, 1, SHAPE))
    assert [count for count, _ in found.trace] == [4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 38, 44, 52, 62, 74, 88]
    assert found.target_error is None
    first = added(estimation(12), jacobians(100, 1, SHAPE))
    assert first.trace == found.trace[:5]
    assert first.trace[-1][1] == first.accumulator.error()


def test_an_estimate_stops_at_its_error_whatever_the_order():
    samples = [np.random.default_rng(n).standard_normal((2, 16)) for n in range(400)]
    one = added(estimation(400, 0.2), samples)
    shuffled = added(estimation(400, 0.2), samples, np.arange(400).reshape(-1, 8)[:, ::-1].ravel())
    assert one.finished
    assert 4 < one.accumulator.count < 400
    count, error = one.trace[-1]
    assert (count, error) == (one.accumulator.count, one.accumulator.error())
    assert error <= 0.2 < one.trace[-2][1]
    assert one.nads(SECANT).directions.tobytes() == shuffled.nads(SECANT).directions.tobytes()


def test_where_an_estimate_stops_is_told_from_its_trace():
    trace = [(4, 0.5), (6, 0.4), (8, 0.3)]
    assert [stopping_count(trace, error) for error in (0.6, 0.4, 0.31, 0.1, None)] == [4, 6, 8, None, None]
    assert stopping_count([], 0.5) is None
    assert isinstance(stopping_count(np.array(trace), 0.4), int)


def test_the_networks_that_an_estimate_is_expected_to_take():
    """The error falls with the square root of their number: twice too large takes four times as many."""
    under_way = estimation(100, 0.1)
    assert under_way.expected_networks() == 100
    under_way.trace = [(4, 0.3), (6, 0.2)]
    assert under_way.expected_networks() == 25
    under_way.trace = [(6, 0.5)]
    assert under_way.expected_networks() == 100
    under_way.trace, under_way.accumulator.count = [(6, 0.09)], 7
    assert under_way.expected_networks() == 7
    under_way.target_error = None
    assert under_way.expected_networks() == 100


@pytest.mark.parametrize("make", [lambda: Covariance(SHAPE, "measured"), lambda: Leading(SHAPE, 3)])
def test_twenty_networks_and_twenty_more_give_what_forty_give(make):
    samples = jacobians(40, 3, SHAPE)
    whole, first = added(Estimation(make(), 40), samples), added(Estimation(make(), 20), samples)
    assert first.finished
    assert first.accumulator.count == 20
    more = Estimation(make(), 40)
    more.restore(first.state(), 20)
    assert more.trace == first.trace
    assert not more.finished
    one, other = whole.nads(GRADIENT), added(more, samples, range(20, 40)).nads(GRADIENT)
    for field in dataclasses.fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


def test_the_nads_are_what_the_accumulator_and_the_estimator_say():
    samples = [jacobian * np.linspace(0.2, 1.8, 16).astype(np.float32) for jacobian in jacobians(12, 3, SHAPE)]
    found = added(Estimation(Covariance(SHAPE, "measured"), 12), samples)
    nads, spectrum = found.nads(SECANT), found.accumulator.spectrum()
    for field in ("directions", "eigenvalues", "halves", "overlap"):
        np.testing.assert_array_equal(getattr(nads, field), getattr(spectrum, field))
    errors = standard_errors(spectrum.eigenvalues, spectrum.parts, spectrum.sizes)
    np.testing.assert_array_equal(nads.standard_errors, errors)
    np.testing.assert_array_equal(nads.nearby, nearby_of(nads.eigenvalues, errors))
    np.testing.assert_array_equal(nads.groups, groups_of(nads.eigenvalues, errors))
    assert nads.symmetry == found.accumulator.averaged_over()
    assert nads.asymmetry == found.accumulator.asymmetry(nads.symmetry)
    assert (nads.error, nads.split_half) == (found.accumulator.error(), found.accumulator.split_half())
    assert nads.error != nads.split_half
    assert (nads.shape, nads.networks) == (SHAPE, 12)
    assert nads.trace.tolist() == [[4, found.trace[0][1]], *[list(look) for look in found.trace[1:]]]
    assert (nads.estimand, nads.method, nads.step, nads.point) == ("secant", "readout", 100.0, "normal")
    other = found.nads(dataclasses.replace(GRADIENT, method="plain", step=2.0, point="many"))
    assert (other.estimand, other.method, other.step, other.point) == ("gradient", "plain", 2.0, "many")


def test_an_estimate_that_does_not_fit_is_refused_with_the_figure():
    large = (3, 224, 224)
    sentence = (
        r"^NADs of inputs 3×224×224 \(D = 150,528\) from 9 networks need 2,719\.0 GB and 16\.0 GB are free; "
        r"ask for the leading directions only \(first: 100\)$"
    )
    with pytest.raises(InputError, match=sentence):
        accumulator(large, 1, 9, None, "none", 16e9)
    with pytest.raises(InputError, match="need 166.5 GB and 16.0 GB are free; ask for fewer networks$"):
        accumulator(large, 512, 100, 100, "none", 16e9)
    needed = Covariance.memory(SHAPE)
    assert isinstance(accumulator(SHAPE, 1, 9, None, "none", needed), Covariance)
    with pytest.raises(InputError, match="GB are free"):
        accumulator(SHAPE, 1, 9, None, "none", needed - 1)


@pytest.mark.parametrize(("symmetry", "order"), [("none", 1), ("transposition", 2), ("square", 8), ("measured", 1)])
def test_leading_directions_hold_the_vectors_of_all_networks_and_images(symmetry, order):
    needed = Leading.memory(SHAPE, 3 * 2 * order)
    found = accumulator(SHAPE, 3, 2, 4, symmetry, needed)
    assert isinstance(found, Leading)
    assert found.first == 4
    assert found.symmetry == ("none" if symmetry == "measured" else symmetry)
    with pytest.raises(InputError, match="ask for fewer networks"):
        accumulator(SHAPE, 3, 2, 4, symmetry, needed - 1)
    assert accumulator(SHAPE, 3, 2, 6 * order, symmetry, 1e9).first == 6 * order
    sentence = f"^2 networks give {6 * order} vectors, too few for the first {6 * order + 1} directions$"
    with pytest.raises(InputError, match=sentence):
        accumulator(SHAPE, 3, 2, 6 * order + 1, symmetry, 1e9)


def test_a_symmetry_that_the_inputs_cannot_have_is_refused():
    for symmetry in ("transposition", "square"):
        with pytest.raises(InputError, match=f"^inputs of 1×4×5 are not square, .* the symmetry {symmetry}$"):
            accumulator((1, 4, 5), 1, 2, None, symmetry, 1e9)
    assert accumulator((1, 4, 5), 1, 2, None, "measured", 1e9).symmetry == "measured"
    assert accumulator((1, 4, 5), 1, 2, None, "none", 1e9).shape == (1, 4, 5)


class Tiny(nn.Sequential):
    """A network of a user's, for images of twelve rows by eight."""

    def __init__(self):
        super().__init__(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 10 * 6, 7), nn.Linear(7, 1))


def call(**arguments):
    return estimate(Tiny, **{"shape": (2, 12, 8), "networks": 6, "seed": 3} | arguments)


def test_the_library_call_takes_a_constructor_to_nads():
    nads = call()
    assert nads.directions.shape == (192, 192)
    assert (nads.networks, nads.method, nads.estimand, nads.symmetry) == (6, "readout", "secant", "none")
    assert nads.shape == (2, 12, 8)
    np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(192), atol=1e-10)
    assert nads.directions.tobytes() == call(shape=[2, 12, 8]).directions.tobytes()
    assert nads.directions.tobytes() != call(seed=4).directions.tobytes()
    state = torch.get_rng_state()
    leading = call(first=4)
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    np.testing.assert_allclose(leading.eigenvalues, nads.eigenvalues[:4], rtol=1e-4)
    assert call(networks=90, error=0.5).networks < 90


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"estimand": "gradient"},
        {"method": "plain", "step": 5},
        {"point": "many", "estimand": "gradient"},
        {"point": "zero", "estimand": "gradient"},
    ],
)
def test_the_library_call_takes_the_mean_over_the_networks_that_it_names(arguments):
    """The directions are eigenvectors of the mean of the very samples, (1/N) Σ JᵀJ."""
    estimator = dataclasses.replace(SECANT, symmetry=False, **arguments)

    def build(seed):
        torch.manual_seed(seed)
        return Tiny()

    made = [jacobian_of_untrained(build, (2, 12, 8), n, (3, "library"), estimator).astype(float) for n in range(6)]
    mean = sum(jacobian.T @ jacobian for jacobian in made) / 6
    nads = call(**arguments)
    turned = nads.directions @ mean
    np.testing.assert_allclose(turned, nads.eigenvalues[:, None] * nads.directions, atol=1e-6 * nads.eigenvalues[0])
    assert (nads.method, nads.step, nads.point) == (estimator.method, estimator.step, estimator.point)
    assert isinstance(nads.step, float)


class Convolution(nn.Sequential):
    """A network whose law has the symmetries of the square, and that does not end in a linear layer."""

    def __init__(self):
        super().__init__(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 6), nn.Flatten())


@pytest.mark.parametrize("symmetry", ["transposition", "square", "measured"])
def test_the_library_call_averages_over_symmetries(symmetry, capsys):
    nads = estimate(Convolution, (1, 6, 6), 30, symmetry=symmetry)
    assert nads.method == "plain"
    assert "notice: the network does not end in a linear layer" in capsys.readouterr().out
    assert nads.symmetry == ("square" if symmetry == "measured" else symmetry)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"networks": 1}, r"networks must be at least 2 \(halves are compared\), not 1$"),
        ({"estimand": "hessian"}, "estimand must be one of secant, gradient, not 'hessian'$"),
        ({"method": "exact"}, "method must be one of readout, plain, not 'exact'$"),
        ({"point": "one"}, "point must be one of normal, many, zero, not 'one'$"),
        ({"step": 0.0}, "step must be positive, not 0.0$"),
        ({"step": "wide"}, "could not convert string to float: 'wide'$"),
        ({"symmetry": "rotation"}, "symmetry must be one of none, transposition, square or measured, not 'rotation'$"),
        ({"symmetry": "square", "estimand": "gradient"}, "symmetry does not hold for the gradient at one fixed image"),
        ({"symmetry": "square"}, "inputs of 2×12×8 are not square"),
        ({"error": 1.5}, "error must lie between 0 and 1, not 1.5$"),
        ({"first": 193}, "first must lie between 1 and 192, not 193$"),
        ({"shape": (12, 8)}, r"input must be \[channels, height, width\], not \(12, 8\)$"),
        ({"method": "plain", "first": 50}, "6 networks give 6 vectors, too few for the first 50 directions$"),
        ({"shape": (1, 12, 8)}, "the network does not take inputs of 1×12×8: "),
    ],
)
def test_what_the_library_call_refuses(arguments, sentence):
    with pytest.raises(InputError, match=f"^{sentence}"):
        call(**arguments)


def test_the_library_call_is_refused_what_this_machine_has_not(monkeypatch):
    def available(size):
        memory = psutil.virtual_memory()._replace(available=size)
        monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)

    available(Covariance.memory((2, 12, 8)) - 1)
    with pytest.raises(InputError, match=r"ask for the leading directions only \(first: 100\)$"):
        call()
    available(Leading.memory((2, 12, 8), 6 * 7) - 1)
    with pytest.raises(InputError, match="^NADs of inputs 2×12×8 .* GB are free; ask for fewer networks$"):
        call(first=5)
    available(Leading.memory((2, 12, 8), 6 * 7))
    assert call(first=5).directions.shape == (5, 192)


@pytest.mark.slow
def test_the_library_call_works_from_any_folder(tmp_path):
    program = (
        "from torch import nn\nfrom pipeline.nads import estimate\n"
        "make = lambda: nn.Sequential(nn.Flatten(), nn.Linear(16, 5), nn.Linear(5, 1))\n"
        "print(estimate(make, shape=(1, 4, 4), networks=4).directions.shape)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout == "(16, 16)\n"
    assert not list(tmp_path.iterdir())
