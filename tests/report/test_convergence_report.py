"""What the figure, the table and the sentences of `convergence` show."""

import dataclasses

import drawing
import numpy as np
import pandas as pd
import pytest
from drawing import ENDING

from pipeline.grid.experiment import Amplitude, Member, Plan
from pipeline.grid.frequencies import Frequencies
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import convergence, style
from pipeline.report.convergence import OURS, Speed
from pipeline.report.frequencies import DIRECTION
from pipeline.report.published import table as published_table
from pipeline.training import Training

STEPS = {(0, 0): 20, (0, 8): 40, (8, 0): 1200, (8, 8): np.inf}
"""Of a network with four directions; (8, −8) and (−16, ·) are not in its grid."""

ACCURACY = {(0, 0): 0.9, (0, 8): 0.8, (8, 0): 0.7, (8, 8): 0.5}


def steps(values, std=np.nan):
    """A table of steps; deviations are a tenth of the mean where `std` asks for them."""
    rows = [(*k, mean, std * mean if np.isfinite(mean) else np.nan, 2) for k, mean in values.items()]
    return pd.DataFrame(rows, columns=["k_row", "k_col", "mean", "std", "seeds"])


def accuracies(values, std=np.nan, fitted=True):
    """A table of accuracies, as `by_direction` gives them."""
    rows = [(*k, mean, std, fitted) for k, mean in values.items()]
    return pd.DataFrame(rows, columns=["k_row", "k_col", "mean", "std", "fitted"])


def speed(values=STEPS, std=np.nan, limit=1580, label="Net", **known):
    return Speed(label, limit, steps(values, std), {name: accuracies(found) for name, found in known.items()})


def test_a_map_shows_the_steps_of_a_direction_and_its_transpose_at_both():
    one = dataclasses.replace(speed({(8, 0): 20, (0, 0): 10, (8, 8): np.inf}), half=True)
    panel = convergence.maps([one], *ENDING).axes[0]
    steps = panel.images[0].get_array().filled(np.nan)
    assert np.nansum(steps == 20) == 4 and np.array_equal(steps, steps.T, equal_nan=True)
    assert len(one.steps) == 3 and len(one.learned) == 2, "each counts once"


def test_directions_that_were_not_learned_come_last():
    one = speed(fourier=ACCURACY, published={(0, 0): 0.9, (4, 4): 0.1})
    assert one.learned["mean"].tolist() == [20, 40, 1200]
    rho, p, count = one.correlation("fourier")
    assert (rho, count) == (pytest.approx(-1), 4) and p < 1e-6
    beside = one.beside("published")
    assert beside[["k_row", "k_col", "mean_steps", "mean_accuracy"]].to_numpy().tolist() == [[0, 0, 20, 0.9]]
    assert np.isnan(one.correlation("published")[0]) and one.correlation("published")[2] == 1
    tied = speed({(0, 0): 5, (0, 8): np.inf, (8, 0): np.inf}, fourier={(0, 0): 0.7, (0, 8): 0.6, (8, 0): 0.9})
    # Ranks 1, 2.5, 2.5 against 2, 1, 3.
    assert tied.correlation("fourier")[0] == pytest.approx(0)


