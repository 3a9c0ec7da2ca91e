"""The stage `train`: what it lays down, what it takes from the store, beside other
runs, and failures."""

import dataclasses
import errno
import json
import re
import shutil

import pandas as pd
import pytest
import safetensors.torch
import torch
from refusals import refused
from small_grids import (
    lay_down_nads,
    lay_down_plan,
    orthonormal,
    plan_of,
)

from pipeline import evaluate, experiments, generate, train
from pipeline.grid import jobs, run
from pipeline.grid.data import Data
from pipeline.grid.forecast import rates
from pipeline.machine import store
from pipeline.machine.claims import Claims
from pipeline.project import artifacts, errors
from pipeline.project.errors import InputError, one_sentence
from pipeline.training import loop

SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
GRIDS = {"logreg": {"indices": (1, 9)}, "mlp": {"indices": (1,)}}
MODELS = artifacts.MODELS / "linear_pairs"


def lay_down():
    """A grid of `linear_pairs` with its data laid down."""
    plan = plan_of("linear_pairs", SETTINGS, GRIDS, seeds=(3,), samples=(200, 64))
    lay_down_plan(plan)
    lay_down_nads(logreg=orthonormal(), mlp=orthonormal())
    generate.main("linear_pairs")
    return plan


@pytest.fixture
def plan(folder, in_this_process):
    """Four cells of logistic regression and one of an MLP."""
    return lay_down()


@pytest.mark.parametrize(
    ("settings", "seeds", "samples"),
    [
        (SETTINGS | {"eps2": 0.3}, (3,), (200, 64)),
        (SETTINGS, (4,), (200, 64)),
        (SETTINGS, (3,), (100, 64)),
        (SETTINGS, (3,), (200, 65)),
    ],
)
def test_data_sets_of_another_plan_are_refused_by_both_stages(
    settings, seeds, samples, plan
):
    lay_down_plan(plan_of("linear_pairs", settings, GRIDS, seeds, samples))
    for stage in (train, evaluate):
        with refused("stale", path="data/datasets/linear_pairs"):
            stage.main("linear_pairs")


def test_networks_of_another_learning_rate_are_not_evaluated(plan):
    train.main("linear_pairs")
    members = {}
    for name, member in plan.members.items():
        training = dataclasses.replace(member.training, lr=member.training.lr / 2)
        members[name] = dataclasses.replace(member, training=training)
    lay_down_plan(dataclasses.replace(plan, members=members))
    generate.main("linear_pairs")
    with refused("stale", path="models/linear_pairs"):
        evaluate.main("linear_pairs")


def test_data_sets_of_other_cells_are_refused(plan):
    """The code of the experiment was edited since, for example."""
    path = artifacts.DATASETS / "linear_pairs/cells.csv"
    pd.read_csv(path)[:-1].to_csv(path, index=False)
    for stage in (train, evaluate):
        with refused("stale", path="data/datasets/linear_pairs"):
            stage.main("linear_pairs")


def test_networks_are_of_the_plan_with_which_their_training_began(plan, monkeypatch):
    """The stage `plan` runs for other settings while they train."""
    train_cells = run.train

    def train_and_replan(*arguments):
        lay_down_plan(dataclasses.replace(plan, test_samples=9))
        return train_cells(*arguments)

    monkeypatch.setattr(run, "train", train_and_replan)
    train.main("linear_pairs")
    kept = json.loads((MODELS / "plan.json").read_text(encoding="utf-8"))
    assert kept["test_samples"] == plan.test_samples


def jobs_of(plan):
    """The jobs of the grid, as the stage makes them."""
    data = Data(experiments.find("linear_pairs"))
    cells = artifacts.read_cells("linear_pairs")
    return data, list(jobs.of_cells(plan, data, cells, torch.device("cpu")))


def laid_down():
    """Every file of models/linear_pairs."""
    return {path.name: path.read_bytes() for path in MODELS.iterdir()}


