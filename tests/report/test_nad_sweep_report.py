"""What the figure, the table and the sentences of `nad_sweep` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from small_run import LABELS, NOT_FITTED, SIZES, SPREAD, SWEPT, captions, evaluated, plan, rows_of

from pipeline.report import nad_sweep

HALF = 0.1 * 2**0.5


def test_the_section(sections):
    section = sections["nad_sweep"]
    label = LABELS["z"]
    caption = SIZES.format("1,234") + f" · ε = 1.25, σ = 3.5 ({label}), 2 (LeNet)" + SPREAD
    assert section.caption == caption
    correlation = "ρ: rank correlation (Spearman) of accuracy and index"
    marked = f"{caption} {correlation} hollow: 1 of 8 points, {NOT_FITTED}"
    assert captions(section) == [("nad_sweep", "accuracy against the NAD index", marked)]
    rest = ["–"] * 3  # two indices tell no rank correlation
    # From 97.88 and 99.24 the narrow ResNet-18 is 47.8 and 48.7 away, LeNet 48.3 and 47.9 from 100
    # and 99.98.
    wide = ["97.88 / 99.24 / 69.25 / 56.35, full width", "48.3 (2), full width"]
    own = ["100 / 99.98 / 80.06 / 58.46", "48.1 (2)"]
    none = ["–", "–"]
    assert section.table.rows == [
        [label, "secant", "1 of 2", "50.1 ± 0.1", "50.5 ± 0.1", *none, *wide, *rest],
        [label, "gradient", "2 of 2", "50.9 ± 0.1", "51.3 ± 0.1", *none, *none, *rest],
        ["LeNet", "secant", "2 of 2", "51.7 ± 0.1", "52.1 ± 0.1", *none, *own, *rest],
        ["LeNet", "gradient", "2 of 2", "52.5 ± 0.1", "52.9 ± 0.1", *none, *none, *rest],
    ]
    along, distance = section.findings
    assert along.startswith(
        f"Accuracy along the NADs, 2 seeds: {label} along its secant NADs 50.1 ± 0.1 % at index 0 "
        f"and 50.5 ± 0.1 % at index 10 (fitted at 1 of 2 indices); {label} along its gradient NADs "
    )
    assert distance == (
        f"Root mean square distance from the published curves: {label} (of full width) 48.3 points "
        "over 2 indices; LeNet 48.1 points over 2 indices."
    )


def test_curves_of_both_estimands_and_the_published_one(sections):
    figure = sections["nad_sweep"].pictures[0].figure
    panels = np.reshape(figure.axes, (3, 2))
    top, loss, spectrum = panels[:, 0]
    legend = [text.get_text() for text in top.get_legend().get_texts()]
    assert legend == ["secant", "gradient", "published, full width (secant)"]
    points, whiskers, *_ = drawing.curves(top)["secant"]
    assert points == [[1, 50.1], [11, 50.5]]
    assert whiskers == drawing.numbers([[x, y - HALF, y + HALF] for x, y in points])
    # One of the two networks along NAD 0 was not fitted.
    assert drawing.hollow(top) == [[[1, 50.1]]] and drawing.hollow(loss) == [[[1, 0.2505]]]
    assert drawing.curves(loss)["gradient"][0] == [[1, 0.2545], [11, 0.2565]]
    lines = {line.get_label(): list(line.get_ydata()) for line in spectrum.lines}
    assert lines["secant"] == [1, pytest.approx(0.75**0.5)]
    assert lines["gradient"] == [1, pytest.approx(0.5**0.5)]
    known = [line for line in top.lines if drawing.colour(line) == "#d55e00"]
    assert known[0].get_ydata()[0] == 97.88 and known[0].get_xdata()[0] == 1
    assert loss.get_ylabel() == "training loss, epoch 1 of 1\n(grey: guessing)"
    assert drawing.ticks(spectrum.xaxis)[:2] == [(1, "0"), (11, "10")]


def swept():
    settings = {"eps": 1.0, "sigma": {"z": 1.0, "a": 1.0}}
    return evaluated(plan("nad_sweep", settings, [{"indices": [0, 10]}] * 2), rows_of(SWEPT))


def drawn(run, epochs=6):
    losses = pd.concat([run.results.assign(epoch=n + 1, loss=1 / (n + 1)) for n in range(epochs)])
    values = {
        f"{n}-{e}-eigenvalues": np.array([4.0, 1, -1e-9]) for n in "za" for e in nad_sweep.LOOKS
    }
    losses = losses.drop(columns="train_accuracy")
    return nad_sweep.sweep(run, losses, values, {}, "caption")


def test_early_is_a_third_of_training_and_rounding_is_no_negative_eigenvalue():
    panels = np.reshape(drawn(swept()).axes, (3, 2))
    assert drawing.curves(panels[1, 0])["secant"][0] == [[1, 0.5], [11, 0.5]]
    assert panels[1, 0].get_ylabel().startswith("training loss, epoch 2 of 6")
    np.testing.assert_allclose(panels[2, 0].lines[0].get_ydata(), [1, 0.5, 1e-9**0.5])


def test_a_rank_correlation_stands_where_accuracy_varies(monkeypatch):
    monkeypatch.setattr(nad_sweep, "FEWEST", 2)
    run = swept()
    assert list(drawing.curves(drawn(run).axes[0])) == ["secant, ρ = 1.00", "gradient, ρ = 1.00"]
    places = ("accuracy_index", "accuracy_eigenvalue", "early_loss_index")
    for rho, p, words in ((-0.5, 0.25, ", Spearman's ρ with the index −0.500 (p = 0.25)"),
                          (None, None, "")):  # fmt: skip
        about = {"spearman": dict.fromkeys(places, rho), "p_value": dict.fromkeys(places, p)}
        metrics = dict.fromkeys("za", dict.fromkeys(("secant", "gradient"), about))
        table, (sentence,) = nad_sweep.numbers(run, metrics, {})
        assert f"% at index 10{words} (fitted at " in sentence
        assert table.rows[0][-1] == ("−0.500 (p = 0.25)" if rho else "–")
    run.results["accuracy"] = 0.5
    assert list(drawing.curves(drawn(run).axes[0])) == ["secant", "gradient"]
