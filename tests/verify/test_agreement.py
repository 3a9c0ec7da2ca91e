"""Two runs drawn from one simulated spread agree as often as is claimed; one that was shifted does
not, and the shift is named."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.verdicts import CHANCE, differing, false_alarms, grid, run, shifted
from pipeline.verify import agreement

N = 4000


@pytest.mark.slow
@pytest.mark.parametrize(("unlike", "seeds", "common"), CHANCE)
def test_one_pair_of_runs_in_a_hundred_differs_by_chance(unlike, seeds, common):
    """With one in a hundred, more than four of 100 would come in 0.3 per cent of trials."""
    assert false_alarms(np.random.default_rng(2), 100, unlike, seeds, common) <= 4


@pytest.mark.parametrize(
    ("kind", "shift"), [("saturated", -0.04), ("guessing", 0.12), ("between", -0.3)]
)
def test_one_cell_that_moved_is_found_and_named(kind, shift):
    rng = np.random.default_rng(3)
    for _ in range(4):
        cells, chosen = shifted(rng, 0.0, shift, kind)
        found, _ = differing(run(rng, cells.assign(mean=cells["shifted"])), run(rng, cells))
        moved = cells.loc[chosen, agreement.PLACE]
        assert found[agreement.PLACE].values.tolist() == moved.values.tolist()
        assert np.sign(found["difference"].item()) == np.sign(shift)


def test_a_panel_that_moved_by_less_than_a_cell_shows_is_found_by_its_mean():
    rng = np.random.default_rng(4)
    for _ in range(4):
        cells, chosen = shifted(rng, 0.0, -0.03, None)
        found, means = differing(run(rng, cells.assign(mean=cells["shifted"])), run(rng, cells))
        assert means["experiment"].tolist() == ["linear_pairs"]
        assert means["difference"].item() == pytest.approx(-0.02, abs=0.006)
        assert len(found) < 3 < chosen.sum()


def test_variances_are_pooled_over_both_runs_and_never_below_the_binomial_one():
    place = dict(zip(agreement.PLACE, ("fourier", "lenet", "all", "k 0")))
    table = lambda *values: pd.DataFrame(
        [place | {"seed": s, "accuracy": a, "n": N} for s, a in enumerate(values)]
    )
    tables = table(0.70, 0.80), table(0.60, 0.63, 0.66)
    row = agreement.cells(*tables).iloc[0]
    assert row["difference"] == pytest.approx(0.12) and row["dof"] == 3
    assert row["variance"] == pytest.approx((2 * 0.05**2 + 2 * 0.03**2) / 3)
    assert row["factor"] == pytest.approx(1 / 2 + 1 / 3)
    equal = agreement.cells(table(0.75, 0.75), table(0.75, 0.75)).iloc[0]
    assert equal["variance"] == pytest.approx(0.75 * 0.25 / N, rel=1e-3)
    other = agreement.cells(*tables, {("fourier", "lenet")}).iloc[0]
    assert other["factor"] == pytest.approx(row["factor"] + 2 * agreement.DIRECTIONS**2)


def test_chance_is_a_probability_where_variances_are_as_assumed():
    """Of cells whose variances come from a scaled inverse χ² of 4 degrees of freedom, one in twenty
    has a chance below 0.05."""
    rng = np.random.default_rng(4)
    dof, found = np.full(24, 4), []
    for _ in range(600):
        true = 0.02**2 * 4 / rng.chisquare(4, 24)
        seen = true * rng.chisquare(4, 24) / 4
        found.append(
            agreement.chance(np.sqrt(true[0] * 2 / 3) * rng.standard_normal(), 2 / 3, seen, dof)
        )
    assert 0.03 < np.mean(np.array(found) < 0.05) < 0.075
    assert 0.4 < np.mean(np.array(found) < 0.5) < 0.6


def test_one_seed_tells_no_spread():
    rng = np.random.default_rng(5)
    cells = grid(rng, 0.0)
    rows = agreement.cells(run(rng, cells, 1), run(rng, cells, 1))
    rows, large = agreement.judged(rows), rows["difference"].abs() >= agreement.MATTERS
    assert rows.loc[large, "chance"].isna().all() and large.any()
    assert (rows.loc[~large, "chance"] == 1).all() and not rows["differs"].any()
    assert agreement.tolerance(rows, 2) == float("inf")


def test_the_tolerance_is_where_a_difference_becomes_too_large():
    rng = np.random.default_rng(6)
    cells = grid(rng, 0.0)
    rows = agreement.cells(run(rng, cells), run(rng, cells))
    for position in (0, 1, 2):
        limit = agreement.tolerance(rows, position)
        assert agreement.MATTERS <= limit < 0.5
        for factor, expected in ((0.98, False), (1.02, True)):
            moved = rows["difference"].where(rows.index != position, factor * limit)
            judged = agreement.judged(rows.assign(difference=moved))
            assert judged["differs"][position] == expected


def test_first_singular_values_within_their_standard_errors():
    names = "first_singular_value", "relative_error", "networks"
    estimate = lambda value, error=0.1, networks=64: dict(zip(names, (value, error, networks)))
    ours = {"lenet": estimate(1.0), "vgg11": estimate(1.0), "mlp": estimate(1.0)}
    theirs = {"lenet": estimate(1.08), "vgg11": estimate(1.6), "resnet18": estimate(1.0)}
    found = agreement.singular_values(ours, theirs)
    assert list(found["name"]) == ["lenet", "vgg11"]
    assert found["error"].iloc[0] == pytest.approx(np.sqrt(0.1**2 / 2), rel=1e-3)
    assert list(agreement.too_large(found["chance"].to_numpy())) == [False, True]
    exact, unknown = ({"lenet": estimate(1.0, error)} for error in (0.0, None))
    assert agreement.singular_values(exact, exact)["chance"].item() == 1
    assert agreement.singular_values(unknown, unknown).empty