def test_maps_have_their_numbers_and_hatches():
    shown = [speed({k: 10 for k in STEPS}, limit=100, label="Fast"), speed(fourier=ACCURACY)]
    figure = convergence.maps(shown, *ENDING)
    assert drawing.title_of(figure) == "Steps of training until D(v) is learned, over the frequency of v"
    fast, fast_beside, slow, beside, bar = figure.axes
    # Of the axis −8, 0, 8 nothing is known at (8, −8) and (−8, 8).
    shown = np.ma.masked_invalid([[np.inf, 1200, np.nan], [40, 20, 40], [np.nan, 1200, np.inf]])
    for panel, expected in (
        (fast, np.ma.masked_array(10.0 * np.ones((3, 3)), np.eye(3)[::-1] * [1, 0, 1])),
        (slow, shown),
    ):
        (image,) = panel.images
        assert np.array_equal(image.get_array().mask, expected.mask)
        assert np.array_equal(image.get_array().compressed(), expected.compressed())
        assert (image.get_cmap().name, image.get_clim()) == (convergence.STEPS, (10, 1580))
        assert drawing.texts(panel) == {
            (c, r): f"{expected[r, c]:.0f}" for r, c in np.argwhere(~np.ma.getmaskarray(expected))
        }
    assert not fast.patches and fast.get_title() == "Fast"
    assert [patch.get_xy() for patch in slow.patches] == [(-0.5, -0.5), (1.5, 1.5)]
    assert {patch.get_hatch() for patch in slow.patches} == {"/////"}
    assert slow.get_title() == "Net\nhatched: not within 1,580 steps"
    dark = {text.get_text() for text in slow.texts if text.get_color() == "white"}
    assert dark == {"1200"}
    assert (slow.get_xlabel(), slow.get_ylabel()) == ("column frequency $k_c$", "row frequency $k_r$")
    assert bar.get_ylim() == pytest.approx((10, 1580)) and bar.get_ylabel() == "steps until learned"
    assert [text.get_text() for text in fast_beside.texts] == [
        "no accuracies to compare with"
    ] and not fast_beside.axison
    assert beside.axison


def test_accuracies_stand_against_steps_and_those_of_directions_never_learned_beyond():
    found = Speed(
        "Net",
        1580,
        steps(STEPS, 0.1),
        {
            OURS: accuracies(ACCURACY, 0.02).assign(fitted=[1, 0, 1, 1]),
            "published": accuracies({(8, 8): 0.6}, fitted=np.nan),
        },
    )
    panel = convergence.maps([found], *ENDING).axes[1]
    ours, published = drawing.curves(panel).items()
    assert ours[0] == "fourier: ρ = −1.00 (p < 0.001, 4 directions)"
    assert published[0] == "published: ρ undefined (1 direction)"
    points, _, colour, line, marker = ours[1]
    assert points == [[20, 90], [40, 80], [1200, 70], [1.25 * 1580, 50]] and (colour, line, marker) == (
        "#000000",
        "None",
        "o",
    )
    assert published[1][0] == [[1.25 * 1580, 60]] and published[1][2:] == (style.PUBLISHED.lower(), "None", "x")
    across, up = ([s.tolist() for s in bars.get_segments()] for bars in panel.containers[0][2])
    np.testing.assert_allclose(across[:3], [[[18, 90], [22, 90]], [[36, 80], [44, 80]], [[1080, 70], [1320, 70]]])
    np.testing.assert_allclose(up[0], [[20, 88], [20, 92]])
    hollow = [drawing.points(line) for line in panel.lines if line.get_markerfacecolor() == "white"]
    assert hollow == [[[40, 80]]]
    assert [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == ":"] == [1580]
    assert panel.get_xscale() == "log" and panel.get_xlabel().endswith("(right of the dotted line: not within 1,580)")
    left, right = panel.get_xlim()
    assert left < 18 and right > 1.25 * 1580
    assert "20" in [text for place, text in drawing.ticks(panel.xaxis) if left < place < right]


def test_one_seed_has_no_bars_and_all_learned_needs_no_explanation():
    few = {k: value for k, value in STEPS.items() if np.isfinite(value)}
    panels = convergence.maps([speed(few, fourier=ACCURACY)], *ENDING).axes
    assert panels[0].get_title() == "Net" and panels[1].get_xlabel() == "steps until learned"
    assert not panels[1].containers[0].has_xerr and not panels[1].containers[0].has_yerr


def test_a_map_of_nothing_learned_is_drawn():
    panels = convergence.maps([speed(dict.fromkeys(STEPS, np.inf), limit=8, fourier=ACCURACY)], *ENDING).axes
    assert len(panels[0].patches) == 7 and not panels[0].texts
    assert panels[2].get_ylim() == pytest.approx((0.8, 8))


