"""The sections of the report, from a small run laid down by hand: what they read, say and show."""

import dataclasses
import json

import drawing
import numpy as np
import pandas as pd
import pytest

from pipeline import experiments, render
from pipeline.grid.experiment import Member, Plan
from pipeline.measures.boundaries import POINTS
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import flip, fourier, image_pairs, linear_pairs, nad_sweep, nads, poison
from pipeline.report.evaluated import evaluated
from pipeline.training import Training

LENET = {"network": NETWORKS["lenet"]}
NARROW = {"network": NETWORKS["resnet18"], "width": 0.125}
CLASSES = ["ape", "bee", "cat", "dog", "eel"]


@pytest.fixture(autouse=True)
def _project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    about = {"name": "Animals", "classes": CLASSES, "train": 700, "test": 90}
    artifacts.write_json(artifacts.IMAGES / "about.json", about)


def lay_plan(name, settings, grids, precision="float32", seeds=(5, 6), epochs=(3, 2)):
    """data/plan of an experiment of two networks, the narrow ResNet-18 `z` and LeNet `a`; grids: their parts of the grid."""
    experiment = experiments.find(name)
    members = {
        architecture: Member(
            specification, Training(count, 0.1, 0.9, 0.0, experiment.schedule, precision), experiment.Grid(**grid)
        )
        for (architecture, specification), grid, count in zip({"z": NARROW, "a": LENET}.items(), grids, epochs)
    }
    plan = Plan(name, "smoke", seeds, 1234, 90, experiment.Settings(**settings), members)
    artifacts.write_json(artifacts.PLAN / f"{name}.json", dataclasses.asdict(plan))


def lay(path, rows):
    """A table of a run as CSV; results also as summary.csv, mean and standard deviation over seeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows)
    table.to_csv(path, index=False)
    if path.name == "results.csv":
        over = [column for column in table if column not in ("seed", "accuracy")]
        summary = table.groupby(over, sort=False)["accuracy"].agg(["mean", "std"]).reset_index()
        summary.to_csv(path.with_name("summary.csv"), index=False)


def results(name, places, accuracy=0.5):
    """results.csv of `z` and `a`: the accuracy of each row is a little higher than that of the one before."""
    rows = [
        {"architecture": architecture, "seed": seed} | place | {"test_set": test}
        for architecture in ("z", "a")
        for place, tests in places
        for test in tests
        for seed in (5, 6)
    ]
    lay(
        artifacts.REPORTS / name / "results.csv",
        [row | {"accuracy": accuracy + place / 500} for place, row in enumerate(rows)],
    )


def save(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


def said(section):
    """A section's pictures as name, alternative text and caption."""
    return [(picture.name, picture.text, picture.figure._supxlabel.get_text()) for picture in section.pictures]


SIZES = "scale smoke · 2 seeds · {} training samples · epochs 3 (ResNet-18, width ×0.125), 2 (LeNet)"


def test_the_caption_says_what_differs_and_no_more():
    fourier_settings = {"eps": 1.0, "sigma": 3.0}
    lay_plan("fourier", fourier_settings, [{"step": 16}] * 2)
    results("fourier", [({"k_row": 0, "k_col": 0}, ["all"])])
    run = evaluated("fourier")
    assert run.labels == {"z": "ResNet-18, width ×0.125", "a": "LeNet"} and len(run.results) == 4
    assert run.sizes() == SIZES.format("1,234")
    assert run.sizes(["a"]) == "scale smoke · 2 seeds · 1,234 training samples · 2 epochs"
    assert run.of_the_papers({"lenet": 1, "resnet18": 2}) == {"a": 1}
    lay_plan("fourier", fourier_settings, [{"step": 16}] * 2, "bfloat16", seeds=(5,), epochs=(4, 4))
    expected = "scale smoke · 1 seed · 1,234 training samples · 4 epochs · trained in bfloat16"
    assert evaluated("fourier").sizes() == expected


def test_what_is_missing_is_named_with_the_stage_that_makes_it():
    with pytest.raises(InputError, match=r"data/plan/fourier.json is missing; `python -m pipeline.plan`"):
        evaluated("fourier")
    lay_plan("fourier", {"eps": 1.0, "sigma": 3.0}, [{"step": 16}] * 2)
    with pytest.raises(InputError, match=r"results.csv is missing; `python -m pipeline.evaluate fourier`"):
        evaluated("fourier")


