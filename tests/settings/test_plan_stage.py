"""The stage `plan`: what it writes, what it forecasts, and what it says of what cannot be run."""

import functools
import json
import os
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml
from documents import changed
from structure import ROOT

from pipeline import experiments, plan, settings
from pipeline.grid.experiment import Amplitude, Member, Plan
from pipeline.grid.frequencies import Frequencies
from pipeline.images.wanted import WantedOfSize
from pipeline.machine import closure, workers
from pipeline.machine.workers import Machine
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.networks.dry_run import DryRun, dry_run
from pipeline.project import artifacts
from pipeline.project.errors import InputError, one_sentence
from pipeline.training import Training

LENET = {"network": "pipeline.networks.lenet:LeNet"}
LOGREG = {"network": "pipeline.networks.mlp:LogReg"}
NAMES = ["convergence", "flip", "fourier", "image_pairs", "linear_pairs", "nad_sweep", "poison"]


@functools.cache
def tried_once(specification, shape, outputs):
    return dry_run(json.loads(specification), shape, outputs)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty repository in which every network is tried once by all tests together, on a disk with room for everything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setattr(plan, "dry_run", lambda specification, *use: tried_once(json.dumps(specification), *use))
    monkeypatch.setattr(workers, "cores", lambda: 2)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10**15))
    return tmp_path


def run(document):
    """The stage, on a document in params.yaml."""
    with open("params.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump(document, file, sort_keys=False)
    plan.main()


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_the_stage_writes_what_the_chosen_scale_asks_for(scale, folder, shipped, capsys):
    (folder / "data/plan/old").mkdir(parents=True)
    (folder / "data/plan/old/of_before.json").write_text("{}")
    shipped |= {"scale": scale, "device": "cpu"}
    run(shipped)
    asked = settings.plans(shipped)[scale]
    written = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (folder / "data/plan").iterdir()}
    assert set(written) == {"images.json", "machine.json", "nads.json", *(f"{name}.json" for name in NAMES)}
    for name in NAMES:
        assert Plan.read(experiments.find(name), artifacts.planned(name)) == asked.experiments[name]
    assert NADsPlan.read(artifacts.planned("nads")) == asked.nads
    assert artifacts.as_planned(WantedOfSize, "images", artifacts.planned("images")) == asked.images
    assert Machine(**artifacts.planned("machine")) == Machine("cpu", True)
    head, *table = capsys.readouterr().out.splitlines()
    assert head == f"params.yaml is sound; scale {scale} on 2 cores, as far as earlier runs or sizes tell:"
    assert table[0].split("  ")[-1] == "to write" and {len(row) for row in table} == {79}
    assert [row.split()[0] for row in table[1:]] == [*NAMES, "all"]
    grids = {name: experiments.find(name).cells(asked.experiments[name]) for name in NAMES}
    passes = {
        name: sum(asked.experiments[name].members[cell["architecture"]].training.epochs for cell in cells)
        * asked.experiments[name].train_samples
        for name, cells in grids.items()
    }
    rows = [(len(grids[name]), passes[name]) for name in NAMES]
    rows.append(tuple(map(sum, zip(*rows))))
    assert [row.split()[1:4] for row in table[1:]] == [[f"{cells:,}", "0", f"{count:,}"] for cells, count in rows]


def test_a_disk_without_room_ends_it_before_anything_is_written(folder, shipped, monkeypatch, capsys):
    """The table is printed all the same, so that one sees what takes the room."""
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=100))
    with pytest.raises(InputError) as caught:
        run(shipped | {"scale": "smoke"})
    *_, last = capsys.readouterr().out.splitlines()
    left = last.split()[-1]
    assert str(caught.value) == (
        f"scale smoke has {left} GB still to write, and the disk of {folder}/.cells has 0.00 GB free; free space there "
        "(`python -m pipeline.prune DAYS` and `dvc gc -w` remove what is no longer used) or ask for less"
    )
    assert float(left) > 0 and not (folder / "data/plan").exists()


def test_the_smoke_scale_as_it_is_written(folder, shipped):
    run(shipped | {"scale": "smoke"})
    assert artifacts.planned("machine") == {"device": "auto", "reuse": True}
    assert artifacts.planned("images") == {
        "path": None,
        "url": "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        "fallback": "digits",
        "size": [32, 32],
    }
    source = {"networks": 16, "error": None, "input": [1, 32, 32], "first": None, "file": None}
    assert artifacts.planned("nads")["members"]["lenet"] == {
        "specification": LENET,
        "source": source,
        "digest": None,
    }
    assert artifacts.planned("fourier")["members"]["lenet"] == {
        "specification": LENET,
        "training": {
            "epochs": 2,
            "lr": 0.5,
            "momentum": 0.0,
            "weight_decay": 0.0,
            "schedule": "linear",
            "precision": "float32",
            "clip": 0.5,
        },
        "grid": {"step": 8, "transposes": True},
        "estimands": [],
        "seeds": None,
        "input": [32, 32],
        "digest": None,
    }
    assert {key: value for key, value in artifacts.planned("fourier").items() if key != "members"} == {
        "experiment": "fourier",
        "scale": "smoke",
        "seeds": [0],
        "train_samples": 512,
        "test_samples": 256,
        "settings": {"eps": 1.0, "sigma": 3.0},
    }