def counts(capsys):
    """(trained, reused, failed), as the stage prints them."""
    found = re.search(
        r"(\d+) cells trained, (\d+) reused, (\d+) failed", capsys.readouterr().out
    )
    return tuple(map(int, found.groups()))


def test_what_is_laid_down_is_what_each_cells_training_gives(plan, capsys, monkeypatch):
    capsys.readouterr()

    def in_six(*given):
        return dataclasses.replace(jobs.train_cell(*given), seconds=6.0)

    monkeypatch.setattr(run, "train_cell", in_six)
    train.main("linear_pairs")
    assert re.fullmatch(
        r"linear_pairs: 5 cells trained, 0 reused, 0 failed; \d+\.\d min, "
        r"[\d,]+\.\d models per minute on \d+ cores\n",
        capsys.readouterr().out,
    )
    data, work = jobs_of(plan)
    columns = ["architecture", "seed", "index_1", "index_2"]
    rows = []
    losses = []
    for job in work:
        result = jobs.train_cell(data, job)
        cell = job.cell
        outcome = result.outcome
        name = f"{cell['architecture']}-{cell['index_1']}-{cell['index_2']}-seed3"
        kept = safetensors.torch.load_file(MODELS / f"{name}.safetensors")
        assert all(
            torch.equal(kept[key], tensor) for key, tensor in result.tensors.items()
        )
        place = [cell[key] for key in columns]
        rows.append([*place, outcome.losses[-1], outcome.accuracy, outcome.steps])
        losses += [
            [*place, n, round(loss, 6)] for n, loss in enumerate(outcome.losses, 1)
        ]
    expected = pd.DataFrame(rows, columns=[*columns, "loss", "accuracy", "steps"])
    found = artifacts.read_training("linear_pairs", "training.csv")
    pd.testing.assert_frame_equal(found, expected.astype({"steps": float}))
    pd.testing.assert_frame_equal(
        artifacts.read_training("linear_pairs", "losses.csv"),
        pd.DataFrame(losses, columns=[*columns, "epoch", "loss"]),
    )
    document = (artifacts.PLAN / "linear_pairs.json").read_bytes()
    assert (artifacts.MODELS / "linear_pairs/plan.json").read_bytes() == document
    assert len(laid_down()) == 5 + 3, "networks, two tables and plan.json"
    measured = rates()
    experiment = experiments.find("linear_pairs")
    assert set(measured) == {
        jobs.rate_key(experiment, member, torch.device("cpu"))
        for member in plan.members.values()
    }
    assert set(measured.values()) == {6.0 / (200 * 2)}, (
        "of a sample in one of two epochs"
    )


def test_more_test_samples_train_nothing_and_other_directions_do(plan, capsys):
    train.main("linear_pairs")
    lay_down_plan(dataclasses.replace(plan, test_samples=70))
    generate.main("linear_pairs")
    capsys.readouterr()
    train.main("linear_pairs")
    assert counts(capsys) == (0, 5, 0)
    basis = orthonormal()
    basis[9] = -basis[9]
    lay_down_nads(logreg=basis, mlp=orthonormal())
    generate.main("linear_pairs")
    train.main("linear_pairs")
    assert counts(capsys) == (3, 2, 0), "all but logreg at (1, 1), and the MLP"


def test_a_damaged_entry_of_the_store_is_trained_again_and_replaced(plan, capsys):
    train.main("linear_pairs")
    before = laid_down()
    _, work = jobs_of(plan)
    path = store.Store(store.default_folder()).path(work[2].key)
    content = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(content[:-3])
    capsys.readouterr()
    train.main("linear_pairs")
    assert counts(capsys) == (1, 4, 0)
    assert path.read_bytes() == content and laid_down() == before


def test_cells_of_altered_data_are_trained_and_those_of_the_true_data_stay(
    plan, capsys
):
    """One label is altered, as by hand, and then restored."""
    train.main("linear_pairs")
    before = laid_down()
    file = artifacts.DATASETS / "linear_pairs/base_noise-3.train_labels.npy"
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([256 - content[-1]]))
    capsys.readouterr()
    train.main("linear_pairs")
    assert counts(capsys) == (5, 0, 0) and laid_down() != before
    file.write_bytes(content)
    train.main("linear_pairs")
    assert counts(capsys) == (0, 5, 0) and laid_down() == before


