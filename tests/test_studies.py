"""The numbers that the studies make, by formulas, by hand, and of the smallest
sizes."""

import types

import numpy as np
import pandas as pd
import pytest
import torch
from small_grids import data_of, lay_down_nads, orthonormal, plan_of

from pipeline.grid import jobs
from pipeline.nads.symmetry import symmetrise
from pipeline.training import loop
from studies import (
    altered,
    fitting,
    in_memory,
    patches,
    precision,
    prediction,
    published_rows,
    skips,
    verdicts,
)


def test_the_part_of_a_span_that_repeats_in_every_patch():
    whole = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 1024)))[0]
    assert patches.repeating(whole, 4) == pytest.approx(16 / 1024)
    pattern = np.tile(np.eye(16).reshape(16, 4, 4), (1, 8, 8)).reshape(16, 1024) / 8
    assert patches.repeating(pattern, 4) == pytest.approx(1)
    other = np.roll(pattern[0].reshape(32, 32), 1, 0) * np.repeat([1, -1], 16)
    assert patches.repeating(other.reshape(1, 1024), 4) == pytest.approx(0)


def test_the_number_of_rows_of_a_spectrum_is_found_again():
    rng = np.random.default_rng(1)
    eigenvalues = np.geomspace(1, 1e-3, 256)
    rows = rng.standard_normal((600, 256)) * np.sqrt(eigenvalues)
    published = dict(enumerate(np.linalg.svd(rows, compute_uv=False)))
    spread = {
        rows: np.abs(
            np.log(published_rows.ratios(eigenvalues, published, rows, rng))
        ).mean()
        for rows in (400, 600, 900)
    }
    assert min(spread, key=spread.get) == 600 and spread[600] < 0.05


def test_the_part_of_a_covariance_that_breaks_transposition_tells_the_number_of_rows():
    """Of normal rows of a law that transposition leaves as it is, on 1×6×6 inputs."""
    rng = np.random.default_rng(2)
    shape = (1, 6, 6)
    root = symmetrise("transposition", rng.standard_normal((36, 36)), shape)
    assert published_rows.odd_part(root @ root.T, shape) == pytest.approx(0, abs=1e-12)
    for rows in (100, 400):
        sizes = []
        expected = []
        for _ in range(40):
            sample = rng.standard_normal((rows, 36)) @ root
            matrix = sample.T @ sample / rows
            flipped = matrix.reshape(6, 6, 6, 6).transpose(1, 0, 3, 2).reshape(36, 36)
            sizes.append(np.linalg.norm(matrix - flipped) / 2 / np.linalg.norm(matrix))
            assert published_rows.odd_part(matrix, shape) == pytest.approx(sizes[-1])
            expected.append(published_rows.expected_odd_part(matrix, shape, rows))
        # Twice the rows would make it 1.41 times as small.
        assert np.mean(sizes) == pytest.approx(np.mean(expected), rel=0.03)


def test_the_alignment_of_c_with_directions_is_their_response_over_a_random_one():
    directions = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    c = types.SimpleNamespace(
        directions=directions, eigenvalues=np.array([4.0, 2.0, 1.0, 1.0])
    )
    assert prediction.alignment(c, directions) == pytest.approx(1)
    assert prediction.alignment(c, -3 * directions[:1]) == pytest.approx(2)
    two = np.stack([directions[0], 2 * directions[3]])
    assert prediction.alignment(c, two) == pytest.approx((4 + 4 * 1) / (1 + 4) / 2)


def test_the_directions_that_separate_classes():
    """Classes at (±1, ±1, 0) with noise along (1, −1): the means differ along (1, 1, 0)
    alone."""
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    x = np.outer(2 * y - 1, [1.0, 1, 0]) + rng.standard_normal((4000, 3)) * [1, 0.2, 1]
    np.testing.assert_allclose(
        prediction.class_means(x, y), [[-1, -1, 0], [1, 1, 0]], atol=0.05
    )
    (fisher,) = prediction.fisher(x, y)
    # S_W⁻¹(μ₁ − μ₀), with S_W = diag(1, 0.04, 1)
    assert np.abs(fisher @ [0.04, 1, 0]) / np.hypot(0.04, 1) == pytest.approx(
        1, abs=2e-3
    )


@pytest.fixture
def pairs(folder):
    """A cell of `linear_pairs`, whose plan and data are made in memory."""
    settings = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
    lay_down_nads(mlp=orthonormal())
    grids = {"mlp": {"indices": (5,)}}
    plan = plan_of("linear_pairs", settings, grids, (3,), (300, 60))
    return in_memory.LinearPairs(plan)


