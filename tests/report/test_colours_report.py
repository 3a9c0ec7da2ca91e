"""What `colours` says of grey beside the colours."""

import small_run
from small_run import FREQUENCIES, LABELS

from pipeline.report import colours
from pipeline.training.fourier import AXES

CELLS = [{"axis": axis} | k for axis in AXES for k in FREQUENCIES]


def test_the_gain_over_grey_is_measured_at_equal_waves_and_seeds(whole):
    rows = small_run.make_results(CELLS).assign(accuracy=0.6)
    wave = (rows["k_row"] == 0) & (rows["k_col"] == 0)
    # 4 points more along one wave of four: a mean of 1, and a standard error of
    # √(24/7/8).
    rows.loc[wave & (rows["axis"] == "red_green"), "accuracy"] += 0.04

    def measure_gains():
        gains, count = colours.measure_gains(rows[rows["architecture"] == "z"])
        return gains.round(2).to_numpy().tolist(), count

    assert measure_gains() == ([[1.0, 0.65], [0.0, 0.0]], "8 of 8")
    # That wave was not fitted in grey by one seed.
    first = wave & (rows["axis"] == "grey") & (rows["seed"] == rows["seed"].min())
    rows.loc[first, "train_accuracy"] = 0.9
    assert measure_gains() == ([[0.57, 0.57], [0.0, 0.0]], "7 of 8")
    unfitted = rows.assign(train_accuracy=0.9)
    finding = colours.make_finding(small_run.change_results(whole, "colours", unfitted))
    assert finding.text == f"{LABELS['z']} fits no frequency in every colour"