def test_nothing_is_written_of_a_file_with_mistakes(folder, shipped):
    run(shipped)
    before = {path: path.read_bytes() for path in (folder / "data/plan").iterdir()}
    for path, value, sentence in (
        (
            "scales/paper/linear_pairs/networks/lenet/indices",
            [2000],
            "scales.paper.linear_pairs.networks.lenet: NAD index 2000 is out of range; indices run from 0 to 1023",
        ),
        (
            "architectures/resnet18",
            {"network": "resnet18", "width": 9},
            "architectures.resnet18: the network pipeline.networks.resnet:ResNet18 cannot be built with "
            "{'width': 9}: width must lie between 0.125 and 4",
        ),
        (
            "scales/laptop/nads/logreg",
            {"file": "none.npy"},
            "scales.laptop.nads.logreg: the NADs none.npy cannot be read: No such file or directory",
        ),
    ):
        with pytest.raises(SystemExit) as caught, one_sentence():
            run(changed(shipped, path, value))
        assert caught.value.code == f"error: params.yaml: {sentence}"
        assert {path: path.read_bytes() for path in (folder / "data/plan").iterdir()} == before


def test_a_gpu_that_is_not_there_is_missed_before_anything_is_tried(folder, shipped, monkeypatch):
    monkeypatch.setattr(plan.torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(plan, "dry_run", None)
    with pytest.raises(
        InputError, match="^device is cuda, but PyTorch finds no CUDA device here; set device: auto or cpu"
    ):
        run(shipped | {"device": "cuda"})
    assert not (folder / "data").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("globals()['net'] = Net\n", "own_networks does not define net"),
        (
            "def net(channels, outputs):\n    import broken\n    broken.loads('1')\n    return Net(channels, outputs)\n",
            "invalid syntax",
        ),
    ],
)
def test_a_network_whose_code_cannot_be_read_is_refused_since_no_key_could_be_made_of_it(
    text, reason, folder, monkeypatch
):
    net = "from torch import nn\n\ndef Net(channels, outputs):\n    layers = [nn.Flatten(), nn.Linear(1024, outputs)]\n    return nn.Sequential(*layers)\n\n"
    (folder / "own_networks.py").write_text(net + text)
    (folder / "another.py").write_text(net + "net = Net\n")
    (folder / "broken.py").write_text("def f(:\n")
    monkeypatch.syspath_prepend(folder)
    for name in ("own_networks", "another", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(closure, "_loaded_code", closure.Code)
    if "broken" in text:
        monkeypatch.setitem(sys.modules, "broken", json)
    with pytest.raises(InputError) as caught:
        plan.tried({"mine": scales_of({"a": {"network": "own_networks:net"}}, {})})
    assert str(caught.value).startswith(
        "params.yaml: architectures.a: the code of own_networks:net cannot be read, by which its results are kept: "
        + reason
    )


def scales_of(members, nads, name="fourier", **values):
    """Plans of one scale, of one experiment and some NADs."""
    grid = experiments.find(name).Grid
    members = {
        key: Member(specification, HOW, Frequencies(8) if grid is Frequencies else grid((0,)))
        for key, specification in members.items()
    }
    asked = Plan(name, "mine", (0,), 10, 5, Amplitude(1.0, 1.0), members)
    estimator = Estimator("secant", "readout", 100.0, "normal", True, True)
    requests = {key: Request(specification, source) for key, (specification, source) in nads.items()}
    return settings.Plans(
        WantedOfSize(None, "https://example.org/a", None),
        Machine("cpu", True),
        NADsPlan("mine", 0, estimator, requests),
        {name: asked},
    )


HOW = Training(2, 0.5, 0.0, 0.0, "linear", "float32")


def test_every_network_is_tried_once_for_each_of_its_uses(folder, monkeypatch):
    calls = []
    monkeypatch.setattr(plan, "dry_run", lambda *call: calls.append(call) or DryRun(len(calls), 0))
    first = scales_of({"a": LENET, "b": LOGREG}, {"a": (LENET, Source(2)), "c": (LENET, Source(file="c.npy"))})
    second = scales_of({"a": LENET}, {"a": (LENET, Source(2, input=(3, 32, 32))), "b": (LOGREG, Source(2))})
    found = plan.tried({"first": first, "second": second})
    assert calls == [
        (LENET, (1, 32, 32), 1),
        (LENET, (1, 32, 32), 2),
        (LOGREG, (1, 32, 32), 2),
        (LENET, (3, 32, 32), 1),
        (LOGREG, (1, 32, 32), 1),
    ]
    assert {use: run.size for use, run in found.items()} == {
        ("a", (1, 32, 32), 1): 1,
        ("a", (1, 32, 32), 2): 2,
        ("b", (1, 32, 32), 2): 3,
        ("a", (3, 32, 32), 1): 4,
        ("b", (1, 32, 32), 1): 5,
    }


def test_what_an_earlier_plan_tried_is_not_tried_again(folder, monkeypatch):
    calls = []

    @functools.wraps(dry_run)
    def counted(specification, *use):
        calls.append((specification["network"], *use))
        return dry_run(specification, *use)

    monkeypatch.setattr(plan, "dry_run", counted)
    monkeypatch.setattr(closure, "digest", lambda *roots, real=closure.digest: real(*roots) + edit)
    edit = ""
    asked = {"mine": scales_of({"a": LENET, "b": LOGREG}, {})}
    first = plan.tried(asked)
    assert len(calls) == 2
    assert plan.tried(asked) == first and len(calls) == 2
    wider = {"mine": scales_of({"a": LENET, "b": LOGREG | {"side": 32}}, {})}
    assert len(plan.tried(wider)) == 2 and len(calls) == 3
    edit = "an edit of the network or of the dry run"
    assert plan.tried(asked) == first and len(calls) == 5


def test_a_network_that_cannot_be_run_is_tried_again_each_time(folder):
    asked = {"mine": scales_of({"a": LENET | {"side": 30}, "b": {"network": "none:X"}}, {})}
    for _ in range(2):
        with pytest.raises(InputError, match="side must be a multiple of 4(.|\n)*'none:X' cannot be imported"):
            plan.tried(asked)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("linear_pairs", ("x", (2, 32, 32), 2)),
        ("image_pairs", ("x", (4, 32, 32), 2)),
        ("flip", ("x", (3, 32, 32), 10)),
        ("poison", ("x", (3, 32, 32), 10)),
        ("fourier", ("x", (1, 32, 32), 2)),
        ("convergence", ("x", (1, 32, 32), 2)),
    ],
)
def test_how_an_experiment_uses_a_network(name, use):
    channels, outputs = use[1][0], use[2]
    for pixels in ((32, 32), (64, 48)):
        member = Member(LENET, HOW, None, input=pixels)
        assert plan.use_of("x", member, experiments.find(name)) == ("x", (channels, *pixels), outputs)