def test_a_cell_trained_in_memory_is_what_the_stage_trains(pairs):
    """The stated way of `fitting` too, but for the clipping that is planned."""
    data = data_of("linear_pairs", {3: pairs.data.base_noise(3)}, pairs.data.vectors)
    (job,) = jobs.of_cells(pairs.plan, data, pairs.cells, torch.device("cpu"))
    result = jobs.train_cell(data, job)
    outcome, accuracies, seconds = pairs.train(job.cell, "linear_pairs")
    assert outcome == result.outcome and seconds > 0
    assert list(accuracies) == ["all", "first", "second", "conflict"]
    network = jobs.restore(
        data, job.cell, job.specification, result.tensors, torch.device("cpu")
    )
    for name, x, y in data.test_sets(job.cell):
        assert accuracies[name] == loop.accuracy(network, x, y)
    row = fitting.train_cell(pairs, (job.cell, "stated"))
    expected = {
        "train_loss": outcome.losses[-1],
        "train_accuracy": outcome.accuracy,
    } | accuracies
    assert row == pytest.approx(expected, abs=1e-5)
    assert fitting.train_cell(pairs, (job.cell, "clip 0.1")) != row


def test_both_precisions_of_a_cell_begin_alike(pairs):
    (cell,) = pairs.cells
    exact, rounded = (
        precision.train_cell(pairs, (cell, n))[0] for n in ("float32", "bfloat16")
    )
    assert (
        exact
        == pairs.train(cell, "precision")[1]
        != pairs.train(cell, "linear_pairs")[1]
    )
    assert rounded == pytest.approx(exact, abs=0.2)


def test_the_mean_difference_of_two_precisions_is_over_trainings():
    """Two seeds of one cell: bfloat16 is 1 point worse in one training and 3 better in
    another."""
    tested = [("a", 0, "c", "all", 0.8, 0.78), ("a", 0, "c", "first", 0.6, 0.6)]
    tested += [("a", 1, "c", "all", 0.9, 0.95), ("a", 1, "c", "first", 0.6, 0.61)]
    columns = ["architecture", "seed", "cell", "test_set", "float32", "bfloat16"]
    places = pd.MultiIndex.from_tuples([("a", 0, "c"), ("a", 1, "c")])
    seconds = pd.DataFrame(
        {"float32": [3.0, 4.0], "bfloat16": [2.0, 2.0]}, index=places
    )
    (row,) = precision.compare(pd.DataFrame(tested, columns=columns), seconds)
    shown = {
        key: round(float(value), 6) for key, value in row.items() if key != "network"
    }
    assert shown == {
        "cells": 1,
        "seeds": 2,
        "float32": 72.5,
        "bfloat16": 73.5,
        "difference": 1,
        "from": -1,
        "to": 3,
        "largest": 5,
        # Variances of (80, 90) and (60, 60): their mean is 25.
        "between seeds": 5,
        "times as fast": 1.75,
        "at least": 1.5,
        "at most": 2,
    }


def test_the_interval_of_a_rank_correlation_is_over_networks():
    accuracy = np.array([1.0, 2, 3, 4, 5, 6])
    rng = np.random.default_rng(0)
    assert prediction.rank_correlation(accuracy**3, accuracy, rng) == pytest.approx(
        (1, 1, 1)
    )
    rho, low, high = prediction.rank_correlation(
        np.array([2.0, 1, 4, 3, 6, 5]), accuracy, rng
    )
    assert (
        rho == pytest.approx(1 - 6 * 6 / (6 * 35))
        and -0.5 < low < 0.6 < rho < high == 1
    )


def test_simulated_runs_have_the_spread_that_they_state():
    rng = np.random.default_rng(0)
    cells = verdicts.draw_cells(rng, 0.0)
    assert len(cells) == 30 and cells["mean"].between(0.5, 0.999).all()
    results = verdicts.draw_run(rng, cells, seeds=200)
    between = results[results["kind"] == verdicts.BETWEEN].groupby("coordinates")
    # Counting 4,000 samples adds at most 0.008² to 0.02².
    assert between["accuracy"].std().between(0.018, 0.024).all()
    shifted = verdicts.shift(cells, verdicts.BETWEEN, 2, -0.3)
    moved = shifted["mean"] != cells["mean"]
    assert moved.sum() == 2 and (cells.loc[moved, "kind"] == verdicts.BETWEEN).all()


def test_directions_are_altered_alone():
    x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    made = {name: y.flatten() for name, y in altered.alterations(x, torch.eye(4)[1:3])}
    assert made["removed"].tolist() == [1, 0, 0, 4] and made["negated"].tolist() == [
        1,
        -2,
        -3,
        4,
    ]
    step = made["moved"] - x.flatten()
    assert step[[0, 3]].tolist() == [0, 0] and step.norm() == pytest.approx(
        x.norm() / 2
    )


def test_waves_are_told_apart_by_the_parity_of_half_their_frequencies():
    waves = pd.DataFrame({"k_row": [-6, 2, 4, 0], "k_col": [6, -12, -16, 0]})
    assert skips.count_odd_halves(waves).tolist() == [2, 1, 0, 0]
