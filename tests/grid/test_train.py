"""The stage `train`: what it lays down, what it takes from the store, one at a time and together; how failures are told apart."""

import contextlib
import dataclasses
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import psutil
import pytest
import safetensors.torch
import torch
from small_grids import ARCHITECTURES, HOW, lay_down_nads, lay_down_plan, orthonormal, plan_of
from structure import ROOT
from worker_processes import worker_processes

from pipeline import evaluate, experiments, generate, networks, train
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.machine import store, workers
from pipeline.machine.claims import Claims
from pipeline.machine.notes import RATES, Notes
from pipeline.project import artifacts
from pipeline.project.errors import InputError, one_sentence
from pipeline.training import ensembles

SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
GRIDS = {"logreg": {"indices": (1, 9)}, "mlp": {"indices": (1,)}}


@pytest.fixture
def plan(folder):
    """A grid of `linear_pairs` with its data laid down: four cells of logistic regression and one of an MLP."""
    plan = plan_of("linear_pairs", SETTINGS, GRIDS, seeds=(3,), samples=(200, 64))
    lay_down_plan(plan)
    lay_down_nads(logreg=orthonormal(), mlp=orthonormal())
    generate.main("linear_pairs")
    return plan


def tables():
    """training.csv and losses.csv."""
    folder = artifacts.MODELS / "linear_pairs"
    return pd.read_csv(folder / "training.csv"), pd.read_csv(folder / "losses.csv")


def every_job(plan):
    """The jobs of the grid, as the stage makes them."""
    data = Data(experiments.find("linear_pairs"))
    folder = str(store.default_folder())
    return data, list(jobs.of_cells(plan, data, artifacts.cells("linear_pairs"), torch.device("cpu"), folder))


def test_what_is_laid_down_is_what_each_cells_training_gives(plan, in_this_process, capsys):
    capsys.readouterr()
    train.main("linear_pairs")
    output = capsys.readouterr().out
    assert re.fullmatch(
        r"linear_pairs: 5 cells trained, 0 reused, 0 failed; \d+\.\d min, [\d,]+\.\d models per minute on \d+ cores\n",
        output,
    )
    data, work = every_job(plan)
    rows, losses = [], []
    for job in work:
        network, found = jobs.trained(data, job)
        cell = job.cell
        name = f"{cell['architecture']}-{cell['index_1']}-{cell['index_2']}-seed3"
        kept = safetensors.torch.load_file(artifacts.MODELS / "linear_pairs" / f"{name}.safetensors")
        assert all(torch.equal(kept[key], value) for key, value in network.state_dict().items())
        place = [cell[key] for key in ("architecture", "seed", "index_1", "index_2")]
        rows.append([*place, found.losses[-1], found.accuracy, found.steps])
        losses += [[*place, epoch + 1, round(loss, 6)] for epoch, loss in enumerate(found.losses)]
    columns = ["architecture", "seed", "index_1", "index_2"]
    training, by_epoch = tables()
    expected = pd.DataFrame(rows, columns=[*columns, "loss", "accuracy", "steps"]).astype({"steps": float})
    pd.testing.assert_frame_equal(training, expected)
    pd.testing.assert_frame_equal(by_epoch, pd.DataFrame(losses, columns=[*columns, "epoch", "loss"]))
    assert len(by_epoch) == 10 and set(by_epoch["epoch"]) == {1, 2}
    assert len(list((artifacts.MODELS / "linear_pairs").iterdir())) == 5 + 3
    assert artifacts.grid("linear_pairs") == {
        "scale": "smoke",
        "seeds": 1,
        "precision": "float32",
        "architectures": {name: ARCHITECTURES[name] for name in GRIDS},
    }


