"""Rank correlations against values worked out by hand."""

import math

import pandas as pd
import pytest

from pipeline.measures.ranks import early, spearman


def test_spearman_sees_order_alone():
    assert spearman([1, 2, 3, 10], [0.1, 0.2, 0.9, 1.0])[0] == pytest.approx(1)
    assert spearman([1, 2, 3, 10], [4, 3, 2, 1])[0] == pytest.approx(-1)
    # Ranks 1, 2, 3 against 1.5, 1.5, 3: covariance 0.75, variances 1 and 0.75. With t = ρ √((n −
    # 2)/(1 − ρ²)) = √3 and one degree of freedom, p = 1 − 2 arctan(√3)/π.
    assert spearman([1, 2, 3], [5, 5, 7]) == pytest.approx((0.75 / math.sqrt(0.75), 1 / 3))
    assert spearman([5, 5, 7], [3, 2, 1]) == pytest.approx((-0.75 / math.sqrt(0.75), 1 / 3))


@pytest.mark.parametrize("constant", [0, 1])
def test_what_does_not_vary_has_no_rank_correlation(constant):
    sequences = [[1, 2, 3], [5, 5, 5]]
    assert all(map(math.isnan, spearman(sequences[constant], sequences[1 - constant])))


def test_early_is_a_third_of_each_networks_epochs_rounded_and_at_least_one():
    """A third of 5 epochs is 2, of 4 is 1, of 50 is 17, of 1 is 1; all rows of that epoch are
    kept."""
    rows = [
        {"architecture": str(n), "index": i, "epoch": e, "loss": 100 * e + i}
        for n in (5, 4, 50, 1)
        for i in (0, 1)
        for e in range(1, n + 1)
    ]
    found = early(pd.DataFrame(rows))
    assert found["loss"].tolist() == [200, 201, 100, 101, 1700, 1701, 100, 101]
