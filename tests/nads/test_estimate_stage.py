"""The stage `estimate`: what it writes, stopped and resumed, refused, and NADs from a
file."""

import dataclasses
import json
import sys
import time

import numpy as np
import pytest
from hand_overs import lay_down_plans
from nads_samples import SECANT, nads_of, sampler

import pipeline
from pipeline import estimate
from pipeline.machine import store, workers
from pipeline.nads import imported
from pipeline.nads.estimator import NADsPlan, Request, Source
from pipeline.project import artifacts
from pipeline.project.errors import InputError

NETWORK = {"network": "pipeline.networks.mlp:MLP", "hidden": [9, 5], "side": 8}
METRICS = artifacts.REPORTS / "nads.json"
COMPARED = dataclasses.replace(SECANT, compare=True)


@pytest.fixture
def here(monkeypatch):
    """The (estimate, number) of each network that is sampled, all of them in this
    process."""
    sampled = []

    def run(function, jobs, make_context, device):
        (of_one_estimate,) = function.args
        for number in jobs:
            sampled.append((of_one_estimate.identity[1], number))
            yield number, function(make_context(), number)

    monkeypatch.setattr(workers, "run", run)
    return sampled


def source(networks, **others):
    """A source of NADs for `NETWORK`."""
    return Source(networks, **{"input": (1, 8, 8)} | others)


def write(specification=NETWORK, estimator=SECANT, own=(), **sources):
    """The plan of these NADs."""
    own = {file: artifacts.file_digest(file) for file in own}
    members = {
        name: Request(specification, each, own) for name, each in sources.items()
    }
    plans = {
        "nads": NADsPlan("smoke", 7, estimator, members),
        "machine": {"device": "cpu"},
    }
    lay_down_plans(**plans)


def contents(name="net"):
    return (artifacts.NADS / f"{name}.npz").read_bytes()


def test_the_nads_of_both_estimands_are_written_with_what_is_known_of_them(
    folder, here, capsys
):
    write(estimator=COMPARED, net=source(6), leading=source(4, first=3))
    estimate.main()
    files = {path.name for path in artifacts.NADS.iterdir()}
    assert files == {"net.npz", "net.gradient.npz", "leading.npz"}
    lines = capsys.readouterr().out.splitlines()
    metrics = json.loads(METRICS.read_text())
    ways = (COMPARED, "square"), (COMPARED.other(), "none")
    names = ("net", None), ("net.gradient", "gradient")
    for line, (name, estimand), (estimator, symmetry) in zip(
        lines, names, ways, strict=True
    ):
        networks = sampler(NETWORK, (7, name), estimator)
        expected = nads_of(networks, 6, symmetry)
        written = artifacts.read_nads("net", estimand)
        assert list(written) == [field.name for field in dataclasses.fields(expected)]
        for field, array in written.items():
            np.testing.assert_array_equal(array, getattr(expected, field))
        first = np.sqrt(expected.eigenvalues[0])
        assert metrics[name]["first_singular_value"] == float(f"{first:.4g}")
        assert metrics[name]["relative_error"] == float(f"{expected.error:.3g}")
        assert metrics[name]["overlap_of_first_10"] == float(
            f"{expected.overlap[9]:.3g}"
        )
        assert (
            f"{name}: NADs ({estimator.estimand}) from 6 networks, averaged over "
            f"{expected.symmetry}" in line
        )
        assert (
            f"{expected.error:.3f}, first singular value × 100: {100 * first:.4g}; 0."
            in line
        )
    sampled = [("net", 6), ("net.gradient", 6), ("leading", 4)]
    assert here == [(name, n) for name, count in sampled for n in range(count)]
    leading = artifacts.read_nads("leading")
    assert leading["directions"].shape == (3, 64)
    assert metrics["leading"]["overlap_of_first_10"] == float(
        f"{leading['overlap'][2]:.3g}"
    )


def test_nads_are_taken_from_what_was_kept(folder, here):
    write(net=source(12))
    estimate.main()
    whole = contents()
    estimate.main()
    assert here == [("net", n) for n in range(12)] and contents() == whole
    (path,) = folder.glob(".cells/*/*.safetensors")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:1000])
    estimate.main()
    assert len(here) == 24 and contents() == whole, "a broken file is as none"


OWN = """from torch import nn


def flat(channels, outputs):
    hidden = nn.Linear(channels * 36, 40)
    return nn.Sequential(nn.Flatten(), hidden, nn.ReLU(), nn.Linear(40, outputs))
"""


def test_a_network_of_ones_own_is_averaged_over_what_it_is_measured_to_have_and_stays_as_planned(
    folder, here, capsys, monkeypatch
):
    monkeypatch.syspath_prepend(folder)
    (folder / "mine.py").write_text(OWN)
    monkeypatch.setattr(pipeline, "STARTED", time.time() + 1)  # later than the file
    write({"network": "mine:flat"}, own=["mine.py"], mine=Source(24, input=(2, 6, 6)))
    estimate.main()
    sys.modules.pop("mine")
    assert (
        "mine: NADs (secant) from 24 networks, averaged over square"
        in capsys.readouterr().out
    )
    nads = artifacts.read_nads("mine")
    assert nads["directions"].shape == (72, 72) and tuple(nads["shape"]) == (2, 6, 6)
    (folder / "mine.py").write_text(OWN.replace("ReLU", "Tanh"))
    with pytest.raises(
        InputError, match=r"^mine\.py was edited since it was planned; run `python"
    ):
        estimate.main()
    assert len(here) == 24


def test_nads_from_a_file(folder, here, capsys):
    rows = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0][:63]
    np.save(folder / "theirs.npy", rows)
    write(own=["theirs.npy"], net=Source(file="theirs.npy", input=(1, 8, 8)))
    estimate.main()
    assert capsys.readouterr().out == "net: 64 NADs from theirs.npy\n"
    expected = imported(rows, (1, 8, 8))
    written = artifacts.read_nads("net")
    for field in dataclasses.fields(expected):
        np.testing.assert_array_equal(
            written[field.name], getattr(expected, field.name)
        )
    assert json.loads(METRICS.read_text()) == {}


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            source(2, first=64),
            "2 networks give 10 vectors, too few for the first 64 directions",
        ),
        (
            Source(file="theirs.npy"),
            "the NADs theirs.npy cannot be read: .* No such file",
        ),
    ],
)
def test_what_cannot_be_estimated_is_refused_by_its_name_in_params(
    folder, here, asked, sentence
):
    write(
        estimator=dataclasses.replace(SECANT, symmetry=False),
        other=source(2),
        net=asked,
    )
    with pytest.raises(InputError, match=f"^nads.net: {sentence}"):
        estimate.main()
    assert here == [], "before any work"


def test_an_estimate_that_was_stopped_goes_on_with_what_was_not_finished(
    folder, here, monkeypatch
):
    write(other=source(20), net=source(30))
    put = store.Store.put

    def last(*contents):
        put(*contents)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "put", last)
        with pytest.raises(KeyboardInterrupt):
            estimate.main()
    assert not artifacts.NADS.exists()
    estimate.main()
    assert here == [("other", n) for n in range(20)] + [("net", n) for n in range(30)]
