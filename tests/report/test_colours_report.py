"""What `colours` says of grey beside the colours."""

import small_run
from small_run import FREQUENCIES, LABELS

from pipeline.cells.fourier import AXES
from pipeline.report import colours

PLACES = [{"axis": axis} | place for axis in AXES for place in FREQUENCIES]


def run_of(rows):
    planned = small_run.plan("colours", {"eps": 1.0, "sigma": 0.75}, [{"step": 16}] * 2)
    return small_run.evaluated(planned, rows)


def test_the_difference_from_grey_is_taken_wave_by_wave_and_seed_by_seed():
    rows = small_run.rows_of(PLACES).assign(accuracy=0.6)
    wave = (rows["k_row"] == 0) & (rows["k_col"] == 0)
    # 4 points more along one wave of four: a mean of 1, and a standard error of √(24/7/8).
    rows.loc[wave & (rows["axis"] == "red_green"), "accuracy"] += 0.04
    _, (sentence,) = colours.numbers(run_of(rows))
    each = "red–green 1.00 ± 0.65 points and blue–yellow 0.00 ± 0.00 points, over the 8 of 8 "
    each += "waves and seeds fitted in every colour"
    assert sentence.endswith(f"{LABELS['z']} {each}; {LABELS['a']} {each}.")
    # That wave was not fitted in grey, the others differ by nothing, and of a no wave was fitted.
    rows.loc[
        wave & (rows["axis"] == "grey") & (rows["seed"] == rows["seed"].min()), "train_accuracy"
    ] = 0.9
    rows.loc[rows["architecture"] == "a", "train_accuracy"] = 0.9
    _, (sentence,) = colours.numbers(run_of(rows))
    each = "red–green 0.57 ± 0.57 points and blue–yellow 0.00 ± 0.00 points, over the 7 of 8"
    assert f"{LABELS['z']} {each}" in sentence
    assert sentence.endswith(f"{LABELS['a']}: no wave was fitted in every colour.")