def test_flip():
    lay_plan("flip", {}, [{}, {}])
    results("flip", [({"images": "plain"}, ["all"]), ({"images": "flipped"}, ["all"])])
    rows = [
        {"architecture": name, "seed": 5, "operation": operation, "first": index, "last": index}
        | {"changed": changed, "relative_change": 0.1}
        for name, changed in (("z", 0.25), ("a", 0.75))
        for operation in ("remove", "flip")
        for index in (0, 2)
    ]
    lay(artifacts.REPORTS / "flip" / "changes.csv", rows)
    section = flip.section("notice")
    # Of images there are but 700.
    caption = SIZES.format("700") + " · images: Animals"
    assert (section.heading, section.caption) == ("flip: images in reverse order of NADs", caption)
    assert section.table.rows == [
        ["ResNet-18, width ×0.125", "50.1 ± 0.1", "50.5 ± 0.1", "–"],
        ["LeNet", "50.9 ± 0.1", "51.3 ± 0.1", "69 / 48"],
    ]
    assert said(section) == [
        ("flip_bars", "accuracy on plain and flipped images", caption),
        ("flip_components_z", "what predictions of ResNet-18, width ×0.125 rest on", caption),
        ("flip_components_a", "what predictions of LeNet rest on", caption),
    ]
    bars, *components = (picture.figure for picture in section.pictures)
    guessing = next(line for line in bars.axes[0].lines if line.get_label() == "guessing")
    assert list(guessing.get_ydata()) == [20, 20]
    assert [drawing.points(cross)[0][1] for cross in drawing.crosses(bars.axes[0])] == [69, 48]
    for figure, label, changed in zip(components, ("ResNet-18, width ×0.125", "LeNet"), (25, 75)):
        title = f"What the predictions of {label} rest on: test images with NAD components altered\nnotice"
        assert figure._suptitle.get_text() == title
        assert drawing.curves(figure.axes[2])["predictions that change"][0] == [[0, changed], [1, changed]]


def test_fourier():
    lay_plan("fourier", {"eps": 1.5, "sigma": 3.0}, [{"step": 16}] * 2)
    places = [(-16, -16), (-16, 0), (0, -16), (0, 0), (0, -4), (-4, 0), (-4, -4), (-4, 4)]
    places += [(-16, 4), (4, -16)]
    results("fourier", [({"k_row": r, "k_col": c}, ["all"]) for r, c in places])
    section = fourier.section("notice")
    caption = SIZES.format("1,234") + " · ε = 1.5, σ = 3"
    assert (section.heading, section.caption) == ("fourier: D(v) along Fourier directions", caption)
    assert said(section) == [("fourier_maps", "accuracy over frequencies", caption)]
    assert [row[0] for row in section.table.rows] == ["ResNet-18, width ×0.125", "LeNet"]
    assert [row[-1] for row in section.table.rows] == ["–", "(0, -4): 55.7 ± 0.1 / 81.0"]
    (picture,) = section.pictures
    first, second, _ = picture.figure.axes
    assert first.get_title() == "ResNet-18, width ×0.125" and second.get_title() == "LeNet"
    assert len(second.patches) == 1 and not first.patches


def test_image_pairs():
    settings = {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}
    lay_plan("image_pairs", settings, [{"indices": [1]}] * 2)
    results("image_pairs", [({"index": 1}, ["all", "images", "linear"])])
    section = image_pairs.section("notice")
    caption = SIZES.format("700") + " · ε = 1.25 · images: Animals"
    assert (section.heading, section.caption) == ("image_pairs: images ⊕ D(v)", caption)
    assert said(section) == [("images_or_linear_channel", "images or linear channel", caption)]
    assert section.table.rows == [
        ["ResNet-18, width ×0.125", 1, "50.1 ± 0.1", "50.9 ± 0.1", "50.5 ± 0.1"],
        ["LeNet", 1, "51.3 ± 0.1", "52.1 ± 0.1", "51.7 ± 0.1"],
    ]
    titles = [panel.get_title() for panel in section.pictures[0].figure.axes]
    assert titles == ["ResNet-18, width ×0.125, σ = 3.5", "LeNet, σ = 2"]