def test_the_coarse_grid_of_each_seed_is_trained_first_and_laid_down_in_its_place(folder, in_this_process, monkeypatch):
    plan = plan_of(
        "linear_pairs", SETTINGS, {"mlp": {"indices": (1, 2, 9)}, "logreg": {"indices": (1,)}}, samples=(50, 4)
    )
    lay_down_plan(plan)
    lay_down_nads(logreg=orthonormal(), mlp=orthonormal())
    generate.main("linear_pairs")
    seen = []
    monkeypatch.setattr(jobs, "train_one", lambda data, job, real=jobs.train_one: seen.append(job) or real(data, job))
    train.main("linear_pairs")
    places = [(job.cell["seed"], job.cell["architecture"], job.cell["index_1"], job.cell["index_2"]) for job in seen]
    coarse = [("mlp", 1, 1), ("mlp", 1, 9), ("mlp", 9, 1), ("mlp", 9, 9), ("logreg", 1, 1)]
    fine = [("mlp", 1, 2), ("mlp", 2, 1), ("mlp", 2, 2), ("mlp", 2, 9), ("mlp", 9, 2)]
    assert places == [(seed, *place) for seed in (0, 1) for place in coarse + fine]
    training, _ = tables()
    assert training["architecture"].tolist() == ["mlp"] * 18 + ["logreg"] * 2, "as cells.csv has them"


def test_finished_cells_are_reused_and_one_more_index_trains_only_its_cells(plan, in_this_process, capsys):
    train.main("linear_pairs")
    before = {path.name: path.read_bytes() for path in (artifacts.MODELS / "linear_pairs").iterdir()}
    capsys.readouterr()
    train.main("linear_pairs")
    assert capsys.readouterr().out.startswith("linear_pairs: 0 cells trained, 5 reused, 0 failed; ")
    assert before == {path.name: path.read_bytes() for path in (artifacts.MODELS / "linear_pairs").iterdir()}
    larger = plan_of("linear_pairs", SETTINGS, GRIDS | {"mlp": {"indices": (1, 9)}}, seeds=(3,), samples=(200, 64))
    lay_down_plan(larger)
    generate.main("linear_pairs")
    capsys.readouterr()
    train.main("linear_pairs")
    assert "3 cells trained, 5 reused, 0 failed" in capsys.readouterr().out
    lay_down_plan(larger, reuse=False)
    train.main("linear_pairs")
    assert "8 cells trained, 0 reused, 0 failed" in capsys.readouterr().out, "where reuse is not wanted"


STAGE = "from pipeline import train; train.main('linear_pairs')"


@pytest.mark.slow
def test_two_runs_at_once_train_every_cell_once(folder):
    """Each takes what the other is not training, and waits for the rest; a third, killed beforehand, keeps none from them."""
    plan = plan_of("linear_pairs", SETTINGS, {"mlp": {"indices": tuple(range(6))}}, seeds=(3,), samples=(5000, 64))
    lay_down_plan(plan)
    lay_down_nads(mlp=orthonormal())
    generate.main("linear_pairs")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    start = lambda where: subprocess.Popen(
        [sys.executable, "-c", STAGE], cwd=where, env=environment, stdout=subprocess.PIPE, text=True
    )
    shutil.copytree("data", folder / "other/data")
    runs = [start(folder), start(folder / "other")]
    said = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    found = [
        tuple(map(int, re.search(r": (\d+) cells trained, (\d+) reused, 0 failed", text).groups())) for text in said
    ]
    assert [sum(each) for each in found] == [36, 36] and found[0][0] + found[1][0] == 36
    assert all(trained > 0 for trained, _ in found), "neither only waited"
    one, other = (
        {path.name: path.read_bytes() for path in (where / "models/linear_pairs").iterdir()}
        for where in (folder, folder / "other")
    )
    assert one == other and len(one) == 36 + 3


def test_a_cell_that_another_run_finishes_meanwhile_is_taken_from_it_and_one_that_it_gives_up_is_trained(
    plan, in_this_process, monkeypatch, capsys
):
    """The other run holds two cells when this one begins: it finishes one of them and lets go of the other."""
    data, work = every_job(plan)
    held, events = {work[1].key: True, work[2].key: False}, []

    class Elsewhere(Claims):
        def take(self, key):
            return key not in held

        def wait(self, key):
            events.append(key)
            for job in work:
                if held.pop(job.key, False):
                    jobs.train_one(data, job)

    monkeypatch.setattr(train, "Claims", Elsewhere)
    monkeypatch.setattr(
        jobs, "train_one", lambda data, job, real=jobs.train_one: events.append(job.key) or real(data, job)
    )
    train.main("linear_pairs")
    assert "4 cells trained, 1 reused, 0 failed" in capsys.readouterr().out
    first = [work[n].key for n in (0, 3, 4)]
    assert events == [*first, work[1].key, work[1].key, work[2].key], "waited only when nothing else was left"
    assert len(tables()[0]) == 5