def test_code_that_was_edited_during_the_run_trains_no_cell(plan, monkeypatch, capsys):
    monkeypatch.setattr(errors, "STARTED", 0.0)
    with pytest.raises(InputError) as caught:  # it names any of the loaded files
        train.main("linear_pairs")
    assert caught.value.kind == "failed-jobs"
    assert {error.kind for error in caught.value.fields["errors"]} == {"edited"}
    assert not list(store.default_folder().rglob("*.safetensors"))


def test_cells_of_another_run_are_taken_from_it_and_those_that_it_gives_up_are_trained(
    plan, monkeypatch, capsys
):
    """The other run holds two cells: it finishes one of them and lets go of the
    other."""
    data, work = jobs_of(plan)
    held = {work[1].key: True, work[2].key: False}
    waited = []
    kept = store.Store(store.default_folder())

    class Elsewhere(Claims):
        def take(self, key):
            return key not in held

        def wait(self, key):
            waited.append(key)
            result = jobs.train_cell(data, work[1])
            kept.put(work[1].key, result.tensors, vars(result.outcome))
            held.clear()

    monkeypatch.setattr(run, "Claims", Elsewhere)
    capsys.readouterr()
    train.main("linear_pairs")
    assert counts(capsys) == (4, 1, 0) and waited == [work[1].key]
    assert len(artifacts.read_training("linear_pairs", "training.csv")) == 5


def test_a_full_disk_ends_the_run_in_one_sentence_and_what_is_finished_is_kept(
    plan, monkeypatch, capsys
):
    put = store.Store.put
    tried = []

    def put_one(kept, key, *entry):
        tried.append(key)
        if len(tried) > 1:
            raise OSError(errno.ENOSPC, "No space left on device", str(kept.path(key)))
        put(kept, key, *entry)

    monkeypatch.setattr(store.Store, "put", put_one)
    with pytest.raises(SystemExit, match="^error: the disk is full"), one_sentence():
        train.main("linear_pairs")
    assert len(tried) == 2 and not MODELS.exists()
    monkeypatch.setattr(store.Store, "put", put)
    capsys.readouterr()
    train.main("linear_pairs")
    assert counts(capsys) == (4, 1, 0)


def test_cells_that_fail_are_named_and_the_others_are_kept(plan, monkeypatch, capsys):
    real = Data.dataset

    def dataset(data, cell, split):
        x, y = real(data, cell, split)
        place = cell["architecture"], cell["index_1"], cell["index_2"]
        if place == ("logreg", 1, 9):
            raise OSError("no such draw")
        return (x * float("nan"), y) if place == ("mlp", 1, 1) else (x, y)

    monkeypatch.setattr(Data, "dataset", dataset)
    with refused("failed-jobs", failed=2, count=5) as caught:
        train.main("linear_pairs")
    errors = [type(error) for error in caught.value.fields["errors"]]
    assert errors == [OSError, loop.Diverged]
    for cell in ("logreg-1-9-seed3: OSError", "mlp-1-1-seed3: Diverged"):
        assert cell in str(caught.value)
    monkeypatch.setattr(Data, "dataset", real)
    capsys.readouterr()
    train.main("linear_pairs")
    assert counts(capsys) == (2, 3, 0)


@pytest.mark.slow
def test_processes_train_and_evaluate_as_one_does(folder, request):
    lay_down()
    train.main("linear_pairs")
    evaluate.main("linear_pairs")
    reports = artifacts.REPORTS / "linear_pairs"
    found = laid_down(), {path.name: path.read_bytes() for path in reports.iterdir()}
    request.getfixturevalue("in_this_process")
    shutil.rmtree(store.default_folder())
    train.main("linear_pairs")
    evaluate.main("linear_pairs")
    assert found == (
        laid_down(),
        {path.name: path.read_bytes() for path in reports.iterdir()},
    )
