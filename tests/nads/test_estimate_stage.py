"""The stage `estimate`: what it writes, killed and resumed, stopped at an error, and NADs from a file."""

import dataclasses
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
import safetensors
import safetensors.numpy
from nads_samples import SECANT
from structure import ROOT

from pipeline import estimate, networks
from pipeline.machine import workers
from pipeline.nads import Covariance, Estimation, Estimator, Source, imported, jacobian_of_untrained, progress
from pipeline.nads.plan import NADsPlan, Request
from pipeline.project import artifacts
from pipeline.project.errors import InputError, one_sentence

NETWORK = {"network": "pipeline.networks.mlp:MLP", "hidden": [9, 5], "side": 8}


def source(networks, **others):
    """A source of NADs for `NETWORK`."""
    return Source(networks, **{"input": (1, 8, 8)} | others)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to run in, and a function that writes its plan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path)]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)

    def write(specification=NETWORK, reuse=True, estimator=SECANT, **sources):
        members = {name: Request(specification, each) for name, each in sources.items()}
        artifacts.write_json(artifacts.PLAN / "nads.json", dataclasses.asdict(NADsPlan("smoke", 7, estimator, members)))
        artifacts.write_json(artifacts.PLAN / "machine.json", {"device": "cpu", "reuse": reuse})

    return tmp_path, write


@pytest.fixture
def here(monkeypatch):
    """The work is done in this process; gives the list of the numbers of the networks that are sampled."""
    sampled = []

    def run(function, work, make_context, device):
        for position, item in enumerate(work):
            sampled.append(item[1])
            yield position, function(make_context(), item)

    monkeypatch.setattr(workers, "run", run)
    return sampled


def contents(name="net"):
    return (artifacts.NADS / f"{name}.npz").read_bytes()


def metrics():
    return json.loads((artifacts.REPORTS / "nads.json").read_text())


def directly(name, estimator, symmetry, count):
    """The NADs of an estimate without workers or store."""
    build = lambda seed: networks.build(NETWORK, 1, 1, seed)
    estimation = Estimation(Covariance((1, 8, 8), symmetry), count)
    for number in range(count):
        estimation.add(number, jacobian_of_untrained(build, (1, 8, 8), number, (7, name), estimator))
    return estimation.nads(estimator)


def test_the_nads_of_both_estimands_are_written_with_what_is_known_of_them(folder, here):
    _, write = folder
    compared = dataclasses.replace(SECANT, compare=True)
    write(estimator=compared, net=source(6))
    estimate.main()
    assert sorted(path.name for path in artifacts.NADS.iterdir()) == ["net.gradient.npz", "net.npz"]
    for name, estimand, estimator, symmetry in (
        ("net", None, compared, "square"),
        ("net.gradient", "gradient", compared.other(), "none"),
    ):
        expected, written = directly(name, estimator, symmetry, 6), artifacts.nads("net", estimand)
        assert list(written) == [field.name for field in dataclasses.fields(expected)]
        for field, array in written.items():
            np.testing.assert_array_equal(array, getattr(expected, field))
        first = np.sqrt(expected.eigenvalues[0])
        assert metrics()[name] == {
            "relative_error": float(f"{expected.error:.3g}"),
            "split_half": float(f"{expected.split_half:.3g}"),
            "networks": 6,
            "first_singular_value": float(f"{first:.4g}"),
            "overlap_of_first_10": float(f"{expected.overlap[9]:.3g}"),
        }
    assert here == [*range(6), *range(6)]


