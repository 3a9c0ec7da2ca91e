"""The part of a training that counts as early."""

import pandas as pd

from pipeline.measures.ranks import early


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