def lay_plan_of_nads(members, estimand="secant", compare=True):
    estimator = Estimator(estimand, "plain", 50.0, "many", False, compare)
    plan = NADsPlan("smoke", 7, estimator, {name: Request(*parts) for name, parts in members.items()})
    artifacts.write_json(artifacts.PLAN / "nads.json", dataclasses.asdict(plan))


def lay_nads(
    name, networks=64, eigenvalues=(4.0, 2.0, 1.0, 0.5), part="", estimand="secant", directions=None, error=0.1
):
    """data/nads of one architecture whose inputs have four values."""
    save(
        artifacts.NADS / f"{name}{part}.npz",
        directions=np.eye(4) if directions is None else directions,
        shape=np.array([1, 2, 2]),
        eigenvalues=np.array(eigenvalues),
        standard_errors=np.array([0.5, 0.25, 0.0, 0.0]),
        nearby=np.array([[0, 1], [0, 1], [2, 2], [3, 3]]),
        groups=np.array([0, 0, 2, 3]),
        halves=np.array([[9.0, 1, 1, 1], [1.0, 1, 1, 1]]),
        overlap=np.array([0.9, 0.8, 0.7, 1.0]),
        error=np.array(error),
        networks=np.array(networks),
        estimand=np.array(estimand),
        method=np.array("plain"),
        point=np.array("zero" if part else "many"),
        symmetry=np.array("none" if part else "square"),
    )


@pytest.mark.usefixtures("_undrawn")
@pytest.mark.slow
def test_linear_pairs():
    lay_plan(
        "linear_pairs", {"eps1": 1.5, "eps2": 0.75, "sigma": 2.0}, [{"indices": [9, 1]}, {"indices": [*range(16)]}]
    )
    pairs = [(first, second) for first in (1, 9) for second in (1, 9)]
    results("linear_pairs", [({"index_1": a, "index_2": b}, ["all", "first", "second"]) for a, b in pairs])
    rows = [
        {"architecture": name, "seed": seed, "index_1": a, "index_2": b}
        | {"tilt": less + a + b / 10 + seed, "margin_1": 1.0, "margin_2": 2.0}
        for name, less in (("z", 0), ("a", 40))
        for seed in (5, 6)
        for a, b in pairs
    ]
    lay(artifacts.REPORTS / "linear_pairs" / "boundaries.csv", rows)
    flat = np.ones((POINTS, POINTS), np.float16)
    sections = {
        f"{row['architecture']}-{row['index_1']}-{row['index_2']}-seed{row['seed']}": flat * (place + 1) / 32
        for place, row in enumerate(rows)
    }
    save(artifacts.REPORTS / "linear_pairs" / "cross_sections.npz", **sections)
    directions = {f"{name}-{i}": np.full(1024, 1.0 + i) for name in ("z", "a") for i in range(16)}
    save(artifacts.DATASETS / "linear_pairs" / "directions.npz", **directions)
    lay_nads("z", networks=0)
    lay_nads("a", networks=64)
    lay_plan_of_nads({"z": (NARROW, Source(file="mine.npy")), "a": (LENET, Source(networks=128))})

    section = linear_pairs.section("notice")
    science = "ε₁ = 1.5, ε₂ = 0.75, σ = 2"
    whole = f"{SIZES.format('1,234')} · {science}"
    assert section.heading == "linear_pairs: D(v₁) ⊕ D(v₂)"
    assert section.caption == whole + " · mean ± standard deviation over seeds where there are several"
    one = "scale smoke · 2 seeds · 1,234 training samples · {} epochs · " + science
    label = "ResNet-18, width ×0.125"
    assert said(section) == [
        (
            "two_sufficient_channels",
            "the problem and the NADs",
            f"scale smoke · {science} · NADs from mine.npy ({label}), 64 untrained LeNet",
        ),
        ("linear_accuracies_z", f"accuracies of {label}", one.format(3)),
        ("linear_boundaries_z", f"boundaries of {label}", one.format(3)),
        ("linear_accuracies_a", "accuracies of LeNet", one.format(2)),
        ("linear_boundaries_a", "boundaries of LeNet", one.format(2)),
        ("linear_tilt_and_margins", "tilt and margins", whole),
    ]
    assert [row[:3] + row[-2:] for row in section.table.rows] == [
        [label, "(1, 1)", "50.1 ± 0.1", "6.6°", "100 / 100 / 80"],
        [label, "(1, 9)", "51.3 ± 0.1", "7.4°", "–"],
        [label, "(9, 1)", "52.5 ± 0.1", "14.6°", "–"],
        [label, "(9, 9)", "53.7 ± 0.1", "15.4°", "–"],
        ["LeNet", "(1, 1)", "54.9 ± 0.1", "46.6°", "–"],
        ["LeNet", "(1, 9)", "56.1 ± 0.1", "47.4°", "–"],
        ["LeNet", "(9, 1)", "57.3 ± 0.1", "54.6°", "–"],
        ["LeNet", "(9, 9)", "58.5 ± 0.1", "55.4°", "–"],
    ]
    figures = [picture.figure for picture in section.pictures]
    titles = [figure._suptitle.get_text().partition(":")[0] for figure in figures[1:5]]
    assert titles == [label, label, "LeNet", "LeNet"]
    problem, *nads_drawn = figures[0].axes
    lines = {line.get_label(): drawing.points(line) for line in problem.lines}
    assert lines["class 0"] == [[-1.5, -0.75]] and lines["class 1"] == [[1.5, 0.75]]
    assert f"maximum margin ({np.degrees(np.arctan(0.5)):.1f}°)" in lines
    # Six of LeNet's sixteen, evenly spread; ResNet-18 has two.
    shown = {panel.get_title(): panel for panel in nads_drawn if panel.get_title()}
    assert list(shown) == ["NAD 1", "NAD 9", "NAD 0", "NAD 3", "NAD 6", "NAD 12", "NAD 15"]
    assert [panel.get_title() for panel in nads_drawn[12:18]] == [f"NAD {i}" for i in (0, 3, 6, 9, 12, 15)]
    image = shown["NAD 12"].images[0].get_array()
    assert image.shape == (32, 32) and (image == 13).all()
    # Means over two seeds, whose cross-sections are numbers 1 and 5, … of a network's eight.
    for figure, first in ((figures[2], 1), (figures[4], 9)):
        heights = [panel.images[0].get_array()[0, 0] * 32 for panel in figure.axes[:4]]
        np.testing.assert_allclose(heights, [first + pair + 2 for pair in range(4)], atol=0.02)
    assert [panel.get_title() for panel in figures[4].axes[:4]] == ["47°", "47°", "55°", "55°"]
    assert [panel.get_ylabel() for panel in figures[5].axes[:6:3]] == [
        f"{label}\nNAD index of $v_1$",
        "LeNet\nNAD index of $v_1$",
    ]
    assert "class means at ±1.5, ±0.75" in figures[5]._suptitle.get_text()
    assert drawing.texts(figures[1].axes[0])[1.5, 0.5] == "51\n±0.1"
    assert drawing.texts(figures[3].axes[0])[0.5, 1.5] == "57\n±0.1"
    (artifacts.REPORTS / "linear_pairs" / "cross_sections.npz").unlink()
    with pytest.raises(InputError, match=r"cross_sections.npz is missing; `python -m pipeline.evaluate linear_pairs`"):
        linear_pairs.mean_probabilities(pd.DataFrame(rows))


