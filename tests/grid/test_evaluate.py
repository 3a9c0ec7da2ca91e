"""The stage `evaluate` on linear networks made by hand, whose accuracies, tilt, margins
and changes are known in closed form."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import torch
from refusals import refused
from small_grids import (
    ARCHITECTURES,
    SQUARE,
    data_of,
    lay_down_plan,
    orthonormal,
    plan_of,
)

from pipeline import evaluate, experiments
from pipeline.grid.data import Data
from pipeline.grid.evaluation import evaluate_one
from pipeline.machine import store, workers
from pipeline.project import artifacts

BASIS = orthonormal()
LOGREG = ARCHITECTURES["logreg"]


def keep(tensors, path):
    """Lay down a cell's file, as it comes from the store."""
    kept = store.Store(path.parent.parent / "store")
    kept.put(key := store.digest(path.name), tensors, {})
    kept.link_to(key, path)
    return path


def test_a_linear_network_on_two_channels(tmp_path):
    """Logit of class 1 less that of class 0: 2⟨x, v₁⊕0⟩ + 6⟨x, 0⊕v₂⟩ + 2.4, where x has
    ε₁ y along v₁⊕0 and ε₂ y along 0⊕v₂.

    With ε₁ = 1 and ε₂ = 0.5 it is 5y + 2.4: both channels together are always right;
    the first alone gives 2y + 2.4, which is positive, so that it is right for y = 1
    only; the second 3y + 2.4, always right. In conflicts the first has label y and the
    second −y: −y + 2.4 is positive. The boundary's normal has the angle arctan(6/2) to
    v₁⊕0. Three of the five labels are 1, so the median score is 7.4; the boundary is at
    7.4/2 along the first direction and at 7.4/6 along the second.
    """
    draw = {
        "test_labels": np.array([1, -1, 1, 1, -1], np.int8),
        "test_normal": np.random.default_rng(0)
        .standard_normal((5, 2, 1024))
        .astype(np.float32),
    }
    data = data_of(
        "linear_pairs", {4: draw}, {"logreg-1": BASIS[1], "logreg-9": BASIS[9]}
    )
    cell = {"architecture": "logreg", "seed": 4, "index_1": 1, "index_2": 9}
    cell |= {"eps1": 1.0, "eps2": 0.5, "sigma": 0.7} | SQUARE
    normal = np.concatenate([2 * BASIS[1], 6 * BASIS[9]])
    # Half of it from either output: only the difference counts, which is also that of
    # 100 more on both.
    weights = torch.tensor(np.stack([-normal / 2, normal / 2]), dtype=torch.float32)
    weights = {"1.weight": weights, "1.bias": torch.tensor([100.0, 102.4])}
    trained = cell, LOGREG, str(keep(weights, tmp_path / "weights.safetensors"))
    tables, section = evaluate_one(torch.device("cpu"), data, trained)
    assert set(tables) == {"results", "boundaries"}
    assert tables["results"] == [
        {"test_set": "all", "accuracy": 1.0, "n": 5, "best_accuracy": 1.0},
        {"test_set": "first", "accuracy": 0.6, "n": 5, "best_accuracy": 1.0},
        {"test_set": "second", "accuracy": 1.0, "n": 5, "best_accuracy": 1.0},
        {"test_set": "conflict", "accuracy": 0.6, "n": 5, "best_accuracy": 0.6},
    ]
    (row,) = tables["boundaries"]
    assert row == {
        "tilt": pytest.approx(math.degrees(math.atan2(6, 2)), abs=1e-3),
        "margin_1": pytest.approx(7.4 / 2, abs=1e-3),
        "margin_2": pytest.approx(7.4 / 6, abs=1e-3),
    }
    axis = np.linspace(-2, 2, 33)
    scores = 2 * axis[None, :] + 6 * axis[:, None] + 2.4
    np.testing.assert_allclose(
        section.astype(float), 1 / (1 + np.exp(-scores)), atol=1e-3
    )