def test_a_damaged_cell_is_trained_again(plan, in_this_process, capsys):
    train.main("linear_pairs")
    _, work = every_job(plan)
    path = store.Store(store.default_folder()).path(work[2].key)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-3])
    capsys.readouterr()
    train.main("linear_pairs")
    assert "1 cells trained, 4 reused" in capsys.readouterr().out


def test_a_cell_in_which_one_bit_has_turned_is_trained_again_and_replaced(plan, in_this_process, capsys):
    train.main("linear_pairs")
    before = {path.name: path.read_bytes() for path in (artifacts.MODELS / "linear_pairs").iterdir()}
    _, work = every_job(plan)
    path = store.Store(store.default_folder()).path(work[2].key)
    content = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(content[:-9] + bytes([content[-9] ^ 64]) + content[-8:])
    capsys.readouterr()
    train.main("linear_pairs")
    said = capsys.readouterr()
    assert "1 cells trained, 4 reused" in said.out
    assert f"notice: {path} is damaged and counts as not kept: the digest is not that of the contents\n" in said.err
    assert path.read_bytes() == content
    assert before == {path.name: path.read_bytes() for path in (artifacts.MODELS / "linear_pairs").iterdir()}


def test_evaluation_checks_its_copies(plan, in_this_process):
    train.main("linear_pairs")
    path = artifacts.MODELS / "linear_pairs/mlp-1-1-seed3.safetensors"
    content = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(content[:-9] + bytes([content[-9] ^ 64]) + content[-8:])
    with pytest.raises(
        InputError, match=rf"^{path} is damaged \(.*\); `python -m pipeline.train linear_pairs` makes it"
    ):
        evaluate.main("linear_pairs")


@pytest.mark.parametrize("together", [False, True])
def test_a_full_store_ends_the_run_at_its_first_cell(together, plan, in_this_process, monkeypatch):
    """One logistic regression fits; what is kept is reused once there is room."""
    if together:
        monkeypatch.setattr(jobs, "TOGETHER", ("cpu",))
    put, tried = store.Store.put, []

    def put_one(kept, key, *what):
        tried.append(key)
        if len(tried) > 1:
            raise store.Unwritable(errno.ENOSPC, "No space left on device", str(kept.path(key)))
        put(kept, key, *what)

    monkeypatch.setattr(store.Store, "put", put_one)
    with pytest.raises(SystemExit, match=r"^error: the disk is full: \S+ cannot be written \(No"), one_sentence():
        train.main("linear_pairs")
    assert len(tried) == 2
    monkeypatch.setattr(store.Store, "put", put)
    train.main("linear_pairs")
    assert len(tables()[0]) == 5


def test_a_cell_that_vanishes_is_said(plan, in_this_process, monkeypatch):
    monkeypatch.setattr(jobs, "keep", lambda *_: None)
    with pytest.raises(InputError, match=r"safetensors was removed or damaged after it was trained; run train again$"):
        train.main("linear_pairs")


@contextlib.contextmanager
def first_worker_killed():
    """The first worker process that is seen is killed; gives the list of those that were."""
    killed, over = [], threading.Event()

    def kill():
        while not killed and not over.is_set():
            with contextlib.suppress(psutil.Error):
                for worker in worker_processes()[:1]:
                    worker.kill()
                    killed.append(worker.pid)
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    yield killed
    over.set()
    killer.join()


@pytest.mark.slow
def test_a_killed_worker_changes_no_byte_of_train_and_evaluate(plan, tmp_path):
    found = []
    for context in (contextlib.nullcontext, first_worker_killed):
        lay_down_plan(plan, reuse=False)
        for stage, folder in ((train, artifacts.MODELS), (evaluate, artifacts.REPORTS)):
            with context() as killed:
                stage.main("linear_pairs")
            assert killed is None or len(killed) == 1
            found.append({path.name: path.read_bytes() for path in (folder / "linear_pairs").iterdir()})
    assert found[:2] == found[2:]