@pytest.mark.slow
def test_nad_sweep():
    lay_plan("nad_sweep", {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}, [{"indices": [0, 10]}] * 2)
    places = [({"estimand": e, "index": i}, ["all"]) for e in ("secant", "gradient") for i in (0, 10)]
    results("nad_sweep", places)
    rows = pd.read_csv(artifacts.REPORTS / "nad_sweep" / "results.csv")
    lay(
        artifacts.MODELS / "nad_sweep" / "losses.csv",
        rows.assign(epoch=1, loss=rows["accuracy"] / 2).to_dict("records"),
    )
    spectra = {
        f"{n}-{e}-eigenvalues": np.array([4, 2 + 2 * (e == "secant")]) for n in "za" for e in ("secant", "gradient")
    }
    save(artifacts.DATASETS / "nad_sweep" / "directions.npz", **spectra)
    rho = {"accuracy_index": -0.5, "accuracy_eigenvalue": 0.25, "early_loss_index": None}
    metrics = {name: {e: {"spearman": rho} for e in ("secant", "gradient")} for name in "za"}
    artifacts.write_json(artifacts.REPORTS / "nad_sweep" / "metrics.json", metrics)

    section = nad_sweep.section("notice")
    label = "ResNet-18, width ×0.125"
    caption = SIZES.format("1,234") + f" · ε = 1.25, σ = 3.5 ({label}), 2 (LeNet)"
    assert (section.heading, section.caption) == ("nad_sweep: D(u) along the network's own NADs", caption)
    assert said(section) == [("nad_sweep", "accuracy against the NAD index", caption)]
    rest = ["-0.500", "0.250", "–"]
    assert section.table.rows == [
        [label, "secant", "50.1 ± 0.1", "50.5 ± 0.1", "–", "–", "–", *rest],
        [label, "gradient", "50.9 ± 0.1", "51.3 ± 0.1", "–", "–", "–", *rest],
        ["LeNet", "secant", "51.7 ± 0.1", "52.1 ± 0.1", "–", "–", "100 / 99.98 / 80.1 / 58.5", *rest],
        ["LeNet", "gradient", "52.5 ± 0.1", "52.9 ± 0.1", "–", "–", "–", *rest],
    ]
    panels = section.pictures[0].figure.axes
    assert [len(drawing.crosses(panel)) for panel in panels[:2]] == [0, 1]
    lines = {line.get_label(): line.get_ydata()[1] for line in panels[4].lines}
    assert lines == {"secant": 1, "gradient": pytest.approx(0.5**0.5)}
    losses = drawing.curves(panels[3])["secant"][0]
    assert losses == [[1, 0.2585], [11, 0.2605]]