def test_the_lines_that_are_printed(folder, here, capsys):
    _, write = folder
    write(estimator=dataclasses.replace(SECANT, compare=True), net=source(4), leading=source(4, first=3))
    estimate.main()
    nads, lines = artifacts.nads("net"), capsys.readouterr().out.splitlines()
    assert [line.partition(" networks")[0] for line in lines] == [
        "net: NADs (secant) from 4",
        "net.gradient: NADs (gradient) from 4",
        "leading: NADs (secant) from 4",
    ], "leading directions are not compared"
    line, _, minutes = lines[0].partition("; ")
    assert line == (
        f"net: NADs (secant) from 4 networks, averaged over square, relative error of C {nads['error']:.3f}, "
        f"first singular value {np.sqrt(nads['eigenvalues'][0]):.4g}"
    )
    assert re.fullmatch(r"0\.\d min", minutes)
    assert artifacts.nads("leading")["directions"].shape == (3, 64)
    assert metrics()["leading"]["overlap_of_first_10"] == float(f"{artifacts.nads('leading')['overlap'][2]:.3g}")


def test_an_estimate_is_continued_and_cut_from_what_was_kept(folder, here):
    _, write = folder
    write(net=source(12))
    estimate.main()
    whole = contents()
    estimate.main()
    assert here == list(range(12))
    assert contents() == whole
    write(net=source(5))
    estimate.main()
    assert here[12:] == list(range(5)), "a kept state beyond the end is of no use"
    for path in (artifacts.NADS.parent.parent / ".cells").glob("nads/*/0000012.safetensors"):
        path.write_bytes(path.read_bytes()[:1000])
    write(net=source(12))
    estimate.main()
    assert here[17:] == list(range(5, 12)), "past the broken file"
    assert contents() == whole
    write(reuse=False, net=source(12))
    estimate.main()
    assert here[24:] == list(range(12))


def test_an_estimate_stops_at_a_wanted_error_whatever_was_kept(folder, here):
    _, write = folder
    write(net=source(99, error=0.3))
    estimate.main()
    stopped, count = contents(), metrics()["net"]["networks"]
    assert metrics()["net"]["relative_error"] <= 0.3
    assert 4 <= count < 99
    write(net=source(99))
    estimate.main()
    assert contents() != stopped
    write(net=source(99, error=0.3))
    estimate.main()
    assert contents() == stopped


def test_a_network_of_ones_own_is_averaged_over_what_it_is_measured_to_have(folder, here, capsys):
    root, write = folder
    (root / "mine.py").write_text(
        "from torch import nn\n\n\ndef flat(channels, outputs):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(channels * 36, 40), nn.ReLU(), nn.Linear(40, outputs))\n\n\n"
        "def odd(channels, outputs):\n    return nn.Sequential(flat(channels, outputs), nn.Tanh())\n"
    )
    small = Source(24, input=(2, 6, 6))
    write({"network": "mine:flat"}, mine=small, other=dataclasses.replace(small, first=5))
    estimate.main()
    assert "mine: NADs (secant) from 24 networks, averaged over square" in capsys.readouterr().out
    nads = artifacts.nads("mine")
    assert nads["directions"].shape == (72, 72)
    assert tuple(nads["shape"]) == (2, 6, 6)
    assert str(nads["symmetry"]) == "square"
    assert artifacts.nads("other")["directions"].shape == (5, 72)
    write({"network": "mine:odd"}, estimator=dataclasses.replace(SECANT, compare=True), odd=small)
    estimate.main()
    notice = (
        "notice: odd: the network does not end in a linear layer, so its read-out cannot be averaged over exactly; "
    )
    assert capsys.readouterr().err == f"{notice}its NADs use `plain`, which needs far more networks\n", "said once"
    assert str(artifacts.nads("odd")["method"]) == str(artifacts.nads("odd", "gradient")["method"]) == "plain"


