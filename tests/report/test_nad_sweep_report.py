"""What the figure and the table of `nad_sweep` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.report import nad_sweep
from pipeline.report.nad_sweep import Correlations, Found

LABELS = {"z": "Zeta, with a name that is 2 long, width ×2", "a": "Alpha"}
INDICES = (0, 102, 10)
MEANS = {
    ("z", "secant"): (0.98, 0.6, 0.8),
    ("z", "gradient"): (0.7, 0.9, 0.5),
    ("a", "secant"): (0.95, 0.52, 0.97),
}
EPOCHS = {"z": 6, "a": 8}


def results(seeds=2, unfitted=()):
    """unfitted: (architecture, estimand, index, seed) of networks with a training accuracy of 98 %."""
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "estimand": estimand, "index": index, "test_set": test}
            | {"accuracy": mean + 0.02 * seed if test == "all" else 0.0}
            | {"train_accuracy": 0.98 if (name, estimand, index, seed) in unfitted else 1.0}
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
KNOWN = pd.Series({0: 99.0, 10: 85.0, 102: 64.0, 302: 60.5})


def drawn(seeds=2, unfitted=(), **published):
    figure = nad_sweep.sweep(results(seeds, unfitted), losses(seeds), SPECTRA, LABELS, published, *ENDING)
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
    _, panels = drawn(z=("published, full width", KNOWN))
    legends = [panel.get_legend() for panel in panels[0]]
    assert drawing.entries(legends[0]) == [
        (LEGEND["z"][0], "#000000"),
        (LEGEND["z"][1], "#0072b2"),
        ("published, full width (secant)", "#d55e00"),
    ]
    assert drawing.entries(legends[1]) == [(LEGEND["a"][0], "#000000")]
    titles = [legend.get_title().get_text() for legend in legends]
    assert titles == ["Zeta, with a name that is\n2 long, width ×2", "Alpha"]
    (line,) = published_lines(panels[0, 0])
    assert drawing.points(line) == [[1, 99], [11, 85], [103, 64], [303, 60.5]] and not published_lines(panels[0, 1])
    assert line.get_zorder() < min(curve[0].get_zorder() for curve in panels[0, 0].containers)


def published_lines(panel):
    return [line for line in panel.lines if drawing.colour(line) == "#d55e00"]


def test_points_at_which_not_every_network_was_fitted_are_hollow():
    _, panels = drawn(unfitted=[("z", "gradient", 102, 1), ("a", "secant", 0, 0), ("a", "secant", 10, 1)])
    for panel in panels[0]:
        assert all(drawing.colour(curve[0]) == curve[0].get_markerfacecolor().lower() for curve in panel.containers)
    for row, heights in ((0, [[91.0], [96.0, 98.0]]), (1, None)):
        for panel, indices, colour, column in zip(panels[row], ([102], [0, 10]), ("#0072b2", "#000000"), (0, 1)):
            (hollow,) = hollow_points(panel)
            assert hollow.get_xdata().tolist() == [index + 1 for index in indices]
            assert drawing.colour(hollow) == colour and hollow.get_linestyle() == "None"
            if heights:
                assert drawing.numbers(hollow.get_ydata()) == heights[column]
    assert not any(hollow_points(panel) for panel in panels[2])
    assert not any(hollow_points(panel) for panel in drawn()[1].flat)


def hollow_points(panel):
    return [line for line in panel.lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]


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


@pytest.mark.parametrize(("count", "size"), [(30, 4.5), (31, 2.5)])
def test_many_points_are_small(count, size):
    rows = pd.DataFrame(
        {"architecture": "a", "seed": 0, "estimand": "secant", "index": range(count), "accuracy": 0.5, "loss": 0.5}
    ).assign(test_set="all", epoch=1, train_accuracy=1.0)
    panel = nad_sweep.sweep(rows, rows, SPECTRA, LABELS, {}, *ENDING).axes[0]
    (curve,) = (curve for curve in panel.containers)
    assert curve[0].get_markersize() == size


def test_the_table_has_accuracies_beside_the_published_ones_and_correlations_with_their_p_values():
    rows = [
        ("z", "secant", 302, 0.55, 0.04, 2),
        ("z", "secant", 0, 0.99, 0.01, 2),
        ("z", "secant", 102, 0.7, 0.03, 1),
        ("z", "secant", 10, 0.9, 0.02, 2),
        ("z", "secant", 50, 0.11, 0.05, 0),
        ("z", "gradient", 10, 0.6, np.nan, 2),
        ("a", "secant", 0, 0.8, np.nan, 2),
    ]
    summary = pd.DataFrame(rows, columns=["architecture", "estimand", "index", "mean", "std", "fitted"])
    summary = summary.assign(seeds=2, test_set="all")
    keys = ("accuracy_index", "accuracy_eigenvalue", "early_loss_index")

    def found(rho, p):
        return Found(*(Correlations(**dict(zip(keys, values))) for values in (rho, p)))

    metrics = {
        "z": {
            "secant": found((-0.9, 0.8, 0.7), (0.0009, 0.001, 0.0123)),
            "gradient": found((0.1, -0.0002, 0.3), (0.9, 1.0, 0.051)),
        },
        "a": {"secant": found((None, 0.5, None), (None, 1.0, None))},
    }
    table = nad_sweep.table(summary, metrics, LABELS, {"z": ("published", KNOWN)})
    assert table.header == [
        "network",
        "estimand",
        "indices fitted",
        "index 0 (%)",
        "index 10 (%)",
        "index 102 (%)",
        "index 302 (%)",
        "published at these",
        "rms difference from the published curve (indices)",
        "ρ(accuracy, index)",
        "ρ(accuracy, eigenvalue)",
        "ρ(early loss, index)",
    ]
    means = ["99.0 ± 1.0", "90.0 ± 2.0", "70.0 ± 3.0", "55.0 ± 4.0"]
    # 0, 5, 6 and −5.5 points away; the published curve has no index 50.
    beside = ["99 / 85 / 64 / 60.5", "4.8 (4)"]
    assert table.rows == [
        [
            *(LABELS["z"], "secant", "3 of 5", *means, *beside),
            *("−0.900 (p < 0.001)", "0.800 (p = 0.001)", "0.700 (p = 0.012)"),
        ],
        [
            *(LABELS["z"], "gradient", "1 of 1", "–", "60.0", "–", "–", "–", "–"),
            *("0.100 (p = 0.9)", "0.000 (p = 1)", "0.300 (p = 0.051)"),
        ],
        ["Alpha", "secant", "1 of 1", "80.0", "–", "–", "–", "–", "–", "–", "0.500 (p = 1)", "–"],
    ]