@pytest.mark.slow
def test_other_samples_in_the_test_set_train_nothing_again_and_other_directions_do(plan, in_this_process, capsys):
    train.main("linear_pairs")
    lay_down_plan(dataclasses.replace(plan, test_samples=70))
    generate.main("linear_pairs")
    capsys.readouterr()
    train.main("linear_pairs")
    assert "0 cells trained, 5 reused" in capsys.readouterr().out
    basis = orthonormal()
    basis[9] = -basis[9]
    lay_down_nads(logreg=basis)
    generate.main("linear_pairs")
    capsys.readouterr()
    train.main("linear_pairs")
    assert "3 cells trained, 2 reused" in capsys.readouterr().out, "all but logreg at (1, 1), and the mlp"


def broken(monkeypatch):
    """Make the data of one cell unreadable, and those of another no numbers; returns the real function."""
    original = Data.dataset

    def dataset(data, cell, split):
        x, y = original(data, cell, split)
        where = cell["architecture"], cell["index_1"], cell["index_2"]
        if where == ("logreg", 1, 9):
            raise OSError("no such draw")
        return (x * float("nan"), y) if where == ("mlp", 1, 1) else (x, y)

    monkeypatch.setattr(Data, "dataset", dataset)
    return original


@pytest.mark.parametrize("together", [False, True])
def test_a_cell_that_fails_is_named_and_the_others_are_kept(together, plan, in_this_process, monkeypatch, capsys):
    if together:
        monkeypatch.setattr(jobs, "TOGETHER", ("cpu",))
    real = broken(monkeypatch)
    capsys.readouterr()
    with pytest.raises(InputError) as caught:
        train.main("linear_pairs")
    reasons = {
        "logreg-1-9-seed3": "OSError: no such draw",
        "mlp-1-1-seed3": "Diverged: the training loss became nan; a smaller lr helps",
    }
    assert str(caught.value) == (
        "2 of 5 cells of linear_pairs failed (the others are kept and not trained again; models/linear_pairs/failed.csv has "
        "this list): " + "; ".join(f"{cell}: {reason}" for cell, reason in reasons.items())
    )
    assert "3 cells trained, 0 reused, 2 failed" in capsys.readouterr().out
    failed = pd.read_csv(artifacts.MODELS / "linear_pairs/failed.csv")
    assert failed.to_dict("records") == [{"cell": cell, "reason": reason} for cell, reason in reasons.items()]
    assert len(list((artifacts.MODELS / "linear_pairs").iterdir())) == 1
    monkeypatch.setattr(Data, "dataset", real)
    train.main("linear_pairs")
    assert "2 cells trained, 3 reused" in capsys.readouterr().out
    assert not (artifacts.MODELS / "linear_pairs/failed.csv").exists()


@pytest.mark.slow
def test_together_the_stage_trains_the_same_networks(plan, in_this_process, monkeypatch, capsys):
    train.main("linear_pairs")
    one_by_one = tables()
    groups = []
    monkeypatch.setattr(jobs, "TOGETHER", ("cpu",))
    monkeypatch.setattr(ensembles, "AT_ONCE", ensembles.AT_ONCE | {"stack": 3})
    together = ensembles.train
    monkeypatch.setattr(ensembles, "train", lambda n, *a, **k: groups.append(len(n)) or together(n, *a, **k))
    capsys.readouterr()
    train.main("linear_pairs")
    assert "linear_pairs: 5 cells trained, 0 reused, 0 failed" in capsys.readouterr().out, "another engine, other keys"
    assert groups == [3, 1, 1]
    for ours, theirs in zip(tables(), one_by_one):
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-3, atol=1e-4)
    train.main("linear_pairs")
    assert "0 cells trained, 5 reused" in capsys.readouterr().out and groups == [3, 1, 1]


def test_bfloat16_is_another_grid(plan, in_this_process, capsys):
    train.main("linear_pairs")
    how = dataclasses.replace(HOW, precision="bfloat16")
    lay_down_plan(plan_of("linear_pairs", SETTINGS, {"mlp": {"indices": (1,)}}, seeds=(3,), samples=(200, 64), how=how))
    generate.main("linear_pairs")
    capsys.readouterr()
    train.main("linear_pairs")
    assert "1 cells trained, 0 reused" in capsys.readouterr().out
    assert artifacts.grid("linear_pairs")["precision"] == "bfloat16"


