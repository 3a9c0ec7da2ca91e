"""What the figure and the table of `nad_sweep` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from small_run import SIGMAS, SWEPT, evaluated, plan, rows_of

from pipeline.project import artifacts
from pipeline.report import nad_sweep

HALF = 0.1 * 2**0.5


def test_curves_of_both_estimands(section_of):
    panels = np.reshape(section_of("nad_sweep").pictures[0].figure.axes, (3, 2))
    top, loss, spectrum = panels[:, 0]
    points, whiskers = drawing.curves(top)["secant"]
    assert points == [[1, 50.1], [11, 50.5]]
    assert whiskers == drawing.numbers([[x, y - HALF, y + HALF] for x, y in points])
    # One of the two networks along NAD 0 was not fitted.
    assert drawing.hollow(top) == [[[1, 50.1]]] and drawing.hollow(loss) == [[[1, 0.2505]]]
    assert drawing.curves(loss)["gradient"][0] == [[1, 0.2545], [11, 0.2565]]
    secant, gradient = (list(line.get_ydata()) for line in spectrum.lines)
    assert secant == [1, pytest.approx(0.75**0.5)] and gradient == [1, pytest.approx(0.5**0.5)]


@pytest.fixture
def run():
    return evaluated(plan("nad_sweep", SIGMAS, [{"indices": [0, 10]}] * 2), rows_of(SWEPT))


def test_early_is_a_third_of_training_and_rounding_is_no_negative_eigenvalue(run, monkeypatch):
    losses = pd.concat([run.results.assign(epoch=n + 1, loss=1 / (n + 1)) for n in range(6)])
    losses = losses.drop(columns="train_accuracy")
    values = {
        f"{n}-{e}-eigenvalues": np.array([4.0, 1, -1e-9]) for n in "za" for e in nad_sweep.LOOKS
    }
    monkeypatch.setattr(artifacts, "trained", lambda *_: losses)
    monkeypatch.setattr(artifacts, "generated", lambda *_: values)
    panels = np.reshape(nad_sweep.sweep(run, {}, False, "caption").axes, (3, 2))
    assert drawing.curves(panels[1, 0])["secant"][0] == [[1, 0.5], [11, 0.5]]
    np.testing.assert_allclose(panels[2, 0].lines[0].get_ydata(), [1, 0.5, 1e-9**0.5])


def test_a_rank_correlation_is_told_of_enough_indices_whose_accuracies_vary():
    places = [{"estimand": "secant", "index": index} for index in (8, 2, 1, 0, 4)]
    falling = rows_of(places)
    # The accuracies of indices 8, 2, 1, 0, 4 rise in this order: ranks 5, 3, 2, 1, 4 of the index
    # against 1 to 5, so that Σd² = 16 + 1 + 1 + 9 + 1 = 28 and ρ = 1 − 6 · 28/120.
    for rows, correlation in (
        (falling, "−0.40 (n = 5)"),
        (falling.assign(accuracy=0.5), "–"),
        (falling[falling["index"] > 0], "–"),
    ):
        planned = plan("nad_sweep", SIGMAS, [{"indices": [*rows["index"].unique()]}] * 2)
        first, _ = nad_sweep.table(evaluated(planned, rows), {})
        assert first.get("ρ(accuracy, index)", "–") == correlation


def test_the_table_takes_the_index_nearest_to_a_quoted_one():
    cells = pd.DataFrame({"mean": [0.9, 0.7, 0.5], "std": np.nan}, index=[0, 8, 400])
    texts = [nad_sweep._at_or_near(cells, index) for index in nad_sweep.QUOTED]
    assert texts == ["90.0", "70.0 at 8", "–", "50.0 at 400"]