def test_nads_from_a_file(folder, here, capsys):
    root, write = folder
    rows = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0][:63].astype(np.float32)
    np.save(root / "theirs.npy", rows)
    write(net=Source(file="theirs.npy", input=(1, 8, 8)))
    estimate.main()
    assert capsys.readouterr().out == "net: 64 NADs from theirs.npy\n"
    expected, written = imported(rows, (1, 8, 8)), artifacts.nads("net")
    for field in dataclasses.fields(expected):
        np.testing.assert_array_equal(written[field.name], getattr(expected, field.name))
    assert metrics() == {}
    assert here == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "the NADs theirs.npy cannot be read: No such file"),
        (b"text", "theirs.npy is not a .npy file of numbers"),
        (np.array([{"a": 1}]), "theirs.npy is not a .npy file of numbers: Object arrays cannot be loaded"),
        (np.ones((3, 64)), "theirs.npy holds rows that are not orthonormal"),
    ],
)
def test_what_is_refused_of_a_file(folder, content, sentence):
    root, write = folder
    if isinstance(content, bytes):
        (root / "theirs.npy").write_bytes(content)
    elif content is not None:
        np.save(root / "theirs.npy", content, allow_pickle=True)
    write(net=Source(file="theirs.npy", input=(1, 8, 8)))
    with pytest.raises(SystemExit, match=rf"^error: nads\.net: {sentence}"), one_sentence():
        estimate.main()


def test_what_cannot_be_estimated_is_refused_before_anything_is_removed(folder, here):
    _, write = folder
    write(net=source(4))
    estimate.main()
    write({"network": "torchvision.models:squeezenet1_1"}, net=Source(4, input=(3, 224, 224)))
    with pytest.raises(InputError, match=r"^nads\.net: NADs of inputs 3×224×224 .* need 2,719\.0 GB"):
        estimate.main()
    write(net=Source(4, input=(1, 8, 9)))
    with pytest.raises(InputError, match=r"^nads\.net: the network does not take inputs of 1×8×9: "):
        estimate.main()
    write({"network": "mine:missing"}, net=source(4))
    with pytest.raises(InputError, match=r"^nads\.net: the network 'mine:missing' cannot be imported"):
        estimate.main()
    assert (artifacts.NADS / "net.npz").exists()


def test_memory_is_left_for_the_workers(folder, here, monkeypatch):
    _, write = folder
    write(net=source(4))
    needed = int(Covariance.memory((1, 8, 8)) + estimate.WORKER * 3)
    monkeypatch.setattr(workers, "cores", lambda: 3)
    for free, refused in ((needed, False), (needed - 1, True)):
        memory = psutil.virtual_memory()._replace(available=free)
        monkeypatch.setattr(psutil, "virtual_memory", lambda memory=memory: memory)
        if refused:
            with pytest.raises(InputError, match="GB are free"):
                estimate.main()
        else:
            estimate.main()


def test_numbers_that_are_not_known_are_no_metrics():
    nads = dataclasses.replace(imported(np.eye(4), (1, 2, 2)), eigenvalues=np.array([4.00012, 1, 1, 1]), error=0.12345)
    assert estimate.metrics_of(nads) == {
        "relative_error": 0.123,
        "split_half": None,
        "networks": 0,
        "first_singular_value": 2.0,
        "overlap_of_first_10": None,
    }


def test_without_symmetries_nothing_is_averaged(folder, here):
    _, write = folder
    write(estimator=Estimator("secant", "plain", 50.0, "zero", False, False), net=source(3))
    estimate.main()
    nads = artifacts.nads("net")
    found = [str(nads[name]) for name in ("symmetry", "method", "step", "point")]
    assert found == ["none", "plain", "50.0", "zero"]


