"""Two runs drawn from one simulated spread agree as often as is claimed; one that was shifted does
not, and the shift is named."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pipeline.verify import agreement
from studies.verdicts import CHANCE, differing, false_alarms, shifted

N = 4000


@pytest.mark.slow
@pytest.mark.parametrize(("unlike", "seeds", "common"), CHANCE)
def test_one_pair_of_runs_in_two_hundred_differs_by_chance(unlike, seeds, common):
    """With one in two hundred, more than three of 100 would come in 0.2 per cent of trials."""
    assert false_alarms(np.random.default_rng(2), 100, unlike, seeds, common) <= 3


@pytest.mark.parametrize(
    ("kind", "shift"),
    [("saturated", -0.04), ("guessing", -0.12), ("between", -0.35), ("panel", -0.04)],
)
def test_what_moved_is_found_and_named(kind, shift):
    rng = np.random.default_rng(3)
    for _ in range(4):
        ours, cell, theirs = shifted(rng, 0.0, shift, kind)
        found = differing(ours, theirs)
        named = found[(found["coordinates"] == agreement.MEAN) == (kind == "panel")]
        assert named[agreement.CELL].values.tolist() == [cell]
        assert np.sign(named["difference"].item()) == np.sign(shift)


def table(*values, at="k 0", nads=""):
    """Results of a cell with these accuracies of one seed each."""
    cell = dict(zip(agreement.CELL, ("fourier", "lenet", "all", at))) | {"nads": nads}
    return pd.DataFrame([cell | {"seed": s, "accuracy": a, "n": N} for s, a in enumerate(values)])


def test_the_tolerance_is_that_of_a_moderated_t_test():
    """Of a cell alone s² is pooled over both runs; beside others it is averaged with that of the
    one that varies most, as of as many degrees of freedom as there are others, at most four; and it
    is never below the binomial variance."""

    def first(ours, theirs, others=0):
        row = agreement.compared(ours, theirs).iloc[0]
        freedom = min(others, 4) + 3
        return row, row["tolerance"] / stats.t.isf(0.005 / 3 / (others + 1) / 2, freedom)

    ours, theirs = table(0.70, 0.80), table(0.60, 0.63, 0.66)
    variance, factor = (2 * 0.05**2 + 2 * 0.03**2) / 3, 1 / 2 + 1 / 3
    row, error = first(ours, theirs)
    assert row["difference"] == pytest.approx(0.12) and (row["seeds"], row["seeds_there"]) == (2, 3)
    assert error == pytest.approx(np.sqrt(variance * factor))
    _, error = first(ours, theirs.assign(nads="others"))
    assert error == pytest.approx(np.sqrt(variance * (factor + 2)))
    wider = (0.64, 0.86), (0.66, 0.7, 0.74)
    more = (2 * 0.11**2 + 2 * 0.04**2) / 3
    for others in (1, 5):
        cells = [
            pd.concat([run, *(table(*values, at=f"k {k}") for k in range(1, others + 1))])
            for run, values in zip((ours, theirs), wider)
        ]
        _, error = first(*cells, others)
        counted = min(others, 4)
        expected = (counted * more + 3 * variance) / (counted + 3) * factor
        assert error == pytest.approx(np.sqrt(expected))
    _, error = first(table(0.75, 0.75), table(0.75, 0.75, 0.75))
    assert error == pytest.approx(np.sqrt(0.75 * 0.25 / N * factor), rel=1e-3)
    row, _ = first(table(1.0, 1.0), table(1.0, 1.0, 1.0))
    assert row["tolerance"] == agreement.MATTERS


def test_means_over_cells_are_of_whole_seeds():
    """Two cells of which one rises by as much as the other falls have a mean without spread."""
    pair = [table(0.6, 0.7, 0.8), table(0.8, 0.7, 0.6, at="k 1")]
    rows = agreement.compared(pd.concat(pair), pd.concat(pair).assign(n=3 * N))
    mean = rows[rows["coordinates"] == agreement.MEAN].iloc[0]
    limit = stats.t.isf(0.005 / 3 / 2, 4)  # there is no other mean
    assert mean["tolerance"] == pytest.approx(limit * np.sqrt(0.21 / (2 * N) * 2 / 3), rel=1e-3)


def test_first_singular_values_within_their_standard_errors():
    names = "first_singular_value", "relative_error", "networks"
    estimate = lambda value, error=0.1, networks=64: dict(zip(names, (value, error, networks)))
    ours = {"lenet": estimate(1.0), "vgg11": estimate(1.0), "mlp": estimate(1.0)}
    theirs = {"lenet": estimate(1.08), "vgg11": estimate(1.6), "resnet18": estimate(1.0)}
    found = agreement.singular_values(ours, theirs)
    assert list(found["name"]) == ["lenet", "vgg11"]
    assert found["error"].iloc[0] == pytest.approx(np.sqrt(0.1**2 / 2), rel=1e-3)
    assert list(found["excess"] > 1) == [False, True]
    gradient = {name: entry | {"estimand": "gradient"} for name, entry in theirs.items()}
    assert agreement.singular_values(ours, gradient).empty
    exact = {"lenet": estimate(1.0, 0.0)}
    assert agreement.singular_values(exact, exact)["excess"].item() == 0
