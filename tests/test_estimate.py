"""The stage `estimate`: killed and resumed, continued, stopped at an error, and NADs from a file."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import yaml
from structure import ROOT

from pipeline import artifacts, check, estimate, experiments
from pipeline.project.errors import InputError, one_sentence

SHIPPED = yaml.safe_load((ROOT / "params.yaml").read_text())
EXPERIMENTS = experiments.names()
NETWORK = {"network": "mlp", "hidden": [30, 20], "side": 16}


def source(networks, **others):
    """A source of NADs for `NETWORK`."""
    return {"networks": networks, "input": [1, 16, 16]} | others


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to run in, and a function that writes its params.yaml."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path)]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setattr(check.experiments, "names", lambda: [])

    def write(nads, architectures=None, **estimator):
        document = {key: SHIPPED[key] for key in SHIPPED if key not in ("scales", *EXPERIMENTS)}
        document["architectures"] = architectures or {"net": NETWORK}
        document["estimator"] = SHIPPED["estimator"] | {"compare": False} | estimator
        document["scales"] = {"laptop": {"nads": nads}}
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(document))

    return tmp_path, write


def contents(name="net"):
    return (artifacts.NADS / f"{name}.npz").read_bytes()


def test_a_killed_estimate_goes_on_where_it_stopped_and_gives_the_same_bytes(folder, monkeypatch):
    root, write = folder
    write({"net": source(300)})
    monkeypatch.setattr(estimate, "KEEP_EVERY", 0)
    eager = "from pipeline import estimate\nestimate.KEEP_EVERY = 0.2\nif __name__ == '__main__': estimate.main()"
    (root / "eager.py").write_text(eager)
    process = subprocess.Popen([sys.executable, "eager.py"], start_new_session=True, stdout=subprocess.DEVNULL)
    while process.poll() is None and not list(root.glob(".cells/nads/*/*.safetensors")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (kept,) = (int(path.stem) for path in root.glob(".cells/nads/*/[0-9]*.safetensors"))
    assert 0 < kept < 300 and not (artifacts.NADS / "net.npz").exists()

    taken, whole = [], estimate.anisotropy.Estimation.add
    monkeypatch.setattr(estimate.anisotropy.Estimation, "add", lambda self, n, r: taken.append(n) or whole(self, n, r))
    estimate.main()
    resumed = contents()
    assert sorted(taken) == list(range(kept, 300)), "only what was not kept is sampled again"
    estimate.main()
    assert len(taken) == 300 - kept and contents() == resumed
    write({"net": source(120)})
    estimate.main()
    fewer = contents()
    first = kept if kept <= 120 else 0
    assert sorted(taken[300 - kept :]) == list(range(first, 120)), "a kept state beyond the end is of no use"
    write({"net": source(300)})
    for path in root.glob(".cells/nads/*/*300.safetensors"):
        path.write_bytes(path.read_bytes()[:1000])
    estimate.main()
    assert contents() == resumed != fewer, "from 120 kept networks, past a broken file, as from none"


def test_an_estimate_stops_at_a_wanted_error_whatever_was_kept(folder):
    _, write = folder
    write({"net": source(200, error=0.3)})
    estimate.main()
    stopped = contents()
    found = json.loads((artifacts.REPORTS / "nads.json").read_text())["net"]
    assert found["error"] <= 0.3 and 4 <= found["networks"] < 200
    write({"net": source(200)})
    estimate.main()
    assert contents() != stopped
    write({"net": source(200, error=0.3)})
    estimate.main()
    assert contents() == stopped


def test_a_network_of_ones_own_is_averaged_over_what_it_is_measured_to_have(folder, capsys):
    root, write = folder
    (root / "mine.py").write_text(
        "from torch import nn\n\n\ndef flat(channels, outputs):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(channels * 64, 40), nn.ReLU(), nn.Linear(40, outputs))\n"
    )
    small = {"networks": 40, "input": [2, 8, 8]}
    write({"mine": small, "other": small | {"first": 5}}, dict.fromkeys(("mine", "other"), {"network": "mine:flat"}))
    check.main()
    estimate.main()
    assert "from 40 networks, averaged over square" in capsys.readouterr().out
    nads = artifacts.nads("mine")
    assert (
        nads["directions"].shape == (128, 128)
        and tuple(nads["shape"]) == (2, 8, 8)
        and str(nads["symmetry"]) == "square"
    )
    assert artifacts.nads("other")["directions"].shape == (5, 128)


def test_nads_from_a_file(folder, capsys):
    root, write = folder
    rows = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 1024)))[0][:1023].astype(np.float32)
    np.save(root / "theirs.npy", rows)
    write({"net": {"file": "theirs.npy"}})
    check.main()
    estimate.main()
    assert "1024 NADs from theirs.npy" in capsys.readouterr().out
    np.testing.assert_array_equal(artifacts.nads("net")["directions"][:1023], rows)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "the NADs theirs.npy cannot be read: No such file"),
        (b"text", "theirs.npy is not a .npy file of numbers"),
        (np.array([{"a": 1}]), "theirs.npy is not a .npy file of numbers: Object arrays cannot be loaded"),
        (np.ones((3, 1024)), "nads.net: theirs.npy holds rows that are not orthonormal"),
    ],
)
def test_what_is_refused_of_a_file(folder, content, sentence):
    root, write = folder
    if isinstance(content, bytes):
        (root / "theirs.npy").write_bytes(content)
    elif content is not None:
        np.save(root / "theirs.npy", content, allow_pickle=True)
    write({"net": {"file": "theirs.npy"}})
    for stage in (check, estimate):
        with pytest.raises(SystemExit, match=f"^error: .*{sentence}"), one_sentence():
            stage.main()


def test_an_estimate_that_does_not_fit_is_refused_before_anything_is_removed(folder):
    root, write = folder
    write({"net": source(4)})
    estimate.main()
    write({"net": source(4, input=[3, 224, 224])}, {"net": {"network": "torchvision.models:squeezenet1_1"}})
    with pytest.raises(InputError, match=r"nads\.net: NADs of inputs 3×224×224 .* need 2,719\.0 GB"):
        estimate.main()
    assert (artifacts.NADS / "net.npz").exists()
