"""Estimates under way: in what order samples are added, when they end; and the library
call."""

import dataclasses

import numpy as np
import psutil
import pytest
import torch
from nads_samples import SECANT, make_sampler
from torch import nn

from pipeline.nads import estimate
from pipeline.nads.covariance import Covariance
from pipeline.nads.directions import imported
from pipeline.nads.estimation import Estimation, repeat_in_channels, start_estimate
from pipeline.nads.estimator import Source
from pipeline.nads.jacobian import Sampler
from pipeline.nads.leading import Leading
from pipeline.nads.spectrum import overlaps
from pipeline.networks import Symmetry
from pipeline.project.errors import InputError

SHAPE = (1, 4, 4)


def estimation(networks, target_error=None):
    return Estimation(make_sampler(), Covariance(SHAPE), networks, target_error)


def added(estimation, samples, numbers=None):
    """The estimation with the samples of these networks added, in this order."""
    for number in range(len(samples)) if numbers is None else numbers:
        estimation.add(number, samples[number])
    return estimation


def test_an_estimate_stops_at_its_error_whatever_the_order():
    samples = [np.random.default_rng(n).standard_normal((2, 16)) for n in range(400)]
    one = added(estimation(400, 0.2), samples)
    shuffled = added(
        estimation(400, 0.2), samples, np.arange(400).reshape(-1, 8)[:, ::-1].ravel()
    )
    assert one.is_finished
    count = one.accumulator.count
    assert 4 < count < 400 and count % 2 == 0, "a look is at halves of one size"
    assert (
        one.accumulator.error()
        <= 0.2
        < added(estimation(count // 2), samples).accumulator.error()
    )
    assert one.nads().directions.tobytes() == shuffled.nads().directions.tobytes()


@pytest.mark.parametrize(
    ("source", "symmetry", "free", "sentence"),
    [
        (Source(9), "none", 1e8, r"^NADs of inputs 1×32×32 \(D = 1,024\) from 9 networks need "
         r"0\.2 GB and 0\.1 GB are free; ask for the first directions \(first: 100\)$"),
        (Source(512, first=9), "none", 3e8, "need 0.4 GB .*; ask for fewer networks or for method"),
        (Source(2, first=17), "none", 1e9, "^2 networks give 16 vectors, too few for the first 17"),
        (Source(2, first=129), "square", 1e9, "^2 networks give 128 vectors, too few for the "),
        (Source(2, input=(1, 16, 64)), "square", 1e9, "^inputs of 1×16×64 are not square, .* squa"),
    ],
)  # fmt: skip
def test_an_estimate_that_cannot_be(source, symmetry, free, sentence, monkeypatch):
    memory = psutil.virtual_memory()._replace(available=free)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)

    def build(seed):
        return nn.Sequential(nn.Flatten(), nn.Linear(1024, 8), nn.Linear(8, 1))

    with pytest.raises(InputError, match=sentence):
        start_estimate(
            Sampler(build, source.input, (0, "net"), SECANT), source, Symmetry(symmetry)
        )


class Tiny(nn.Sequential):
    """A network of a user's, for images of twelve rows by eight."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(2, 3, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(3 * 10 * 6, 7),
            nn.Linear(7, 1),
        )


def call(make=Tiny, **arguments):
    return estimate(make, **{"shape": (2, 12, 8), "networks": 6, "seed": 3} | arguments)


def test_the_library_call_takes_a_constructor_to_nads():
    state = torch.get_rng_state()
    nads = call()
    assert torch.equal(torch.get_rng_state(), state), (
        "the caller's random numbers are left alone"
    )
    assert (nads.networks, nads.method, nads.estimand) == (6, "readout", "secant")
    assert (nads.shape, nads.symmetry) == ((2, 12, 8), "none")
    assert nads.directions.tobytes() == call(shape=[2, 12, 8]).directions.tobytes()
    assert nads.directions.tobytes() != call(seed=4).directions.tobytes()
    np.testing.assert_allclose(
        call(first=4).eigenvalues, nads.eigenvalues[:4], rtol=1e-4
    )
    assert call(networks=90, error=0.5).networks < 90


@pytest.mark.parametrize(
    "arguments",
    [{}, {"method": "plain", "step": 5}, {"point": "many", "estimand": "gradient"}],
)
def test_the_library_call_takes_the_mean_over_the_networks_that_it_names(arguments):
    """The directions are eigenvectors of the mean of the very samples, (1/N) Σ JᵀJ, and
    `halves` are uᵀCu by those of even and of odd number."""
    estimator = dataclasses.replace(SECANT, symmetry=False, **arguments)

    def build(seed):
        torch.manual_seed(seed)
        return Tiny()

    networks = Sampler(build, (2, 12, 8), (3, "library"), estimator)
    made = [networks(number).astype(float) for number in range(6)]
    even, odd = (sum(j.T @ j for j in made[half::2]) / 3 for half in (0, 1))
    nads = call(**arguments)
    u = nads.directions
    rounding = 1e-6 * nads.eigenvalues[0]
    expected = nads.eigenvalues[:, None] * u
    np.testing.assert_allclose(u @ (even + odd) / 2, expected, atol=rounding)
    halves = [((u @ half) * u).sum(1) for half in (even, odd)]
    np.testing.assert_allclose(nads.halves, halves, atol=rounding)
    for name in ("method", "step", "point"):
        assert getattr(nads, name) == getattr(estimator, name)


@pytest.mark.parametrize("symmetry", ["transposition", "square", "measured"])
def test_the_library_call_averages_over_symmetries(symmetry, capsys):
    """Of a network with those of the square, which does not end in a linear layer."""

    def layers():
        return (
            nn.Conv2d(1, 4, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(4, 1, 6),
            nn.Flatten(),
        )

    nads = estimate(lambda: nn.Sequential(*layers()), (1, 6, 6), 30, symmetry=symmetry)
    assert nads.method == "plain"
    assert (
        "notice: the network does not end in a linear layer" in capsys.readouterr().err
    )
    assert nads.symmetry == ("square" if symmetry == "measured" else symmetry)


@pytest.mark.parametrize("first", [None, 4])
def test_channels_that_are_alike_have_the_nads_of_one_each_in_every_colour(first):
    """The mean of the channels' blocks of a C that is found without this symmetry has
    them."""

    def layers():
        return (
            nn.Conv2d(3, 4, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(4, 1, 6),
            nn.Flatten(),
        )

    def make():
        return nn.Sequential(*layers())

    shape = (3, 6, 6)
    arguments = {"networks": 12, "seed": 2}
    nads = estimate(make, shape, symmetry="square+channels", first=first, **arguments)
    whole = estimate(make, shape, symmetry="square", **arguments)
    u = whole.directions.reshape(108, 3, 36)
    values = whole.eigenvalues
    c = np.kron(np.eye(3), np.einsum("k,kci,kcj->ij", values, u, u) / 3)
    count = 6 if first else 108
    assert nads.directions.shape == (count, 108)
    assert (nads.shape, nads.symmetry) == (shape, "square+channels")
    products = nads.directions @ nads.directions.T
    np.testing.assert_allclose(products, np.eye(count), atol=1e-5)
    expected = nads.eigenvalues[:, None] * nads.directions
    np.testing.assert_allclose(
        nads.directions @ c, expected, atol=1e-5 * nads.eigenvalues[0]
    )
    grey, red_green, blue_yellow = nads.directions[:3].reshape(3, 3, 36)
    np.testing.assert_allclose(grey, grey[[1, 2, 0]])
    np.testing.assert_allclose(
        red_green, [red_green[0], -red_green[0], np.zeros(36)], atol=1e-6
    )
    np.testing.assert_allclose(blue_yellow.sum(0), 0, atol=1e-6)
    assert nads.error < 0.6 * whole.error
    assert (nads.nearby % 3 == [0, 2]).all()


def test_the_overlap_in_colours_is_that_of_the_spans():
    """Of two halves whose directions are those of one channel in the same colours."""
    rng = np.random.default_rng(0)
    one, other = (np.linalg.qr(rng.standard_normal((4, 4)))[0] for _ in range(2))
    nads, second = (imported(half, (1, 2, 2)) for half in (one, other))
    nads = repeat_in_channels(
        dataclasses.replace(nads, overlap=overlaps(one @ other.T)), 3
    )
    products = nads.directions @ repeat_in_channels(second, 3).directions.T
    np.testing.assert_allclose(nads.overlap, overlaps(products))


@pytest.mark.filterwarnings(
    "ignore:invalid value encountered:RuntimeWarning"
)  # in the sums
@pytest.mark.parametrize("first", [None, 2])
@pytest.mark.parametrize("weight", [0.0, float("nan")])
def test_a_covariance_that_is_zero_or_no_number_is_refused(weight, first):
    accumulator = Covariance(SHAPE) if first is None else Leading(SHAPE, first)
    zero = added(
        Estimation(make_sampler(), accumulator, 6),
        [np.full((2, 16), weight, np.float32)] * 6,
    )
    sentence = r"^C, the covariance .* \(secant, step 100\), is zero or not finite; take another"
    with pytest.raises(InputError, match=sentence):
        zero.nads()


@pytest.mark.parametrize("point", ["normal", "many", "zero"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_the_other_estimand_keeps_everything_but_a_symmetry_that_it_lacks(
    point, symmetry
):
    secant = dataclasses.replace(SECANT, point=point, symmetry=symmetry, compare=True)
    expected = symmetry and point != "normal"
    assert secant.swap_estimand() == dataclasses.replace(
        secant, estimand="gradient", symmetry=expected
    )
