"""The estimates that a plan asks for, and the keys of their NADs."""

import dataclasses
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy
import torch
from nads_samples import GRADIENT, SECANT, SMALL, make_sampler
from torch import nn

from pipeline import networks
from pipeline.machine import code, store, workers
from pipeline.nads import NADs, estimate
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.estimator import Request, Source
from pipeline.nads.gallery import gallery
from pipeline.nads.leading import Leading
from pipeline.nads.task import NOT_IN_KEY, Task, make_key, run_on_workers

SHAPE = (1, 8, 8)
NINE = Request(SMALL, Source(9, input=SHAPE))


def make_estimation(accumulator=None, channels=1, **sampler_fields):
    """An estimate of nine networks."""
    sampler = make_sampler(estimator=GRADIENT)
    sampler = dataclasses.replace(sampler, **sampler_fields)
    accumulator = accumulator or Covariance(SHAPE)
    return Estimation(sampler, accumulator, 9, channels=channels)


def test_a_worker_computes_the_jacobian_of_the_network_with_its_number():
    sampler = make_sampler(estimator=GRADIENT)
    for number, jacobian in run_on_workers(sampler, [0, 1]):
        np.testing.assert_array_equal(jacobian, sampler(number))


def test_a_key_holds_all_that_determines_the_nads_and_nothing_else():
    def estimation_key(**fields):
        return make_key(NINE, make_estimation(**fields))

    def request_key(**fields):
        return make_key(dataclasses.replace(NINE, **fields), make_estimation())

    key = make_key(NINE, make_estimation())
    equivalent = dataclasses.replace(GRADIENT, compare=True, symmetry=False)
    assert estimation_key(estimator=equivalent) == key
    assert estimation_key(device="cuda:0") == estimation_key(device="cuda:1")
    first = Request(SMALL, Source(9, input=SHAPE, first=3))
    logreg = {"network": "pipeline.networks.mlp:LogReg", "side": 8}
    different = [
        estimation_key(device="cuda:0"),
        estimation_key(identity=(1, "net")),
        estimation_key(identity=(0, "other")),
        request_key(own={"own/mine.py": "0"}),
        request_key(own={"own/mine.py": "1"}),
        request_key(specification=SMALL | {"hidden": [8, 5]}),
        request_key(specification=logreg),
        request_key(source=Source(9, 0.1, SHAPE)),
        request_key(source=Source(10, input=SHAPE)),
        request_key(source=Source(9, input=(1, 4, 16))),
        estimation_key(estimator=SECANT),
        estimation_key(estimator=dataclasses.replace(GRADIENT, method="plain")),
        estimation_key(estimator=dataclasses.replace(GRADIENT, step=99.0)),
        estimation_key(estimator=dataclasses.replace(GRADIENT, point="many")),
        estimation_key(channels=3),
        estimation_key(accumulator=Covariance(SHAPE, "square")),
        make_key(first, make_estimation(Leading(SHAPE, 3))),
    ]
    assert len({key, *different}) == len(different) + 1


@pytest.fixture
def files(monkeypatch):
    """The files whose code is in the keys that a test makes."""
    found = []

    def digest(files):
        found.extend(Path(file) for file in files)
        return "code"

    monkeypatch.setattr(code, "digest", digest)
    return found


def test_a_key_holds_code_versions_and_the_distribution_of_the_weights(
    files, monkeypatch
):
    estimation = make_estimation()
    before = make_key(NINE, estimation)
    names = {str(file.relative_to(code.PACKAGE)) for file in files}
    assert {"nads/covariance.py", "training/seeds.py", "networks/mlp.py"} < names
    for library in (torch, np, scipy):
        with monkeypatch.context() as patch:
            patch.setattr(library, "__version__", "0")
            assert make_key(NINE, estimation) != before
    with monkeypatch.context() as patch:
        patch.setattr(networks, "version", lambda *_: "0")
        assert make_key(NINE, estimation) != before
    build = networks.build

    def build_differently(specification, channels, outputs, seed):
        return build(specification, channels, outputs, seed + 1)

    monkeypatch.setattr(networks, "build", build_differently)
    assert make_key(NINE, estimation) != before


def estimate_symmetries():
    """Estimate NADs of one channel and of three."""
    for channels, symmetry in ((1, "measured"), (3, "square+channels")):

        def make(pixels=channels * 64):
            return nn.Sequential(nn.Flatten(), nn.Linear(pixels, 1))

        estimate(make, (channels, 8, 8), 4, symmetry=symmetry)


def test_estimating_reaches_no_file_of_the_folder_that_its_key_leaves_out(files):
    """An edit of a legend, of `NADs.__repr__` or of the cache recomputes nothing."""
    make_key(NINE, make_estimation())
    for name in (NADs.__repr__, NADs.save, gallery, Task):
        assert Path(inspect.getfile(name)) not in files
    reached = set()

    def note_file(frame, event, _):
        if event == "call":
            reached.add(Path(frame.f_code.co_filename))

    sys.setprofile(note_file)
    try:
        estimate_symmetries()
    finally:
        sys.setprofile(None)
    folder = set(code.files_of("nads"))
    # The public call checks its arguments and hands them on.
    public = {code.PACKAGE / "nads/call.py", code.PACKAGE / "nads/arguments.py"}
    assert (reached & folder) - public <= set(files)
    assert {file.stem for file in folder - set(files)} == set(NOT_IN_KEY)


@pytest.mark.parametrize(
    ("network", "height", "width", "symmetry"),
    [
        ({"network": "resnet18", "width": 0.125}, 8, 8, "transposition"),
        ({"network": "resnet18", "width": 0.125}, 12, 8, "none"),
        ({"network": "convnext"}, 64, 64, "square"),
        ({"network": "convnext"}, 28, 28, "measured"),
        ({"network": "logreg", "side": 28}, 28, 28, "square"),
    ],
)
def test_inputs_have_the_symmetries_of_a_network_that_their_shape_allows(
    network, height, width, symmetry
):
    """Where strides may leave out the last rows, the square is measured."""
    specification = networks.specification(network)
    found = networks.symmetry_of_inputs(specification, (1, height, width))
    assert found.square == symmetry


def test_a_network_that_cannot_be_run_ends_the_estimate_and_caches_nothing(
    folder, monkeypatch
):
    def run(function, jobs, make_context, device):
        for number in jobs:
            error = ValueError("no memory")
            yield number, error if number == 3 else function(None, number)

    monkeypatch.setattr(workers, "run", run)
    task = Task("net", make_estimation(), "a" * 64)
    with pytest.raises(ValueError, match="^no memory$"):
        task.nads()
    assert not store.Store(store.default_folder()).holds("a" * 64)
