"""What the figure, the table and the finding of `convergence` show."""

import dataclasses

import drawing
import numpy as np
import pandas as pd
from small_run import FREQUENCIES, make_plan, make_record, make_results

from pipeline.report import convergence


def make_speed(steps, accuracies):
    """The speed of a network along as many directions."""
    k_row = 8 * np.arange(len(steps))
    columns = {"k_row": k_row, "k_col": 0, "steps": steps, "mean": accuracies}
    return pd.DataFrame(columns)


def test_directions_that_were_not_learned_come_last():
    speed = make_speed([40, np.inf, 20], [0.9, np.nan, np.nan])
    assert convergence.select_learned(speed)["steps"].tolist() == [20, 40]
    assert convergence.correlate(speed) == "ρ undefined (1 directions)"
    # Ranks 1, 2.5, 2.5 against 2, 1, 3.
    tied = make_speed([5, np.inf, np.inf], [0.7, 0.6, 0.9])
    assert convergence.correlate(tied) == "ρ = 0.00 (3 directions)"
    assert convergence.correlate(make_speed([5, 6], [np.nan, np.nan])) == ""


def test_a_map_has_the_steps_and_dots_where_a_seed_did_not_learn():
    results = make_results(FREQUENCIES).assign(steps=np.arange(16.0))
    results.loc[0, "steps"] = np.nan  # of z at (−16, −16), by the first seed
    plan = make_plan("convergence", {"eps": 1.0, "sigma": 1.0}, 2 * [{"step": 16}])
    record = make_record(plan, results)
    speeds = {name: convergence.measure_speed(record, name, record) for name in "za"}
    narrow, lenet, _ = convergence.draw_maps(record, speeds, "title", "caption").axes
    assert drawing.unfitted(narrow) == {(0, 0), (0, 2), (2, 0), (2, 2)}
    assert drawing.texts(narrow)[1.5, 1.5] == "6"
    assert not drawing.unfitted(lenet)
    learned = convergence.select_learned(speeds["z"])
    assert learned["steps"].tolist() == [2.5, 4.5, 6.5]


def test_a_training_has_as_many_steps_as_batches():
    plan = make_plan("convergence", {"eps": 1.0, "sigma": 1.0}, 2 * [{"step": 16}])
    training = dataclasses.replace(plan.members["a"].training, batch_size=64)
    plan.members["a"] = dataclasses.replace(plan.members["a"], training=training)
    record = make_record(plan, make_results(FREQUENCIES).assign(steps=1.0))
    # 1,234 samples: 10 batches of 128 in each of 3 epochs, 20 of 64 in each of 2.
    assert convergence.count_steps(record, "z") == 30
    assert convergence.count_steps(record, "a") == 40