@pytest.mark.slow
def test_a_killed_estimate_goes_on_where_it_stopped_and_gives_the_same_bytes(folder, monkeypatch):
    root, write = folder
    write(net=source(300, input=(1, 8, 8)))
    monkeypatch.setattr(progress, "KEEP_EVERY", 0)
    eager = (
        "from pipeline import estimate\nfrom pipeline.nads import progress\nprogress.KEEP_EVERY = 0.2\n"
        "if __name__ == '__main__': estimate.main()"
    )
    (root / "eager.py").write_text(eager)
    process = subprocess.Popen([sys.executable, "eager.py"], start_new_session=True, stdout=subprocess.DEVNULL)
    while process.poll() is None and not list(root.glob(".cells/nads/*/*.safetensors")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (kept,) = (int(path.stem) for path in root.glob(".cells/nads/*/[0-9]*.safetensors"))
    assert 0 < kept < 300
    assert not (artifacts.NADS / "net.npz").exists()

    taken, whole = [], Estimation.add
    monkeypatch.setattr(Estimation, "add", lambda self, n, j: taken.append(n) or whole(self, n, j))
    estimate.main()
    assert sorted(taken) == list(range(kept, 300)), "only what was not kept is sampled again"
    resumed = contents()
    write(reuse=False, net=source(300, input=(1, 8, 8)))
    estimate.main()
    assert sorted(taken[300 - kept :]) == list(range(300))
    assert contents() == resumed


@pytest.mark.slow
def test_of_two_runs_at_once_each_network_is_sampled_by_one_alone(folder, monkeypatch):
    root, write = folder
    write(one=source(200), other=source(200))
    estimate.main()
    expected, metrics_alone = [contents(name) for name in ("one", "other")], metrics()
    (root / "counting.py").write_text(
        "from pipeline import estimate\nfrom pipeline.nads import Estimation\nadd, taken = Estimation.add, []\n"
        "Estimation.add = lambda self, *others: taken.append(1) or add(self, *others)\n"
        "if __name__ == '__main__':\n    estimate.main()\n    print('networks', len(taken))\n"
    )
    monkeypatch.setenv("DVC_ROOT", str(root / "shared"))
    runs = []
    for name in ("left", "right"):
        (root / name / "data").mkdir(parents=True)
        (root / name / "data/plan").symlink_to(root / artifacts.PLAN)
        command = [sys.executable, str(root / "counting.py")]
        runs.append(subprocess.Popen(command, cwd=root / name, stdout=subprocess.PIPE, text=True))
    said = [run.communicate()[0] for run in runs]
    assert sum(int(re.search(r"^networks (\d+)$", each, re.M)[1]) for each in said) == 400
    for name in ("left", "right"):
        monkeypatch.chdir(root / name)
        assert [contents(each) for each in ("one", "other")] == expected
        assert list(metrics().items()) == list(metrics_alone.items())


def test_a_full_store_ends_the_estimate_in_one_sentence(folder, here, monkeypatch):
    _, write = folder
    write(net=source(4))

    def full(*_):
        raise safetensors.SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(safetensors.numpy, "save_file", full)
    sentence = r"^error: the disk is full: \.cells/nads/\w+/0000004\.safetensors cannot be written \(No space left on device\);"
    with pytest.raises(SystemExit, match=sentence), one_sentence():
        estimate.main()


@pytest.mark.slow
def test_a_killed_worker_changes_no_byte(folder, monkeypatch, capfd):
    """The first worker to begin with network 20 is killed there."""
    root, write = folder
    write(net=source(40))
    estimate.main()
    whole = contents()
    (root / "killed_there.py").write_text(
        "import os, signal, pathlib\nfrom pipeline.nads import progress\n\n\n"
        "def jacobian(context, work):\n    tried = pathlib.Path('tried')\n"
        "    if work[1] == 20 and not tried.exists():\n        tried.touch()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n    return progress.jacobian(context, work)\n"
    )
    run = workers.run
    killed = importlib.import_module("killed_there")
    monkeypatch.setattr(workers, "run", lambda _, *others: run(killed.jacobian, *others))
    write(reuse=False, net=source(40))
    estimate.main()
    assert "notice: a worker process was ended by SIGKILL" in capfd.readouterr().err
    assert contents() == whole


@pytest.mark.slow
def test_the_command_says_one_sentence_and_takes_no_argument(folder):
    root, _ = folder
    run = lambda *arguments: subprocess.run(
        [sys.executable, "-m", "pipeline.estimate", *arguments], capture_output=True, text=True, cwd=root
    )
    assert run().stderr.startswith("error: data/plan/nads.json is missing; `python -m pipeline.plan` makes it")
    assert "unrecognized arguments: lenet" in run("lenet").stderr
    assert "Stage `estimate`" in run("--help").stdout