def test_large_maps_have_no_numbers():
    axis = range(-16, 16, 2)
    panel = convergence.maps([speed({(r, c): 30 + r for r in axis for c in axis})], *ENDING).axes[0]
    assert not panel.texts and panel.images[0].get_array().shape == (17, 17)


def test_the_table_sums_up_each_network():
    none = speed(dict.fromkeys(STEPS, np.inf), limit=8, label="None")
    table = convergence.table([speed(std=0.1, fourier=ACCURACY, published={(0, 0): 0.9}), none])
    assert table.header == [
        "network",
        "directions learned",
        "within steps",
        "fewest steps, at (k_row, k_col)",
        "median",
        "most",
        "Spearman's ρ of steps and accuracy",
    ]
    rho = "fourier: ρ = −1.00 (p < 0.001, 4 directions); published: ρ undefined (1 direction)"
    assert table.rows == [
        ["Net", "3 of 4", "1,580", "20 ± 2 at (0, 0)", "40", "1,200 ± 120 at (8, 0)", rho],
        ["None", "0 of 4", "8", "–", "–", "–", "–"],
    ]


def said(*speeds):
    return convergence.findings(speeds, "σ = 0.5", "σ = 3", "2 seeds")


def test_findings_say_how_soon_and_what_goes_with_it():
    whole = {k: value for k, value in STEPS.items() if np.isfinite(value)}
    first, second = said(speed(std=0.1, fourier=ACCURACY), speed(whole, label="Whole"))
    assert first == (
        "D(v) along Fourier directions (σ = 0.5, 2 seeds) is learned by Net after 20 ± 2 steps at (0, 0) at the earliest, "
        "1,200 ± 120 steps at (8, 0) at the latest, and not within 1,580 along 1 of 4 directions; "
        "by Whole after 20 steps at (0, 0) at the earliest, 1,200 steps at (8, 0) at the latest."
    )
    assert second == (
        "Rank correlation of these steps with the accuracy along the same directions (σ = 3): "
        "Net ρ = −1.00 (p < 0.001, 4 directions) with the accuracies of `fourier`: what is learned sooner generalises better."
    )


def test_findings_where_nothing_was_learned_or_compared():
    assert said(speed(dict.fromkeys(STEPS, np.inf), limit=8)) == [
        "D(v) along Fourier directions (σ = 0.5, 2 seeds) is learned by Net along none of 4 directions within 8 steps."
    ]


def test_findings_claim_a_relation_only_where_all_accuracies_show_it():
    falling, rising = ({(0, 8 * n): 0.5 + sign * n / 100 for n in range(-4, 5)} for sign in (-1, 1))
    slow = {k: 100 + k[1] for k in falling}
    mixed = {k: 0.5 + (k[1] % 32) / 100 for k in falling}

    def meaning(**known):
        return said(speed(slow, **known))[1].rpartition(": ")[2]

    assert meaning(fourier=falling) == "what is learned sooner generalises better."
    assert meaning(fourier=rising) == "what is learned sooner generalises worse."
    assert meaning(fourier=mixed) == "no relation is established."
    assert meaning(fourier=falling, published=rising) == "no relation is established."
    assert meaning(fourier=dict.fromkeys(falling, 0.5)) == "no relation is established."
    wide = said(speed(slow, **{"published, full width": falling}))[1]
    assert "directions) with the published ones of full width: what is learned" in wide


# The section, from a small run laid down by hand ----------------------------------------------------------------------------

LENET, NARROW = {"network": NETWORKS["lenet"]}, {"network": NETWORKS["resnet18"], "width": 0.125}
GRID = [(-16, -16), (-16, 0), (0, -16), (0, 0)]


def lay(name, specifications, sigma, rows):
    """The plan and the results of an experiment; specifications: by architecture, each trained for 2 epochs of 1,000 samples."""
    how = Training(2, 0.5, 0.0, 0.0, "linear")
    members = {key: Member(network, how, Frequencies(16)) for key, network in specifications.items()}
    plan = Plan(name, "smoke", (5, 6), 1000, 90, Amplitude(1.0, sigma), members)
    artifacts.write_json(artifacts.PLAN / f"{name}.json", dataclasses.asdict(plan))
    table = pd.DataFrame(rows)
    for key, value in {"test_set": "all", "accuracy": 0.75, "train_accuracy": 1.0, "n": 90}.items():
        table[key] = table[key].fillna(value) if key in table else value
    (artifacts.REPORTS / name).mkdir(parents=True)
    table.to_csv(artifacts.REPORTS / name / "results.csv", index=False)


