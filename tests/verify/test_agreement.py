"""Simulated runs with one spread agree, runs with shifted cells differ, and seeds that
are too far apart judge nothing."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pipeline.verify.agreement import (
    AGREES,
    DIFFERS,
    FALSE_ALARMS,
    UNJUDGED,
    compare,
    compare_singular_values,
)
from studies.verdicts import (
    BETWEEN,
    SATURATED,
    SETTINGS,
    count_false_alarms,
    count_found,
)

N = 4000


@pytest.mark.parametrize(("spread", "seeds", "correlation"), SETTINGS)
def test_runs_that_differ_by_chance_alone_do_not_differ(spread, seeds, correlation):
    rng = np.random.default_rng(2)
    assert count_false_alarms(rng, 20, spread, seeds, correlation) == 0


@pytest.mark.parametrize(
    ("kind", "cells", "by"),
    [(SATURATED, 1, -0.4), (BETWEEN, 1, -0.35), (BETWEEN, 10, -0.1)],
)
def test_shifted_cells_are_found(kind, cells, by):
    assert count_found(np.random.default_rng(3), 5, 0.0, kind, cells, by) == 5


def results(cells):
    """Results of one network: the accuracies of each seed, by cell."""
    rows = []
    for coordinates, accuracies in cells.items():
        for seed, accuracy in enumerate(accuracies):
            rows.append((coordinates, seed, accuracy))
    table = pd.DataFrame(rows, columns=["coordinates", "seed", "accuracy"])
    return table.assign(test_set="all", n=N, nads="")


def test_the_tolerance_pools_the_variance_of_both_runs_over_cells():
    ours = results({"k 0": (0.70, 0.80), "k 1": (0.60, 0.62)})
    theirs = results({"k 0": (0.60, 0.63, 0.66), "k 1": (0.7, 0.7, 0.7), "k 2": (0.5,)})
    agreement = compare(ours, theirs)
    first = (0.005 + 2 * 0.03**2) / 3
    second = 0.0002 / 3
    pooled = (first + second) / 2
    freedom = (first + second) ** 2 / (first**2 / 3 + second**2 / 3)
    limit = stats.t.isf(FALSE_ALARMS / 2, freedom)
    expected = limit * np.sqrt(pooled * (1 / 2 + 1 / 3))
    assert agreement.tolerance == pytest.approx(expected)
    assert agreement.cells["difference"].tolist() == pytest.approx([0.12, -0.09])
    assert agreement.rms == pytest.approx(np.sqrt((0.12**2 + 0.09**2) / 2))
    # NADs of other networks count as two further seeds.
    agreement = compare(ours, theirs.assign(nads="others"))
    expected = limit * np.sqrt(pooled * (1 / 2 + 1 / 3 + 2))
    assert agreement.tolerance == pytest.approx(expected)


def test_seeds_that_agree_by_luck_have_the_variance_of_counting():
    run = results({"k 0": (0.75, 0.75)})
    limit = stats.t.isf(FALSE_ALARMS / 2, 2)
    expected = limit * np.sqrt(0.75 * 0.25 / N)
    assert compare(run, run).tolerance == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ((0.90, 0.92, 0.91), (0.93, 0.90, 0.92), AGREES),
        ((0.90, 0.92, 0.91), (0.60, 0.62, 0.61), DIFFERS),
        # One seed in each run tells nothing of a difference that counts.
        ((0.90,), (0.905,), AGREES),
        ((0.90,), (0.92,), UNJUDGED),
        # Among seeds so far apart a cell could be lost without a word.
        ((0.95, 0.60, 0.80), (0.55, 0.90, 0.99), UNJUDGED),
    ],
)
def test_verdicts(ours, theirs, verdict):
    agreement = compare(results({"k 0": ours}), results({"k 0": theirs}))
    assert agreement.verdict == verdict


def test_first_singular_values_within_their_standard_errors():
    def estimate(value, error=0.1):
        return {"first_singular_value": value, "relative_error": error}

    ours = {"lenet": estimate(1.0), "mlp": estimate(1.0)}
    theirs = {"lenet": estimate(1.08), "resnet18": estimate(1.0)}
    values = compare_singular_values(ours, theirs)
    assert list(values.index) == ["lenet"]
    lenet = values.loc["lenet"]
    assert lenet["ratio"] == pytest.approx(1 / 1.08)
    assert lenet["error"] == pytest.approx(np.sqrt(0.1**2 / 2), rel=1e-3)
    assert lenet["sigmas"] == pytest.approx(np.log(1.08) / lenet["error"])
    gradient = {"lenet": estimate(1.08) | {"estimand": "gradient"}}
    assert compare_singular_values(ours, gradient).empty
    exact = {"lenet": estimate(1.0, 0.0)}
    assert compare_singular_values(exact, exact)["sigmas"].item() == 0