def test_every_network_that_cannot_be_run_is_named_once(folder):
    nads = {"x": ({"network": "none:X"}, Source(2)), "y": ({"network": "none:Y"}, Source(file="y.npy"))}
    asked = scales_of(
        {"a": LENET | {"side": 30}, "b": LOGREG, "c": LOGREG | {"width": 2}, "x": {"network": "none:X"}}, nads
    )
    again = scales_of({"a": LENET | {"side": 30}, "c": LOGREG | {"width": 2}}, {})
    with pytest.raises(InputError) as caught:
        plan.tried({"mine": asked, "other": again})
    assert str(caught.value).split("\n") == [
        "params.yaml: architectures.x: the network 'none:X' cannot be imported (No module named 'none'); "
        "its module must lie in the repository's root, or in a folder that the environment variable PYTHONPATH names",
        "params.yaml: architectures.a: the network pipeline.networks.lenet:LeNet cannot be built with {'side': 30}: "
        "side must be a multiple of 4, at least 16",
        "params.yaml: architectures.c: the network pipeline.networks.mlp:LogReg takes no argument 'width'; known are: side.",
    ]


def test_a_network_of_ones_own_in_the_repository_is_tried(folder, shipped, monkeypatch):
    (folder / "own_networks.py").write_text(
        "import torch\n\ndef net(channels, outputs):\n    return torch.nn.Flatten()\n"
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "own_networks", raising=False)
    with pytest.raises(InputError) as caught:
        run(changed(shipped, "architectures/logreg", {"network": "own_networks:net"}))
    assert str(caught.value) == (
        "params.yaml: architectures.logreg: own_networks:net maps (2, 1, 32, 32) to (2, 1024), not to (2, 1)"
    )