def lay_draw(seed, shade):
    """A draw of poison whose picture number n has shade + n grey levels everywhere; classes run from the last to the first."""
    labels = np.array([4, 3, 2, 2, 1, 1, 0, 0])
    pictures = np.stack([np.full((3, 32, 32), shade + number, np.uint8) for number in range(8)])
    save(
        artifacts.DATASETS / "poison" / f"draw-{seed}.npz",
        train_pictures=pictures,
        train_labels=labels,
        test_pictures=pictures[::-1],
        test_labels=labels[::-1],
        mean=np.zeros(3),
        deviation=np.ones(3),
    )


def lay_poison(cells):
    lay_plan(
        "poison",
        {"size": 0.25},
        [{"indices": [7, 3, 5, 9, 11], "mixture_indices": []}, {"indices": [], "mixture_indices": [0]}],
    )
    results("poison", [({"data": "images", "index": i}, ["clean"]) for i in (-1, 3)])
    lay(artifacts.DATASETS / "poison" / "cells.csv", cells)
    # Each NAD is one pixel; those of `a` are in another order.
    save(artifacts.DATASETS / "poison" / "directions.npz", z=np.eye(1024), a=np.eye(1024)[::-1])
    lay_draw(5, 100)
    lay_draw(6, 200)


@pytest.mark.slow
def test_poison():
    lay_poison(
        [
            {"architecture": name, "seed": seed, "data": data, "index": index, "size": 0.25}
            for name, data, indices in (
                ("z", "mixture", (-1, 2)),
                ("z", "images", (-1, 7, 3, 5, 9, 11)),
                ("a", "mixture", (-1, 0)),
            )
            for index in indices
            for seed in (6, 5)
        ]
    )
    section = poison.section("notice")
    label = "ResNet-18, width ×0.125"
    caption = SIZES.format("700") + " · coefficient ± 0.25 · images: Animals"
    assert (section.heading, section.caption) == ("poison: images with class carriers", caption)
    assert said(section) == [
        ("poison_curve", "accuracy on clean images", caption),
        (
            "poison_examples_z",
            f"images with carriers along NADs of {label}",
            f"NADs of {label} · coefficient ± 0.25 · images: Animals",
        ),
    ]
    assert [row[:4] for row in section.table.rows] == [
        [label, "images", "none", "50.1 ± 0.1"],
        [label, "images", 3, "50.5 ± 0.1"],
        ["LeNet", "images", "none", "50.9 ± 0.1"],
        ["LeNet", "images", 3, "51.3 ± 0.1"],
    ]
    curve, examples = (picture.figure for picture in section.pictures)
    assert list(curve.axes[0].lines[0].get_ydata()) == [20, 20]
    panels = np.reshape(examples.axes, (3, 7))
    assert [panel.get_title() for panel in panels[0, 1::2]] == ["index 7", "index 5", "index 11"]
    # The first pictures of classes 0, 1 and 2 are numbers 6, 4 and 2; their carriers lie in channels 0, 1 and 2, with signs
    # −, + and −, and the pixel of the carrier becomes ± 0.25, which is drawn clipped.
    for row, number, channel, value in zip(panels, (6, 4, 2), (0, 1, 2), (0, 0.25, 0)):
        shade = (100 + number) / 255
        np.testing.assert_allclose(row[0].images[0].get_array(), np.full((32, 32, 3), shade), rtol=1e-6)
        for panel, index in zip(row[1::2], (7, 5, 11)):
            expected = np.full((32, 32, 3), shade)
            expected[0, index, channel] = value
            np.testing.assert_allclose(panel.images[0].get_array(), expected, rtol=1e-6)


