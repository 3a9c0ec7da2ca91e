"""Rank correlations against values worked out by hand."""

import math

import pandas as pd
import pytest

from pipeline.measures.ranks import early, spearman


def test_spearman_sees_order_alone():
    assert spearman([1, 2, 3, 10], [0.1, 0.2, 0.9, 1.0]) == 1
    assert spearman([1, 2, 3, 10], [4, 3, 2, 1]) == -1
    # Ranks 1, 2, 3 against 1.5, 1.5, 3: covariance 0.75, variances 1 and 0.75.
    assert spearman([1, 2, 3], [5, 5, 7]) == pytest.approx(0.75 / math.sqrt(0.75))
    assert math.isnan(spearman([1, 2, 3], [5, 5, 5]))


def test_early_is_a_third_of_each_networks_epochs():
    rows = [
        {"architecture": name, "epoch": e, "loss": e}
        for name, n in (("a", 9), ("b", 1), ("c", 2))
        for e in range(1, n + 1)
    ]
    found = early(pd.DataFrame(rows))
    assert dict(zip(found["architecture"], found["epoch"])) == {"a": 3, "b": 1, "c": 1}
