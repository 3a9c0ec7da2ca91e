"""The estimates that a plan asks for, and the keys of their NADs."""

import dataclasses
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest
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
from pipeline.nads.task import Task, make_key, run_on_workers

SHAPE = (1, 8, 8)
NINE = Request(SMALL, Source(9, input=SHAPE))


def of(accumulator, channels=1, **of_the_sampler):
    """An estimate of nine networks."""
    networks = dataclasses.replace(make_sampler(estimator=GRADIENT), **of_the_sampler)
    return Estimation(networks, accumulator, 9, channels=channels)


def test_a_worker_makes_the_jacobian_of_the_networks_number():
    for number, made in run_on_workers(
        networks := make_sampler(estimator=GRADIENT), [0, 1]
    ):
        np.testing.assert_array_equal(made, networks(number))


def test_a_key_holds_all_that_decides_the_nads_and_nothing_else():
    def changed(**fields):
        return make_key(NINE, of(Covariance(SHAPE), **fields))

    def asked(**fields):
        return make_key(dataclasses.replace(NINE, **fields), of(Covariance(SHAPE)))

    same = make_key(NINE, of(Covariance(SHAPE)))
    of_others = dataclasses.replace(GRADIENT, compare=True, symmetry=False)
    assert changed(estimator=of_others) == same
    assert changed(device="cuda:0") == changed(device="cuda:1")
    others = [
        changed(device="cuda:0"),
        changed(identity=(1, "net")),
        changed(identity=(0, "other")),
        asked(own={"own/mine.py": "0"}),
        asked(own={"own/mine.py": "1"}),
        asked(specification=SMALL | {"hidden": [8, 5]}),
        asked(specification={"network": "pipeline.networks.mlp:LogReg", "side": 8}),
        asked(source=Source(9, 0.1, SHAPE)),
        asked(source=Source(10, input=SHAPE)),
        asked(source=Source(9, input=(1, 4, 16))),
        changed(estimator=SECANT),
        changed(estimator=dataclasses.replace(GRADIENT, method="plain")),
        changed(estimator=dataclasses.replace(GRADIENT, step=99.0)),
        changed(estimator=dataclasses.replace(GRADIENT, point="many")),
        changed(channels=3),
        make_key(NINE, of(Covariance(SHAPE, "square"))),
        make_key(
            Request(SMALL, Source(9, input=SHAPE, first=3)), of(Leading(SHAPE, 3))
        ),
    ]
    assert len({same, *others}) == len(others) + 1


def test_a_key_holds_the_code_the_versions_and_the_law_of_the_weights(monkeypatch):
    files = []
    estimation = of(Covariance(SHAPE))
    monkeypatch.setattr(code, "digest", lambda given: files.extend(given) or "code")
    before = make_key(NINE, estimation)
    names = {str(Path(file).relative_to(code.PACKAGE)) for file in files}
    assert names > {
        "nads/covariance.py",
        "nads/readout.py",
        "training/seeds.py",
        "networks/mlp.py",
    }
    for module, name, other in (
        (torch, "__version__", "0"),
        (networks, "version", lambda *_: "0"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, other)
            assert make_key(NINE, estimation) != before
    build = networks.build

    def drawn_otherwise(*arguments):
        return build(*arguments[:-1], arguments[-1] + 1)

    monkeypatch.setattr(networks, "build", drawn_otherwise)
    assert make_key(NINE, estimation) != before


def test_estimating_reaches_no_file_of_the_room_that_its_key_leaves_out(
    folder, monkeypatch
):
    """An edit of a legend, of `NADs.__repr__` or of what stores NADs estimates nothing
    anew."""
    files = []
    reached = set()
    with monkeypatch.context() as patch:
        patch.setattr(code, "digest", lambda given: files.extend(given) or "code")
        make_key(NINE, of(Covariance(SHAPE)))
    shown = {
        Path(inspect.getfile(each))
        for each in (NADs.__repr__, NADs.save, gallery, Task)
    }
    assert not shown & set(files)

    def note(frame, event, _):
        if event == "call":
            reached.add(Path(frame.f_code.co_filename))

    sys.setprofile(note)
    try:
        for colour in (False, True):
            shape = (3 if colour else 1, 8, 8)

            def make():
                return nn.Sequential(nn.Flatten(), nn.Linear(64 * shape[0], 1))  # noqa: B023

            symmetry = "square+channels" if colour else "measured"
            estimate(make, shape, 4, symmetry=symmetry)
    finally:
        sys.setprofile(None)
    room = set(code.room("nads"))
    assert reached & room <= set(files) and {file.stem for file in room - set(files)} == {
        "__init__", "controversial", "directions", "gallery", "named", "task"
    }  # fmt: skip


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
def test_inputs_have_of_a_networks_symmetries_those_that_their_shape_can_have(
    network, height, width, symmetry
):
    """Where strides may leave out the last rows, the square is measured."""
    specification = networks.specification(network)
    assert (
        networks.symmetry_of_inputs(specification, (1, height, width)).square
        == symmetry
    )


def test_a_network_that_cannot_be_run_ends_the_estimate_and_keeps_nothing(
    folder, monkeypatch
):
    def run(function, jobs, make_context, device):
        for number in jobs:
            yield (
                number,
                ValueError("no memory") if number == 3 else function(None, number),
            )

    monkeypatch.setattr(workers, "run", run)
    task = Task("net", of(Covariance(SHAPE)), "a" * 64)
    with pytest.raises(ValueError, match="^no memory$"):
        task.nads()
    assert not store.Store(store.default_folder()).holds("a" * 64)