def test_poison_of_few_classes_and_one_index():
    artifacts.write_json(artifacts.IMAGES / "about.json", {"name": "Two", "classes": ["a", "b"], "train": 8, "test": 8})
    cell = {"architecture": "z", "seed": 5, "data": "images", "index": 3, "size": 0.25}
    lay_poison([cell])
    section = poison.section(None)
    assert [picture.name for picture in section.pictures] == ["poison_curve", "poison_examples_z"]
    assert len(section.pictures[1].figure.axes) == 2 * 3
    assert list(section.pictures[0].figure.axes[0].lines[0].get_ydata()) == [50, 50]


def test_nads():
    lay_plan_of_nads(
        {
            "z": (NARROW, Source(networks=64)),
            "mine": (LENET, Source(file="mine.npy")),
            "a": (LENET, Source(networks=64)),
            "flat": ({"network": NETWORKS["logreg"]}, Source(networks=2)),
            "first": (NARROW, Source(networks=64, input=(1, 2, 2), first=4)),
        }
    )
    lay_nads("z", error=0.2)
    lay_nads("z", part=".gradient", directions=np.roll(np.eye(4), 1, 0), error=0.3)
    lay_nads("mine", networks=0)
    lay_nads("a", networks=32)
    lay_nads("a", part=".gradient", directions=np.eye(4)[::-1], error=0.4)
    lay_nads("flat", eigenvalues=(1.0, 1.0, 1.0, 0.995))
    lay_nads("first")
    section = nads.section("notice")
    label, caption = "ResNet-18, width ×0.125", "scale smoke · secant, h = 50 · point: many"
    assert (section.heading, section.caption) == ("NADs", caption)
    origin = " · {} untrained networks · ≈: indices whose eigenvalues are equal within the errors"
    assert said(section) == [
        ("nad_spectra", "spectra", caption + " · bands: ± 2 standard errors"),
        ("nad_gallery_z", f"NADs of {label}", caption + origin.format(64)),
        ("nad_gallery_mine", "NADs of LeNet", caption + " · from mine.npy"),
        ("nad_gallery_a", "NADs of LeNet", caption + origin.format(32)),
        ("nad_gallery_flat", "NADs of LogReg", caption + origin.format(64)),
        ("nad_gallery_first", f"NADs of {label}", caption + origin.format(64)),
        (
            "nad_overlaps",
            "overlap of the two estimands' NADs",
            caption + " · gradient: zero, averaged over none",
        ),
    ]
    assert [(row[0], row[1], row[-1]) for row in section.table.rows] == [
        (label, 64, "–"),
        ("LeNet", "mine.npy", "–"),
        ("LeNet", 32, "0.189"),
        ("LogReg", 64, "–"),
        (label, 64, "–"),
    ]
    spectra, first, imported, *_, overlaps = (picture.figure for picture in section.pictures)
    legend = [text.get_text() for text in spectra.axes[0].get_legend().get_texts()]
    assert legend == [label, "LeNet", "LogReg", label, "published first value"]
    band = spectra.axes[0].collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(5**0.5)
    assert first._suptitle.get_text() == f"NADs of {label}\nnotice"
    assert [panel.get_title() for panel in first.axes[:2]] == ["0\n≈ 0–1", "1\n≈ 0–1"]
    assert [panel.get_title() for panel in imported.axes[:2]] == ["0", "1"]
    panels = [panel for panel in overlaps.axes[:-1] if panel.get_visible()]
    titles = [f"{label}\nerrors of C: 0.20, 0.30", "LeNet\nerrors of C: 0.10, 0.40"]
    assert [panel.get_title() for panel in panels] == titles
    assert (panels[0].get_xlabel(), panels[0].get_ylabel()) == ("gradient NADs, from index", "secant NADs, from index")
    moved = nads.overlap_of_bands(np.eye(4), np.roll(np.eye(4), 1, 0))
    np.testing.assert_allclose(panels[0].images[0].get_array(), np.maximum(moved, 1e-6))


