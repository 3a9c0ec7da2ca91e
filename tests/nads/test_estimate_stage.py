"""The stage `estimate`: what it writes, caches, resumes and refuses."""

import dataclasses
import json
import sys
import time

import numpy as np
import pytest
from hand_overs import lay_down_plans
from nads_samples import SECANT, make_sampler, nads_of
from refusals import refused

from pipeline import estimate
from pipeline.machine import store, workers
from pipeline.nads import imported
from pipeline.nads.estimator import NADsPlan, Request, Source
from pipeline.project import artifacts, errors

NETWORK = {"network": "pipeline.networks.mlp:MLP", "hidden": [9, 5], "side": 8}
METRICS = artifacts.REPORTS / "nads.json"
SHAPE = (1, 8, 8)


@pytest.fixture
def sampled(monkeypatch):
    """The (estimate, number) of each network that is sampled, all in this process."""
    found = []

    def run(function, jobs, make_context, device):
        (sampler,) = function.args
        _, name = sampler.identity
        for number in jobs:
            found.append((name, number))
            yield number, function(make_context(), number)

    monkeypatch.setattr(workers, "run", run)
    return found


def networks_of(name, count):
    return [(name, number) for number in range(count)]


def write_plan(sources, specification=NETWORK, estimator=SECANT, own=()):
    """Write the plan of NADs from these sources by name."""
    digests = {file: artifacts.file_digest(file) for file in own}
    members = {}
    for name, source in sources.items():
        members[name] = Request(specification, source, digests)
    nads = NADsPlan("smoke", 7, estimator, members)
    lay_down_plans(nads=nads, machine={"device": "cpu", "engine": "eager"})


def assert_written(name, expected):
    """Assert that the file of an estimate holds these NADs."""
    with np.load(artifacts.NADS / f"{name}.npz") as written:
        assert list(written) == [field.name for field in dataclasses.fields(expected)]
        for field, array in written.items():
            np.testing.assert_array_equal(array, getattr(expected, field))


def test_the_nads_of_both_estimands_are_written_with_what_is_known_of_them(
    folder, sampled, capsys
):
    secant = dataclasses.replace(SECANT, compare=True)
    sources = {
        "net": Source(6, input=SHAPE),
        "leading": Source(4, input=SHAPE, first=3),
    }
    write_plan(sources, estimator=secant)
    estimate.main()
    files = {path.name for path in artifacts.NADS.iterdir()}
    assert files == {"net.npz", "net.gradient.npz", "leading.npz", "plan.json"}
    lines = capsys.readouterr().out.splitlines()
    metrics = json.loads(METRICS.read_text())
    cases = [
        (lines[0], "net", secant, "square"),
        (lines[1], "net.gradient", secant.swap_estimand(), "none"),
    ]
    for line, name, estimator, symmetry in cases:
        sampler = make_sampler(NETWORK, (7, name), estimator)
        expected = nads_of(sampler, 6, symmetry)
        assert_written(name, expected)
        first = np.sqrt(expected.eigenvalues[0])
        overlap = expected.overlap[9]
        assert metrics[name]["first_singular_value"] == float(f"{first:.4g}")
        assert metrics[name]["relative_error"] == float(f"{expected.error:.3g}")
        assert metrics[name]["overlap_of_first_10"] == float(f"{overlap:.3g}")
        assert line.startswith(
            f"{name}: NADs ({estimator.estimand}) from 6 networks, averaged over "
            f"{symmetry}, relative error of C {expected.error:.3f}, first singular "
            f"value × 100: {100 * first:.4g}; 0."
        )
    expected = networks_of("net", 6) + networks_of("net.gradient", 6)
    assert sampled == expected + networks_of("leading", 4)
    leading = artifacts.read_nads("leading")
    assert leading["directions"].shape == (3, 64)
    overlap = float(f"{leading['overlap'][2]:.3g}")
    assert metrics["leading"]["overlap_of_first_10"] == overlap


def test_nads_are_taken_from_the_cache(folder, sampled):
    def contents():
        return (artifacts.NADS / "net.npz").read_bytes()

    write_plan({"net": Source(12, input=SHAPE)})
    estimate.main()
    whole = contents()
    estimate.main()
    assert sampled == networks_of("net", 12)
    assert contents() == whole
    (path,) = folder.glob(".cells/*/*.safetensors")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:1000])
    estimate.main()
    assert len(sampled) == 24, "a broken file does not count"
    assert contents() == whole


OWN = """from torch import nn


def flat(channels, outputs):
    hidden = nn.Linear(channels * 36, 40)
    return nn.Sequential(nn.Flatten(), hidden, nn.ReLU(), nn.Linear(40, outputs))
"""


def test_the_symmetry_of_your_own_network_is_measured(
    folder, sampled, capsys, monkeypatch
):
    monkeypatch.syspath_prepend(folder)
    (folder / "mine.py").write_text(OWN)
    monkeypatch.setattr(errors, "STARTED", time.time() + 1)  # later than the file
    source = Source(24, input=(2, 6, 6))
    write_plan({"mine": source}, {"network": "mine:flat"}, own=["mine.py"])
    estimate.main()
    sys.modules.pop("mine")
    printed = "mine: NADs (secant) from 24 networks, averaged over square"
    assert printed in capsys.readouterr().out
    nads = artifacts.read_nads("mine")
    assert nads["directions"].shape == (72, 72)
    assert tuple(nads["shape"]) == (2, 6, 6)
    (folder / "mine.py").write_text(OWN.replace("ReLU", "Tanh"))
    with refused("stale", path="mine.py"):
        estimate.main()
    assert len(sampled) == 24


def test_nads_from_a_file(folder, capsys):
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0]
    np.save(folder / "theirs.npy", basis[:63])
    source = Source(file="theirs.npy", input=SHAPE)
    write_plan({"net": source}, own=["theirs.npy"])
    estimate.main()
    assert capsys.readouterr().out == "net: 64 NADs from theirs.npy\n"
    assert_written("net", imported(basis[:63], SHAPE))
    assert json.loads(METRICS.read_text()) == {}


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (Source(2, input=SHAPE, first=64), "out-of-range"),
        (Source(file="theirs.npy"), "unreadable-file"),
    ],
    ids=["too few networks", "no file"],
)
def test_an_impossible_estimate_is_refused_by_its_name_before_any_work(
    folder, sampled, source, kind
):
    estimator = dataclasses.replace(SECANT, symmetry=False)
    write_plan({"other": Source(2, input=SHAPE), "net": source}, estimator=estimator)
    with refused(kind, place="nads.net"):
        estimate.main()
    assert sampled == []


def test_a_stopped_stage_resumes_with_what_was_not_finished(
    folder, sampled, monkeypatch
):
    write_plan({"other": Source(20, input=SHAPE), "net": Source(30, input=SHAPE)})
    put = store.Store.put

    def put_and_stop(*contents):
        put(*contents)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "put", put_and_stop)
        with pytest.raises(KeyboardInterrupt):
            estimate.main()
    assert not artifacts.NADS.exists()
    estimate.main()
    assert sampled == networks_of("other", 20) + networks_of("net", 30)