def test_how_long_a_sample_took_is_kept_for_each_network(plan, tmp_path):
    """Medians over cells of seconds ÷ (200 samples · 2 epochs)."""
    _, work = every_job(plan)
    kept = Notes(tmp_path, RATES)
    train.note(list(zip(work, (4.0, 8.0, 400.0, 8.0, 40.0))), plan, experiments.find("linear_pairs"), kept)
    found = [Notes(tmp_path, RATES).get(jobs.kind(plan.members[name], 2, "cpu")) for name in GRIDS]
    assert found == [pytest.approx(0.02), pytest.approx(0.1)]
    train.note([], plan, experiments.find("linear_pairs"), kept)
    assert json.loads(kept.path.read_text()) == kept.noted


def test_the_stage_notes_what_its_cells_took(plan, in_this_process, monkeypatch):
    monkeypatch.setattr(jobs, "train_one", lambda data, job, real=jobs.train_one: real(data, job) * 0 + 4.0)
    train.main("linear_pairs")
    kept = Notes(store.default_folder(), RATES)
    assert {kept.get(jobs.kind(plan.members[name], 2, "cpu")) for name in GRIDS} == {0.01}


@pytest.mark.slow
def test_networks_with_convolutions_in_a_pool_of_processes_and_together(folder, monkeypatch, capsys):
    """The real pool, then the engine of the GPU; both are evaluated."""
    lenet, narrow = ARCHITECTURES["lenet"], {"network": networks.NETWORKS["resnet18"], "width": 0.125}
    grids = {"lenet": {"indices": (1, 1000)}, "mlp": {"indices": (1, 1000)}}
    plan = plan_of("linear_pairs", SETTINGS, grids, seeds=(0,), samples=(200, 64))
    one = dataclasses.replace(
        plan.members["mlp"], specification=narrow, training=dataclasses.replace(HOW, epochs=1, lr=0.02)
    )
    one = dataclasses.replace(one, grid=dataclasses.replace(one.grid, indices=(1,)))
    plan = dataclasses.replace(plan, members={"resnet18_narrow": one} | plan.members)
    assert plan.members["lenet"].specification == lenet
    lay_down_plan(plan)
    lay_down_nads(**dict.fromkeys(plan.members, orthonormal()))
    generate.main("linear_pairs")
    train.main("linear_pairs")
    one_by_one = tables()
    monkeypatch.setattr(jobs, "TOGETHER", ("cpu",))
    monkeypatch.setattr(ensembles, "AT_ONCE", ensembles.AT_ONCE | {"stack": 3})
    capsys.readouterr()
    train.main("linear_pairs")
    assert "linear_pairs: 9 cells trained, 0 reused, 0 failed" in capsys.readouterr().out
    for ours, theirs in zip(tables(), one_by_one):
        pd.testing.assert_frame_equal(ours, theirs, rtol=0.02, atol=0.02)
    evaluate.main("linear_pairs")
    results = pd.read_csv(artifacts.REPORTS / "linear_pairs" / "results.csv")
    assert len(results) == 27 and results["accuracy"].between(0, 1).all()


def test_the_pool_is_asked_for_what_is_due_alone(plan, monkeypatch):
    """The work goes to `workers.run` on the machine's device, with a recipe of the data that any process can follow."""
    seen = []

    def run(function, work, make_context, device):
        work = list(work)
        seen.append((function, [job.cell for job in work], device))
        context = make_context()
        assert isinstance(context, Data) and context.experiment.name == "linear_pairs"
        yield from ((position, function(context, job)) for position, job in enumerate(work))

    monkeypatch.setattr(workers, "run", run)
    data, work = every_job(plan)
    jobs.train_one(data, work[1])
    train.main("linear_pairs")
    cells = [job.cell for position, job in enumerate(work) if position != 1]
    assert seen == [(jobs.train_one, cells, torch.device("cpu"))]
    assert np.isfinite(tables()[0]["loss"]).all()