@pytest.fixture
def fourier_run(folder, monkeypatch):
    """`fourier` with two cells and two seeds, whose networks are right for 3, 1, 4 and
    4 of four samples; on disk.

    What is kept of each is the outputs of a logistic regression, 0 and factor ⟨x, v⟩ +
    bias, where ⟨x, v⟩ = y.
    """
    experiment = experiments.find("fourier")
    plan = plan_of(
        "fourier", {"eps": 1.0, "sigma": 1.0}, {"logreg": {"step": 16}}, samples=(4, 4)
    )
    lay_down_plan(plan)
    cells = [cell for cell in experiment.cells(plan) if cell["k_row"] == 0]
    labels = np.array([1, 1, 1, -1], np.int8)
    normal = np.zeros((4, 1, 1024), np.float32)
    with artifacts.output(artifacts.DATASETS / "fourier") as data:
        pd.DataFrame(cells).to_csv(data / "cells.csv", index=False)
        np.savez(data / "directions.npz", **experiment.directions(plan, None))
        for seed in (0, 1):
            draw = {"test_labels": labels, "test_normal": normal}
            artifacts.write_base_noise(data, seed, draw)
    # By (seed, k_col), the factor and the bias: always class 1; wrong everywhere but
    # there; right.
    logits = {
        (0, -16): (0.0, 1.0),
        (1, -16): (0.0, -1.0),
        (0, 0): (1.0, 0.0),
        (1, 0): (1.0, 0.0),
    }
    monkeypatch.setattr(
        Data, "cells", lambda *_: cells
    )  # and not those along other rows
    losses = pd.DataFrame(cells)[["architecture", "seed", "k_row", "k_col"]]
    with artifacts.output(artifacts.MODELS / "fourier") as models:
        for cell in cells:
            factor, bias = logits[cell["seed"], cell["k_col"]]
            outputs = torch.tensor([[0.0, factor * y + bias] for y in labels.tolist()])
            name = artifacts.cell_name(cell, experiment.coordinates)
            keep({"all": outputs}, models / f"{name}.safetensors")
        losses.assign(epoch=1, loss=0.5).to_csv(models / "losses.csv", index=False)
        (models / "training.csv").write_text(
            "architecture,seed,k_row,k_col,loss,accuracy,steps\n"
            "logreg,1,0,0,0.5,1.0,12\n"
            "logreg,0,0,-16,0.1234567,0.99,\n"
            "logreg,0,0,0,0.5,1.0,7\n"
            "logreg,1,0,-16,0.25,0.9899,\n"
        )
        artifacts.keep_plan(plan, models)


def test_the_tables_of_a_run(fourier_run, monkeypatch):
    """Accuracies 3/4 and 1/4 of one cell's two seeds: mean 0.5, standard deviation √(2
    · 0.25²) with n − 1; in whatever order the cells are done."""

    def reverse(function, work, make_context):
        context = make_context()
        yield from ((job, function(context, job)) for job in reversed(work))

    monkeypatch.setattr(workers, "run_here", reverse)
    evaluate.main("fourier")
    folder = artifacts.REPORTS / "fourier"
    assert (folder / "results.csv").read_text().splitlines() == [
        "architecture,seed,k_row,k_col,test_set,accuracy,n,best_accuracy,"
        "train_loss,train_accuracy,steps",
        "logreg,0,0,-16,all,0.75,4,0.75,0.123457,0.99,",
        "logreg,0,0,0,all,1.0,4,1.0,0.5,1.0,7",
        "logreg,1,0,-16,all,0.25,4,0.75,0.25,0.9899,",
        "logreg,1,0,0,all,1.0,4,1.0,0.5,1.0,12",
    ]
    assert (folder / "summary.csv").read_text().splitlines() == [
        "architecture,k_row,k_col,test_set,mean,std,seeds,fitted,train_accuracy,best_mean,best_std",
        "logreg,0,-16,all,0.5,0.353553,2,1,0.98995,0.75,0.0",
        "logreg,0,0,all,1.0,0.0,2,2,1.0,1.0,0.0",
    ]
    plan = json.loads((artifacts.PLAN / "fourier.json").read_text())
    assert json.loads((folder / "run.json").read_text()) == {
        "images": None,
        "plan": plan,
    }


def test_outputs_that_are_not_finite_are_no_accuracy(fourier_run):
    outputs = torch.tensor([[0.0, math.nan]] * 4)
    name = "logreg-0-0-seed1"
    keep({"all": outputs}, artifacts.MODELS / f"fourier/{name}.safetensors")
    with refused("not-finite", place=name):
        evaluate.main("fourier")


def test_a_course_is_of_each_epochs_own_weights_and_the_results_of_the_last(
    tmp_path, monkeypatch
):
    """Logits along −v + u before training and v + w after: half of the response lies
    along v, and of the rest all in the first NADs, of which u is one, or nothing."""
    draw = {
        "test_labels": np.array([1, -1, 1], np.int8),
        "test_normal": np.random.default_rng(0)
        .standard_normal((3, 1024))
        .astype(np.float32),
    }
    data = data_of("learning", {0: draw}, {"logreg": BASIS})
    monkeypatch.setattr(
        artifacts, "read_nads", {"logreg": {"eigenvalues": np.arange(1024.0)}}.get
    )
    cell = {
        "architecture": "logreg",
        "seed": 0,
        "data": "linear",
        "index": 4,
        "eps": 2.0,
    }
    weights = {}
    for epochs, normal in enumerate((BASIS[9] - BASIS[4], BASIS[4] + BASIS[500])):
        both = torch.tensor(np.stack([-normal, normal]), dtype=torch.float32)
        weights |= {f"{epochs}/1.weight": both, f"{epochs}/1.bias": torch.zeros(2)}
    trained = (
        cell | {"sigma": 0.1} | SQUARE,
        LOGREG,
        str(keep(weights, tmp_path / "a.safetensors")),
    )
    tables, _ = evaluate_one(torch.device("cpu"), data, trained)
    before, after = tables["course"]
    assert before == {"epoch": 0, "v": 0.5, "nads": 1, "accuracy": 0}
    assert after == {"epoch": 1, "v": 0.5, "nads": 0, "accuracy": 1}
    assert tables["results"][0]["accuracy"] == 1