def test_a_network_without_the_symmetry_is_told_that_it_needs_transposes(folder, shipped, monkeypatch):
    (folder / "lopsided.py").write_text(
        "import torch\n\ndef net(channels, outputs):\n"
        "    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(1024 * channels, outputs))\n"
    )
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(InputError) as caught:
        run(changed(shipped, "architectures/logreg", {"network": "lopsided:net"}))
    assert str(caught.value) == (
        "params.yaml: scales.laptop.fourier: logreg has transposes: false, but its class states no symmetry under "
        "transposition; train both"
    )
    assert not (folder / "data/plan").exists()


def test_files_of_nads_that_cannot_be_used(folder):
    rows = np.eye(1024)[:3]
    wrong = {
        "not_there": None,
        "no_numbers": np.array([["a"] * 1024]),
        "short": rows[:, :1000],
        "flat": rows[0],
        "unfinished": np.where(rows, np.nan, 0.0),
        "doubled": 2 * rows,
        "whole": rows.astype(int),
    }
    for name, array in wrong.items():
        if array is not None:
            np.save(f"{name}.npy", array)
    (folder / "no_array.npy").write_text("hello")
    (folder / "empty.npy").write_text("")
    with open("endless.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 1024)}
        np.lib.format.write_array_header_1_0(file, header)
    np.save("good.npy", rows)
    names = [*wrong, "no_array", "empty", "endless", "good"]
    asked = scales_of(
        {}, {name: (LENET, Source(file=f"{name}.npy")) for name in names} | {"estimated": (LENET, Source(2))}
    )
    with pytest.raises(InputError) as caught:
        plan.check_files(asked)
    said = dict(
        sentence.removeprefix("params.yaml: scales.mine.nads.").split(": ", 1)
        for sentence in str(caught.value).split("\n")
    )
    assert list(said) == names[:-1]
    for name, sentence in (
        ("not_there", "the NADs not_there.npy cannot be read: No such file or directory"),
        ("short", "short.npy holds an array of shape (3, 1000), not (K, 1024) with K ≤ 1024 for 1×32×32"),
        ("flat", "flat.npy holds an array of shape (1024,), not (K, 1024) with K ≤ 1024 for 1×32×32"),
        ("unfinished", "unfinished.npy holds values that are not finite real numbers"),
        ("doubled", "doubled.npy holds rows that are not orthonormal (their products are off by 3)"),
    ):
        assert said[name] == sentence
    plan.check_files(scales_of({}, {"good": (LENET, Source(file="good.npy"))}))
    plan.check_files(scales_of({}, {"estimated": (LENET, Source(2))}))


def command(folder, **environment):
    """The stage as a process of its own, in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "pipeline.plan"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "DVC_ROOT": str(folder)} | environment,
        capture_output=True,
        encoding="utf-8",
    )


ENDINGS = {
    "exits": ("import sys\nsys.exit(0)\n", "SystemExit: 0"),
    "interrupts": ("raise KeyboardInterrupt\n", "KeyboardInterrupt:"),
    "ends": ("def net(*arguments):\n    class Ending(BaseException): pass\n    raise Ending\n", "Ending:"),
}
"""Modules that would end the process, and what is said of each."""


@pytest.mark.slow
def test_modules_that_end_the_process_do_not_pass_the_check(tmp_path, shipped):
    for name, (text, _) in ENDINGS.items():
        (tmp_path / f"{name}.py").write_text(text)
        shipped["architectures"][name] = {"network": f"{name}:net"}
    shipped["scales"]["smoke"]["nads"] |= dict.fromkeys(ENDINGS, 2)
    (tmp_path / "params.yaml").write_text(
        yaml.safe_dump(shipped | {"scales": {"smoke": shipped["scales"]["smoke"]}, "scale": "smoke"}, sort_keys=False)
    )
    run = command(tmp_path)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines() == [
        f"error: params.yaml: architectures.{name}: {name}:net cannot be run: {sentence}"
        for name, (_, sentence) in ENDINGS.items()
    ]


@pytest.mark.slow
def test_the_command_says_what_is_wrong_and_nothing_else_in_any_locale(tmp_path, shipped):
    """Also in one of ASCII alone: params.yaml is read as UTF-8, and names are printed in it."""
    document = changed(shipped | {"seed": -1, "eps1": "∇"}, "image_pairs/positive", ["Zwölf"])
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    run = command(tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines() == [
        "error: params.yaml: seed must lie between 0 and 1,000,000,000, not -1",
        "error: params.yaml: eps1 must be a finite number, not '∇'",
    ]


def test_the_command_takes_no_arguments(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["plan", "smoke"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(plan.__file__, run_name="__main__")
    assert caught.value.code == 2
    assert "unrecognized arguments: smoke" in capsys.readouterr().err
