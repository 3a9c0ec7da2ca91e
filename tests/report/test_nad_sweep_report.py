"""What the figure and the table of `nad_sweep` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.report import nad_sweep

LABELS = {"z": "Zeta, with a name that is 2 long, width ×2", "a": "Alpha"}
INDICES = (0, 102, 10)
MEANS = {
    ("z", "secant"): (0.98, 0.6, 0.8),
    ("z", "gradient"): (0.7, 0.9, 0.5),
    ("a", "secant"): (0.95, 0.52, 0.97),
}
EPOCHS = {"z": 6, "a": 8}


def results(seeds=2):
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "estimand": estimand, "index": index, "test_set": test}
            | {"accuracy": mean + 0.02 * seed if test == "all" else 0.0}
            for (name, estimand), means in MEANS.items()
            for index, mean in zip(INDICES, means)
            for seed in range(seeds)
            for test in ("all", "other")
        ]
    )


def loss(name, estimand, index, epoch):
    return 0.7 - epoch / 20 + index / 1000 + (0.01 if name == "z" else 0) + (0.03 if estimand == "secant" else 0)


def losses(seeds=2):
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "estimand": estimand, "index": index, "epoch": epoch}
            | {"loss": loss(name, estimand, index, epoch) + 0.004 * seed}
            for name, estimand in MEANS
            for index in INDICES
            for seed in range(seeds)
            for epoch in range(1, EPOCHS[name] + 1)
        ]
    )


SPECTRA = {
    ("z", "secant"): np.array([4.0, 1.0, 0.25, -1e-9]),
    ("z", "gradient"): np.array([9.0, 4.0]),
    ("a", "secant"): np.array([16.0, 1.0, 0.0]),
}
LOOKS = {"secant": ("#000000", "-", "o"), "gradient": ("#0072b2", "--", "s")}
LEGEND = {"z": ["secant, ρ = −1.00", "gradient, ρ = 0.50"], "a": ["secant, ρ = −0.50"]}


def drawn(seeds=2, **published):
    figure = nad_sweep.sweep(results(seeds), losses(seeds), SPECTRA, LABELS, published, *ENDING)
    return figure, np.reshape(figure.axes, (3, 2))


def ordered(values, height=lambda value: value, half=0.0):
    """Points and whiskers in the order of the indices."""
    rows = sorted((index + 1, height(value)) for index, value in zip(INDICES, values))
    return [drawing.numbers(row) for row in rows], [drawing.numbers([x, y - half, y + half]) for x, y in rows]


def test_accuracies_and_early_losses_stand_over_the_index():
    figure, panels = drawn()
    assert drawing.title_of(figure) == "Accuracy on D(u), training loss and spectrum against the index of the NAD u"
    for (name, estimand), means in MEANS.items():
        accuracy, early, _ = panels[:, list(LABELS).index(name)]
        label = LEGEND[name][0 if estimand == "secant" else 1]
        found = drawing.curves(accuracy)[label]
        assert found[:2] == ordered(means, lambda mean: 100 * mean + 1, 100 * np.std([0, 0.02], ddof=1))
        assert found[2:] == LOOKS[estimand]
        # A third of 6 epochs is 2, of 8 it is 3 (2.67 rounded).
        values = [loss(name, estimand, index, {"z": 2, "a": 3}[name]) + 0.002 for index in INDICES]
        found = drawing.curves(early)[estimand]
        assert found[:2] == ordered(values, half=np.std([0, 0.004], ddof=1)) and found[2:] == LOOKS[estimand]
    for row in panels:
        assert row[0].get_shared_y_axes().joined(*row) and panels[0, 0].get_shared_x_axes().joined(panels[0, 0], row[1])
    assert [len(drawing.curves(panel)) for panel in panels.flat] == [2, 1, 2, 1, 0, 0]
    for accuracy, early, _ in panels.T:
        assert accuracy.get_ylim() == (45, 102) and early.get_ylim()[0] == 0
        guessing = [[list(line.get_ydata()) for line in panel.lines][0] for panel in (accuracy, early)]
        assert guessing == [[50, 50], [np.log(2)] * 2]
    assert [[panel.get_ylabel() for panel in row] for row in panels] == [
        ["test accuracy (%)\n(grey: guessing)", ""],
        ["training loss, epoch 2 of 6\n(grey: guessing)", "training loss, epoch 3 of 8\n(grey: guessing)"],
        ["$\\sqrt{\\lambda}$ relative to the first", ""],
    ]
    assert [[panel.get_xlabel() for panel in row] for row in panels] == [["", ""], ["", ""], ["NAD index"] * 2]


def test_spectra_are_roots_relative_to_the_first():
    for column, name in enumerate(LABELS):
        panel = drawn()[1][2, column]
        found = {
            line.get_label(): (drawing.points(line), drawing.colour(line), line.get_linestyle()) for line in panel.lines
        }
        expected = {
            "z": {"secant": [[1, 1], [2, 0.5], [3, 0.25], [4, 1e-9**0.5]], "gradient": [[1, 1], [2, 2 / 3]]},
            "a": {"secant": [[1, 1], [2, 0.25], [3, 1e-9**0.5]]},
        }[name]
        assert set(found) == set(expected)
        for estimand, points in expected.items():
            np.testing.assert_allclose(found[estimand][0], points, atol=1e-9)
            assert found[estimand][1:] == LOOKS[estimand][:2]
        assert panel.get_yscale() == panel.get_xscale() == "log"


def test_legends_name_curves_first_and_then_what_is_published():
    _, panels = drawn(z={0: 99, 302: 60.5})
    legends = [panel.get_legend() for panel in panels[0]]
    assert drawing.entries(legends[0]) == [
        (LEGEND["z"][0], "#000000"),
        (LEGEND["z"][1], "#0072b2"),
        ("published (secant)", "#d55e00"),
    ]
    assert drawing.entries(legends[1]) == [(LEGEND["a"][0], "#000000")]
    titles = [legend.get_title().get_text() for legend in legends]
    assert titles == ["Zeta, with a name that is\n2 long, width ×2", "Alpha"]
    (cross,) = drawing.crosses(panels[0, 0])
    assert drawing.points(cross) == [[1, 99], [303, 60.5]] and not drawing.crosses(panels[0, 1])


def test_one_seed_has_no_whiskers():
    _, panels = drawn(seeds=1)
    assert not any(whiskers for panel in panels.flat for _, whiskers, *_ in drawing.curves(panel).values())


def test_a_constant_accuracy_has_no_correlation():
    level = results().assign(accuracy=0.75)
    figure = nad_sweep.sweep(level, losses(), SPECTRA, LABELS, {}, *ENDING)
    assert list(dict(drawing.entries(figure.axes[0].get_legend()))) == ["secant, ρ undefined", "gradient, ρ undefined"]


def test_the_epoch_is_said_once_where_all_networks_have_the_same():
    six = losses().query("epoch <= 6")
    figure = nad_sweep.sweep(results(), six, SPECTRA, LABELS, {}, *ENDING)
    assert [panel.get_ylabel() for panel in figure.axes[2:4]] == ["training loss, epoch 2 of 6\n(grey: guessing)", ""]


@pytest.mark.parametrize(("count", "size"), [(30, 4.5), (31, 2)])
def test_many_points_are_small(count, size):
    rows = pd.DataFrame(
        {"architecture": "a", "seed": 0, "estimand": "secant", "index": range(count), "accuracy": 0.5, "loss": 0.5}
    ).assign(test_set="all", epoch=1)
    panel = nad_sweep.sweep(rows, rows, SPECTRA, LABELS, {}, *ENDING).axes[0]
    (curve,) = (curve for curve in panel.containers)
    assert curve[0].get_markersize() == size


def test_the_table_has_accuracies_at_the_published_indices_and_correlations():
    rows = [
        ("z", "secant", 302, 0.55, 0.04),
        ("z", "secant", 0, 0.99, 0.01),
        ("z", "secant", 102, 0.7, 0.03),
        ("z", "secant", 10, 0.9, 0.02),
        ("z", "secant", 50, 0.11, 0.05),
        ("z", "gradient", 10, 0.6, np.nan),
        ("a", "secant", 0, 0.8, np.nan),
    ]
    summary = pd.DataFrame(rows, columns=["architecture", "estimand", "index", "mean", "std"])

    def rho(*values):
        return {"spearman": dict(zip(("accuracy_index", "accuracy_eigenvalue", "early_loss_index"), values))}

    metrics = {
        "z": {"secant": rho(-0.9, 0.8, 0.7), "gradient": rho(0.1, 0.2, 0.3)},
        "a": {"secant": rho(None, 0.5, None)},
    }
    table = nad_sweep.table(summary, metrics, LABELS, {"z": {0: 100, 10: 99.98, 102: 80.1, 302: 58.5}})
    assert table.header == [
        "network",
        "estimand",
        "index 0 (%)",
        "index 10 (%)",
        "index 102 (%)",
        "index 302 (%)",
        "published at these",
        "ρ(accuracy, index)",
        "ρ(accuracy, eigenvalue)",
        "ρ(early loss, index)",
    ]
    means = ["99.0 ± 1.0", "90.0 ± 2.0", "70.0 ± 3.0", "55.0 ± 4.0"]
    assert table.rows == [
        [LABELS["z"], "secant", *means, "100 / 99.98 / 80.1 / 58.5", "-0.900", "0.800", "0.700"],
        [LABELS["z"], "gradient", "–", "60.0", "–", "–", "–", "0.100", "0.200", "0.300"],
        ["Alpha", "secant", "80.0", "–", "–", "–", "–", "–", "0.500", "–"],
    ]
