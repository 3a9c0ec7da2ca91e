"""Steps over seeds: means, deviations, and training sets that are never learned."""

import numpy as np
import pandas as pd
import pytest

from pipeline.measures.ranks import spearman
from pipeline.measures.speed import steps_over_seeds

ROWS = [(0, 4, 0, 30), (8, 0, 0, 100), (0, 4, 1, 50), (8, 0, 1, None), (4, 4, 0, None)]


@pytest.mark.parametrize("kind", ["Int64", float])
def test_a_place_that_one_seed_did_not_learn_comes_after_all_others(kind):
    rows = pd.DataFrame(ROWS, columns=["k_row", "k_col", "seed", "steps"]).astype({"steps": kind})
    found = steps_over_seeds(rows, ("k_row", "k_col"))
    assert found.index.tolist() == [(0, 4), (8, 0), (4, 4)]
    assert found["mean"].tolist() == [40, np.inf, np.inf]
    assert found["std"].iloc[0] == pytest.approx(200**0.5) and found["std"].iloc[1:].isna().all()
    one_seed = steps_over_seeds(rows[:2], ("k_row", "k_col"))
    assert one_seed["mean"].tolist() == [30, 100] and one_seed["std"].isna().all()
    assert found["seeds"].tolist() == [2, 2, 1]
    # Ranks 1, 2.5 and 2.5 against 3, 2 and 1.
    assert spearman(found["mean"], [0.9, 0.8, 0.7])[0] == pytest.approx(-(0.75**0.5))
