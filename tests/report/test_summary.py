"""reports/metrics.json: its numbers from tables whose values are known, and those committed."""

import dataclasses
import json

from structure import ROOT

from pipeline import render
from pipeline.report import run, summary


def test_the_metrics_of_tables_laid_down_by_hand(whole, monkeypatch):
    """Rows of `small_run` rise by 0.002 each; those of `a` come after those of `z`, seeds last."""
    monkeypatch.setattr(summary, "NETWORK", "a")
    about = dataclasses.replace(whole, nads={"a": whole.nads["a"]})
    assert summary.summary(about, render.PARTS) == {
        "nads": {"first_singular_value": 200.0, "relative_error": 0.1},
        # Of two indices, the later has the higher accuracy.
        "nad_sweep": {"spearman": 1.0},
        # The last two of sixteen rows: 0.528 and 0.530.
        "fourier": {"highest": 0.529},
        "convergence": {"learned": 0.5},
        # Three times 0.0101 + seed/1000, of seeds 5 and 6.
        "learning": {"along_v": 0.0358},
        # Rows 12 to 17 of 24 for each network; (9, 1) second is rows 40 and 41.
        "linear_pairs": {"fitted": 1.0, "second_late_early": 0.641},
        "image_pairs": {"linear_early": 0.525, "images_late": 0.521},
        "poison": {"poisoned_early": 0.513},
        "flip": {"flipped": 0.513},
    }


def test_what_is_not_of_lenet_is_left_out(whole):
    assert summary.summary(whole, render.PARTS) == {}


def test_the_committed_metrics_are_of_the_committed_tables():
    records = run.read_folder(ROOT / "reports", list(render.PARTS))
    numbers = summary.summary(run.Report(None, {}, records, None), render.PARTS)
    committed = json.loads((ROOT / "reports/metrics.json").read_text(encoding="utf-8"))
    assert numbers | {"nads": committed["nads"]} == committed
    assert {"colours", *numbers} == set(records), "which trains no LeNet of one channel"