def rows(architecture, column, values):
    """A value of each direction, a fifth more with the second seed."""
    return [
        {"architecture": architecture, "seed": seed, "k_row": row, "k_col": k_col, column: value and value * more}
        for (row, k_col), value in zip(GRID, values)
        for seed, more in ((5, 1), (6, 1.2))
    ]


def test_the_section_reads_both_experiments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = rows("a", "steps", [None, 15, 10, 5]) + rows("z", "steps", [5, 5, 10, 15]) + rows("other", "steps", [5] * 4)
    lay("convergence", {"a": LENET, "z": NARROW, "other": {"network": "mine:Net"}}, 0.5, found)
    accuracies = rows("a", "accuracy", [0.5, 0.6, 0.7, 0.8]) + rows("other", "accuracy", [0.5] * 4)
    accuracies = [row | {"train_accuracy": 0.9 if row["k_row"] else 1.0} for row in accuracies]
    lay("fourier", {"a": LENET, "other": {"network": "theirs:Net"}}, 3.0, accuracies)
    section = convergence.section("notice")
    first = (
        "scale smoke · 2 seeds · 1,000 training samples · 2 epochs · ε = 1, σ = 0.5 · ± standard deviation over seeds · "
        "learned: mean loss of 10 batches in a row at most 0.01"
    )
    second = (
        "accuracies of fourier: ε = 1, σ = 3 · 2 seeds · hollow: 2 of 4 directions, where not every network was fitted "
        "(training accuracy below 99 %)"
    )
    assert section.heading == "convergence: how soon D(v) is learned along Fourier directions"
    assert section.caption == f"{first} · {second}"
    (picture,) = section.pictures
    assert (picture.name, picture.text) == ("convergence_maps", "steps until D(v) is learned")
    assert picture.figure._suptitle.get_text().endswith("\nnotice")
    assert picture.figure._supxlabel.get_text().replace("\n", " ") == f"{first} {second}"
    # Eight batches of 1,000 samples, the last one smaller, in two epochs. The narrow network is not in `fourier`, and what
    # `fourier` has under the name of the third is another network.
    names = ["LeNet", "ResNet-18, width ×0.125", "Net"]
    assert [row[:6] for row in section.table.rows] == [
        [names[0], "3 of 4", "16", "6 ± 1 at (0, 0)", "11", "16 ± 2 at (−16, 0)"],
        [names[1], "4 of 4", "16", "6 ± 1 at (−16, −16)", "8", "16 ± 2 at (0, 0)"],
        [names[2], "4 of 4", "16", "6 ± 1 at (−16, −16)", "6", "6 ± 1 at (0, 0)"],
    ]
    ours, theirs = section.table.rows[0][-1].split("; ")
    assert ours == "fourier: ρ = −1.00 (p < 0.001, 4 directions)" and theirs.startswith("published: ρ = ")
    assert section.table.rows[1][-1].startswith("published, full width: ρ = ") and section.table.rows[2][-1] == "–"
    curves = drawing.curves(picture.figure.axes[1])
    published = next(points for label, (points, *_) in curves.items() if label.startswith("published"))
    table = published_table("fourier").set_index(DIRECTION)["lenet"]
    assert published[-1] == [5.5, pytest.approx(table[0, 0])] and len(published) == 4
    assert len(section.findings) == 2 and "2 seeds" in section.findings[0]


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay("convergence", {"a": LENET}, 0.5, rows("a", "steps", [1, 2, 3, 4]))
    with pytest.raises(InputError, match=r"data/plan/fourier.json is missing; `python -m pipeline.plan`"):
        convergence.section(None)