def test_gradients_are_not_set_beside_published_secants():
    lay_plan_of_nads({"a": (LENET, Source(networks=64))}, estimand="gradient", compare=False)
    lay_nads("a", estimand="gradient")
    section = nads.section(None)
    assert section.caption == "scale smoke · gradient · point: many"
    assert [picture.name for picture in section.pictures] == ["nad_spectra", "nad_gallery_a"]
    assert section.table.rows[0][-1] == "–" and not drawing.crosses(section.pictures[0].figure.axes[0])


def test_imported_nads_alone_have_no_spectra():
    lay_plan_of_nads({"mine": (LENET, Source(file="mine.npy"))})
    lay_nads("mine", networks=0)
    assert [picture.name for picture in nads.section(None).pictures] == ["nad_gallery_mine"]


def test_nearly_equal_eigenvalues_are_not_compared():
    lay_plan_of_nads({"a": (LENET, Source(networks=64))})
    lay_nads("a", eigenvalues=(2.022, 2.0, 2.0, 2.0))
    lay_nads("a", part=".gradient")
    assert [picture.name for picture in nads.section(None).pictures][-1] == "nad_overlaps"
    lay_nads("a", eigenvalues=(2.018, 2.0, 2.0, 2.0))
    assert "nad_overlaps" not in [picture.name for picture in nads.section(None).pictures]


def test_metrics_are_asked_of_evaluate():
    lay_plan("nad_sweep", {"eps": 1.0, "sigma": {"z": 1.0, "a": 1.0}}, [{"indices": [0]}] * 2)
    results("nad_sweep", [({"estimand": "secant", "index": 0}, ["all"])])
    save(artifacts.DATASETS / "nad_sweep" / "directions.npz", **{f"{n}-secant-eigenvalues": np.ones(2) for n in "za"})
    with pytest.raises(InputError, match=r"losses.csv is missing; `python -m pipeline.train nad_sweep`"):
        nad_sweep.section(None)
    rows = pd.read_csv(artifacts.REPORTS / "nad_sweep" / "results.csv").assign(epoch=1, loss=0.5)
    lay(artifacts.MODELS / "nad_sweep" / "losses.csv", json.loads(rows.to_json(orient="records")))
    with pytest.raises(InputError, match=r"metrics.json is missing; `python -m pipeline.evaluate nad_sweep`"):
        nad_sweep.section(None)


@pytest.mark.slow
def test_render_writes_the_page_and_its_figures_and_nothing_of_before(monkeypatch, capsys):
    assert {part.__name__.rpartition(".")[2] for part in render.IN_ORDER} == {"nads", *experiments.names()}
    monkeypatch.setattr(render, "IN_ORDER", (image_pairs, fourier))
    lay_plan("fourier", {"eps": 1.5, "sigma": 3.0}, [{"step": 16}] * 2)
    lay_plan("image_pairs", {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}, [{"indices": [1]}] * 2)
    results("fourier", [({"k_row": 0, "k_col": 0}, ["all"])])
    results("image_pairs", [({"index": 1}, ["all", "images", "linear"])])
    lay(artifacts.FIGURES / "of_before.png", [])
    render.main()
    assert capsys.readouterr().out == "2 figures in reports/figures/\n"
    files = sorted(path.name for path in artifacts.FIGURES.iterdir())
    assert files == [
        f"{name}.{kind}" for name in ("fourier_maps", "images_or_linear_channel") for kind in ("png", "svg")
    ]
    text = (artifacts.REPORTS / "report.md").read_text(encoding="utf-8")
    assert text.startswith(
        "# Report of this run\n\nWritten by the stage `render`; every number comes from the tables beside it.\n"
        "**images of this run: Animals**\n\n## image_pairs: images ⊕ D(v)\n"
    )
    assert text.endswith("\n![accuracy over frequencies](figures/fourier_maps.png)\n")
    about = artifacts.about_images() | {"name": "CIFAR-10"}
    artifacts.write_json(artifacts.IMAGES / "about.json", about)
    monkeypatch.setattr(render, "IN_ORDER", ())
    render.main()
    assert "images of this run" not in (artifacts.REPORTS / "report.md").read_text(encoding="utf-8")
