"""`fourier` and `convergence` (paper 1, §2 and fig. 2): D(v) along every different vector of the
Fourier basis."""

import pandas as pd
import pytest
from small_grids import table

from pipeline import experiments

FOURIER = experiments.find("fourier")
COLUMNS = ("architecture", "seed", "k_row", "k_col", "accuracy", "train_accuracy")


def test_metrics_of_fourier():
    rows = [
        # Of these all are fitted but the second seed at (0, 0).
        ("lenet", seed, k, k_col, a + 0.01 * seed, 0.9899 if seed and not k else 0.99)
        for k, k_col, a in ((0, 0, 0.9), (8, 0, 0.5), (-16, 0, 0.745), (-8, 0, 0.5), (-8, 8, 0.75))
        for seed in (0, 1)
    ]
    # Means over seeds: 0.905, 0.505, 0.75, 0.505, 0.755.
    rows += [("densenet", 0, k, 0, a, 1.0) for k, a in ((0, 2 / 3), (8, 0.77777), (-8, 0.5))]
    keys = ("cells", "fitted", "mean", "lowest", "highest")
    assert FOURIER.metrics({"results": table(rows, COLUMNS)}, {}) == {
        "lenet": dict(zip(keys, (10, 9, 0.684, 0.505, 0.905))),
        "densenet": dict(zip(keys, (3, 3, 0.6481, 0.5, 0.7778))),
    }


# As `evaluate` has the column, and as CSV gives it back.
@pytest.mark.parametrize("kind", [pd.Int64Dtype(), float])
def test_metrics_of_convergence(kind):
    steps = {(0, 4): (30, 50), (8, 0): (100, 101), (0, 0): (200, 210)}
    steps |= {(-8, 8): (90, None), (-16, 0): (None, None)}
    rows = [
        ("lenet", seed, *k, 0.9, 1.0 if found[seed] else 0.5, found[seed])
        for seed in (0, 1)
        for k, found in steps.items()
    ]
    rows += [("logreg", 0, 0, 0, 0.9, 0.98, None), ("mlp", 0, 0, 0, 0.9, 0.99, 7)]
    results = table(rows, (*COLUMNS, "steps")).astype({"steps": kind})
    keys = ("cells", "fitted", "directions", "learned")
    assert experiments.find("convergence").metrics({"results": results}, {}) == {
        "lenet": dict(zip(keys, (10, 7, 5, 3))),
        "logreg": dict(zip(keys, (1, 0, 1, 0))),
        "mlp": dict(zip(keys, (1, 1, 1, 1))),
    }
