"""The sections of the report, from a small run laid down by hand: what they read, say and show."""

import dataclasses
import json
import shutil
from pathlib import Path

import drawing
import numpy as np
import pandas as pd
import pytest
from hand_overs import ABOUT, nads_of_file

from pipeline import experiments, render
from pipeline.grid.experiment import Member, Plan
from pipeline.measures.boundaries import POINTS
from pipeline.measures.fitted import fitted
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import flip, fourier, image_pairs, linear_pairs, nad_sweep, nads, poison, style
from pipeline.report.evaluated import all_fitted, evaluated, not_fitted
from pipeline.training import Training

LENET = {"network": NETWORKS["lenet"]}
NARROW = {"network": NETWORKS["resnet18"], "width": 0.125}
CLASSES = ["ape", "bee", "cat", "dog", "eel"]


@pytest.fixture(autouse=True)
def _project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    about = ABOUT | {"name": "Animals", "classes": CLASSES, "train": 700, "test": 90}
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
        over = [
            column for column in table if column not in ("seed", "accuracy", "train_accuracy", "best_accuracy", "n")
        ]
        summary = table.assign(fitted=fitted(table)).groupby(over, sort=False)
        summary = summary.agg(
            mean=("accuracy", "mean"),
            std=("accuracy", "std"),
            seeds=("accuracy", "count"),
            fitted=("fitted", "sum"),
            train_accuracy=("train_accuracy", "mean"),
        )
        summary = summary.assign(best_mean=summary["mean"], best_std=summary["std"])
        summary.reset_index().to_csv(path.with_name("summary.csv"), index=False)


def results(name, places, accuracy=0.5, unfitted=0):
    """results.csv of `z` and `a`: the accuracy of each row is a little higher than that of the one before.

    unfitted: networks, the first ones, that come to a training accuracy of 98 % only, the others to 100 %.
    """
    rows = [
        {"architecture": architecture, "seed": seed} | place | {"test_set": test}
        for architecture in ("z", "a")
        for place, tests in places
        for test in tests
        for seed in (5, 6)
    ]
    lay(
        artifacts.REPORTS / name / "results.csv",
        [
            row
            | {"accuracy": accuracy + place / 500, "train_accuracy": 0.98 if place < unfitted else 1.0}
            | {"best_accuracy": accuracy + place / 500, "n": 10**8}
            for place, row in enumerate(rows)
        ],
    )


def save(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


def said(section):
    """A section's pictures as name, alternative text and caption."""
    return [(picture.name, picture.text, picture.figure._supxlabel.get_text()) for picture in section.pictures]


def drawn(section, expected):
    """Expected pictures with the lines of their captions broken as wide as each figure is."""
    widths = [int(style.LETTERS * picture.figure.get_figwidth()) for picture in section.pictures]
    return [
        (name, text, "\n".join(style.filled(line, width) for line in caption.splitlines()))
        for width, (name, text, caption) in zip(widths, expected, strict=True)
    ]


SIZES = "scale smoke · 2 seeds · {} training samples · epochs 3 (ResNet-18, width ×0.125), 2 (LeNet)"
SPREAD = " · ± standard deviation over seeds"
NOT_FITTED = "where not every network was fitted (training accuracy below 99 %)"
ALL_FITTED = "every network fitted (training accuracy at least 99 %)"


def images_are_cifar10():
    """What is published is of CIFAR-10, and stands beside no other images."""
    artifacts.write_json(artifacts.IMAGES / "about.json", artifacts.about_images() | {"name": "CIFAR-10"})


def test_the_caption_says_what_differs_and_no_more():
    fourier_settings = {"eps": 1.0, "sigma": 3.0}
    lay_plan("fourier", fourier_settings, [{"step": 16}] * 2)
    results("fourier", [({"k_row": 0, "k_col": 0}, ["all"])])
    run = evaluated("fourier")
    assert run.labels == {"z": "ResNet-18, width ×0.125", "a": "LeNet"} and len(run.results) == 4
    assert run.sizes() == SIZES.format("1,234")
    assert run.sizes(["a"]) == "scale smoke · 2 seeds · 1,234 training samples · 2 epochs"
    assert run.of_the_papers({"lenet": 1, "resnet18": 2}) == {"a": 1}
    wide = ("published, full width", 2)
    assert run.beside({"lenet": 1, "resnet18": 2, "vgg11": 3}) == {"a": ("published", 1), "z": wide}
    assert (run.seeds(), run.seeds(["z"]), run.deviations()) == ("2 seeds", "2 seeds", SPREAD)
    lay_plan("fourier", fourier_settings, [{"step": 16}] * 2, "bfloat16", seeds=(5,), epochs=(4, 4))
    expected = "scale smoke · 1 seed · 1,234 training samples · 4 epochs · trained in bfloat16"
    assert evaluated("fourier").sizes() == expected and not evaluated("fourier").deviations()


def test_networks_may_have_fewer_seeds_than_others():
    lay_plan("fourier", {"eps": 1.0, "sigma": 3.0}, [{"step": 16}] * 2, epochs=(4, 4))
    plan = artifacts.planned("fourier")
    plan["members"]["z"]["seeds"] = 1
    artifacts.write_json(artifacts.PLAN / "fourier.json", plan)
    results("fourier", [({"k_row": 0, "k_col": 0}, ["all"])])
    run = evaluated("fourier")
    seeds = "seeds 1 (ResNet-18, width ×0.125), 2 (LeNet)"
    assert run.seeds() == seeds and run.seeds(["z"]) == "1 seed" and run.deviations() == SPREAD
    assert run.sizes() == f"scale smoke · {seeds} · 1,234 training samples · 4 epochs"


def test_points_are_fitted_where_the_networks_of_every_seed_are():
    rows = pd.DataFrame(
        {"index": [5, 3, 5, 3], "seed": [0, 0, 1, 1], "train_accuracy": [1.0, 0.99, 0.9899, 1.0], "accuracy": 0.5}
    )
    assert all_fitted(rows, ["index"]).to_dict() == {3: True, 5: False}
    assert not_fitted(rows, ["index"], "hollow", "points") == f"hollow: 1 of 2 points, {NOT_FITTED}"
    assert not_fitted(rows.query("index == 3"), ["index"], "hollow", "points") == ALL_FITTED


def test_what_is_missing_is_named_with_the_stage_that_makes_it():
    with pytest.raises(InputError, match=r"data/plan/fourier.json is missing; `python -m pipeline.plan`"):
        evaluated("fourier")
    lay_plan("fourier", {"eps": 1.0, "sigma": 3.0}, [{"step": 16}] * 2)
    with pytest.raises(InputError, match=r"results.csv is missing; `python -m pipeline.evaluate fourier`"):
        evaluated("fourier")


def lay_flip(unfitted=0):
    lay_plan("flip", {}, [{}, {}])
    results("flip", [({"images": "plain"}, ["all"]), ({"images": "flipped"}, ["all"])], unfitted=unfitted)
    rows = [
        {"architecture": name, "seed": seed, "images": "plain", "operation": operation, "first": index, "last": index}
        | {"changed": changed, "relative_change": 0.1}
        for name, changed in (("z", 0.25), ("a", 0.75))
        for seed in (5, 6)
        for operation in ("remove", "flip")
        for index in (0, 2)
    ]
    lay(artifacts.REPORTS / "flip" / "changes.csv", rows)


def test_flip():
    images_are_cifar10()
    # Both networks of `z` on plain images, and one of two on flipped ones.
    lay_flip(unfitted=3)
    section = flip.section("notice")
    # Of images there are but 700.
    caption = SIZES.format("700") + " · images: CIFAR-10" + SPREAD
    assert (section.heading, section.caption) == ("flip: images in reverse order of NADs", caption)
    z, a = ["98.0 (0 of 2)", "99.0 (1 of 2)"], ["100.0 (2 of 2)"] * 2
    assert section.table.rows == [
        ["ResNet-18, width ×0.125", "50.1 ± 0.1", "50.5 ± 0.1", *z, "89 / 58, full width"],
        ["LeNet", "50.9 ± 0.1", "51.3 ± 0.1", *a, "69 / 48"],
    ]
    assert section.findings == [
        "Accuracy with NAD coefficients in reverse order, 2 seeds: ResNet-18, width ×0.125: 50.1 ± 0.1 % on images as they are and "
        "50.5 ± 0.1 % on flipped ones, a loss of −0.4 ± 0.0 points, not fitted: training accuracies 98 % and 99 % (published, full "
        "width 89 and 58 %); LeNet: 50.9 ± 0.1 % on images as they are and 51.3 ± 0.1 % on flipped ones, a loss of −0.4 ± 0.0 points "
        "(published 69 and 48 %)."
    ]
    assert said(section) == drawn(
        section,
        [
            (
                "flip_bars",
                "accuracy on plain and flipped images",
                f"{caption}\ndashed outlines: 2 of 4 bars, {NOT_FITTED}",
            ),
            (
                "flip_components_z",
                "what predictions of ResNet-18, width ×0.125 rest on",
                f"{caption}\ntrained to 98.0 % training accuracy",
            ),
            (
                "flip_components_a",
                "what predictions of LeNet rest on",
                f"{caption}\ntrained to 100.0 % training accuracy",
            ),
        ],
    )
    bars, *components = (picture.figure for picture in section.pictures)
    guessing = next(line for line in bars.axes[0].lines if line.get_label() == "guessing")
    assert list(guessing.get_ydata()) == [20, 20]
    heights = [patch.get_height() for patch in bars.axes[0].patches if drawing.colour(patch) == "#ffffff"]
    assert heights == [89, 69, 58, 48]
    for figure, label, changed in zip(components, ("ResNet-18, width ×0.125", "LeNet"), (25, 75)):
        title = f"What the predictions of {label} rest on: test images with NAD components altered\nnotice"
        assert figure._suptitle.get_text() == title
        assert drawing.curves(figure.axes[2])["predictions that change"][0] == [[0, changed], [1, changed]]


def test_nothing_is_published_of_other_images():
    lay_flip()
    section = flip.section(None)
    assert [row[-1] for row in section.table.rows] == ["–", "–"] and "published" not in section.findings[0]
    assert len(section.pictures[0].figure.axes[0].patches) == 4
    assert said(section)[0][2].endswith(f"\n{ALL_FITTED}")


def test_fourier():
    lay_plan("fourier", {"eps": 1.5, "sigma": 3.0}, [{"step": 16}] * 2)
    places = [(-16, -16), (-16, 0), (0, -16), (0, 0), (0, -4), (-4, 0), (-4, -4), (-4, 4)]
    places += [(-16, 4), (4, -16)]
    results("fourier", [({"k_row": r, "k_col": c}, ["all"]) for r, c in places], unfitted=3)
    section = fourier.section("notice")
    caption = SIZES.format("1,234") + " · ε = 1.5, σ = 3" + SPREAD
    odd = " · LeNet's published row k_row = 0 lies above its transpose, though the network's law is symmetric"
    assert (section.heading, section.caption) == ("fourier: D(v) along Fourier directions", caption + odd)
    marked = f"dotted: 2 of 20 directions, {NOT_FITTED}"
    assert said(section) == drawn(section, [("fourier_maps", "accuracy over frequencies", f"{caption}\n{marked}")])
    narrow, lenet = section.table.rows
    assert narrow[:3] == ["ResNet-18, width ×0.125", "8 of 10", "51.9 ± 0.1"]
    assert narrow[6] == "99.9, full width" and narrow[7].endswith(" (7), full width")
    # Ours and the published means of k and −k are, off the row, 54.1 and 50.27, 54.5 and 49.61, 56.1 and 78.84, 56.5 and
    # 69.34, 56.9 and 68.16, 57.3 and 50.34, 57.7 and 50.18; on it 54.9 and 51.13, 55.3 and 72.46, 55.7 and 80.225.
    ends = ["55.9 ± 0.1", "54.1 ± 0.1", "57.7 ± 0.1", "0"]
    assert lenet == ["LeNet", "10 of 10", *ends, "62.1", "11.7 (7)", "17.4 (3)"]
    accuracies, compared = section.findings
    assert accuracies == (
        "Accuracy over Fourier directions, 2 seeds: ResNet-18, width ×0.125: 51.9 ± 0.1 % in the mean, from 50.1 ± 0.1 at "
        "(−16, −16) to 53.7 ± 0.1 at (4, −16) (fitted along 8 of 10); LeNet: 55.9 ± 0.1 % in the mean, from 54.1 ± 0.1 at "
        "(−16, −16) to 57.7 ± 0.1 at (4, −16) (fitted along 10 of 10)."
    )
    assert compared.startswith(
        "Distance from the published maps, along so many directions: ResNet-18, width ×0.125 (of full width): "
    )
    assert compared.endswith("; LeNet: 11.7 points rms over 7 with k_row ≠ 0, 17.4 points rms over 3 with k_row = 0.")
    (picture,) = section.pictures
    titles = [panel.get_title() for panel in picture.figure.axes[:4]]
    assert titles == ["ResNet-18, width ×0.125", "published, full width", "LeNet", "published"]


def test_what_pooling_does_is_said_of_the_directions_that_both_have():
    grids = [{"step": 16}, {"step": 16}]
    lay_plan("fourier", {"eps": 1.5, "sigma": 3.0}, grids)
    plan = artifacts.planned("fourier")
    plan["members"]["z"]["specification"] = LENET | {"downsampling": "none"}
    artifacts.write_json(artifacts.PLAN / "fourier.json", plan)
    places = [(0, 0), (0, -16), (-16, 0), (-16, -16)]
    results("fourier", [({"k_row": r, "k_col": c}, ["all"]) for r, c in places])
    rows = pd.read_csv(artifacts.REPORTS / "fourier" / "results.csv")
    rows = rows[(rows["architecture"] == "a") | (rows["k_row"] == 0)]
    lay(artifacts.REPORTS / "fourier" / "results.csv", rows)
    section = fourier.section(None)
    # Without pooling 50.0, 50.2; 50.4, 50.6; with it 51.6, 51.8; 52.0, 52.2 along the same two.
    assert section.findings[-1] == (
        "Without pooling LeNet has 50.3 ± 0.1 % instead of 51.9 ± 0.1 %, means over the 2 directions of both; "
        "published 100.0 % without."
    )
    assert [row[6] for row in section.table.rows] == ["100.0", "55.9"]


def test_image_pairs():
    settings = {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}
    lay_plan("image_pairs", settings, [{"indices": [1]}] * 2)
    # All eight rows of `z`.
    results("image_pairs", [({"index": 1}, ["all", "images", "linear", "conflict"])], unfitted=8)
    for seed, labels in ((5, [1, 1, 1, -1]), (6, [1, -1, -1, 1])):
        save(artifacts.DATASETS / "image_pairs" / f"draw-{seed}.npz", test_labels=np.array(labels, np.int8))
    section = image_pairs.section("notice")
    run, sides = (
        SIZES.format("700") + " · ε = 1.25 · images: Animals" + SPREAD,
        "one side: ape, bee · the other: cat, dog, eel",
    )
    caption = f"{run} · {sides} · NAD indices begin at 0, which for paper 2 is a choice"
    assert (section.heading, section.caption) == ("image_pairs: images ⊕ D(v)", caption)
    ((name, text, below),) = said(section)
    assert (name, text) == ("images_or_linear_channel", "images or linear channel")
    # Its first line is longer than the figure is wide.
    assert " ".join(below.splitlines()) == f"{run} {sides} hollow: 1 of 2 points of each curve, {NOT_FITTED}"
    assert section.table.rows == [
        ["ResNet-18, width ×0.125", 1, "50.1 ± 0.1", "50.9 ± 0.1", "50.5 ± 0.1", "51.3 ± 0.1", "98.0 (0 of 2)"],
        ["LeNet", 1, "51.7 ± 0.1", "52.5 ± 0.1", "52.1 ± 0.1", "52.9 ± 0.1", "100.0 (2 of 2)"],
    ]
    assert section.findings == [
        "image_pairs, ResNet-18, width ×0.125 (0 of 2 networks fitted): nothing is said of what it uses, since training accuracies "
        "are below 99 %.",
        "image_pairs, LeNet (2 of 2 networks fitted): the linear channel alone gives more than the images alone at index 1: 52.5 ± "
        "0.1 against 52.1 ± 0.1 % at 1 (n = 2); where the two disagree, the linear channel's label wins in 52.9 ± 0.1 % at 1.",
    ]
    panels = section.pictures[0].figure.axes
    assert [panel.get_title() for panel in panels] == ["ResNet-18, width ×0.125, σ = 3.5", "LeNet, σ = 2"]
    # Of both seeds' eight test labels five are 1.
    assert [list(panel.lines[0].get_ydata()) for panel in panels] == [[62.5, 62.5]] * 2


def test_image_pairs_name_the_sides_that_the_user_chose():
    settings = {"eps": 1.0, "sigma": {"z": 1.0, "a": 1.0}, "positive": ["eel", "bee"]}
    lay_plan("image_pairs", settings, [{"indices": [1]}] * 2, seeds=(5,))
    results("image_pairs", [({"index": 1}, ["all", "images", "linear"])])
    save(artifacts.DATASETS / "image_pairs" / "draw-5.npz", test_labels=np.array([1, -1], np.int8))
    assert " · one side: ape, cat, dog · the other: bee, eel · " in image_pairs.section(None).caption


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
        **nads_of_file(np.eye(4) if directions is None else directions, (1, 2, 2))
        | dict(
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
        ),
    )


@pytest.mark.usefixtures("_undrawn")
@pytest.mark.slow
def test_linear_pairs():
    lay_plan(
        "linear_pairs", {"eps1": 1.5, "eps2": 0.75, "sigma": 2.0}, [{"indices": [9, 1]}, {"indices": [*range(16)]}]
    )
    pairs = [(first, second) for first in (1, 9) for second in (1, 9)]
    # The six rows of `z` at its first pair.
    results("linear_pairs", [({"index_1": a, "index_2": b}, ["all", "first", "second"]) for a, b in pairs], unfitted=6)
    rows = [
        {"architecture": name, "seed": seed, "index_1": a, "index_2": b}
        | {"tilt": less + a + b / 10 + seed, "margin_1": 1.0, "margin_2": 2.0}
        | {"train_accuracy": 0.98 if (name, a, b) == ("z", 1, 1) else 1.0}
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
    hatched, over_fitted = (
        "hatched: {} of {} pairs, " + NOT_FITTED,
        "mean ± standard deviation over the seeds that were fitted",
    )
    planes_are = f"probability: mean over seeds · tilt: {over_fitted}"
    assert section.heading == "linear_pairs: D(v₁) ⊕ D(v₂)"
    assert section.caption == (
        f"{whole}{SPREAD} · tilt: of the seeds that were fitted (training accuracy at least 99 %), have a boundary and do better than guessing on new samples · used is a "
        "channel that alone gives more than 60 % · NAD indices begin at 0, which for paper 2 is a choice"
    )
    one = "scale smoke · 2 seeds · 1,234 training samples · {} epochs · " + science
    label = "ResNet-18, width ×0.125"
    assert said(section) == drawn(
        section,
        [
            (
                "two_sufficient_channels",
                "the problem and the NADs",
                f"scale smoke · {science} · NADs from mine.npy ({label}), 64 untrained LeNet",
            ),
            (
                "linear_accuracies_z",
                f"accuracies of {label}",
                f"{one.format(3)}{SPREAD}\n{hatched.format(1, 4)}\npublished: full width, mean of three seeds, read off the figure, ± 1",
            ),
            ("linear_boundaries_z", f"boundaries of {label}", f"{one.format(3)}\n{planes_are}\n{hatched.format(1, 4)}"),
            ("linear_accuracies_a", "accuracies of LeNet", f"{one.format(2)}{SPREAD}\n{ALL_FITTED}"),
            ("linear_boundaries_a", "boundaries of LeNet", f"{one.format(2)}\n{planes_are}\n{ALL_FITTED}"),
            (
                "linear_tilt_and_margins",
                "tilt and margins",
                f"{whole}\n{over_fitted} · –: none of them, or of tilts none with a boundary\n{hatched.format(1, 8)}",
            ),
        ],
    )
    trained = "100.0 (2 of 2)"
    assert [row[:3] + row[-3:] for row in section.table.rows] == [
        [label, "(1, 1)", "50.1 ± 0.1", "–", "98.0 (0 of 2)", "99.7 / 99.7 / 80.4"],
        [label, "(1, 9)", "51.3 ± 0.1", "7.4 ± 0.7°", trained, "–"],
        [label, "(9, 1)", "52.5 ± 0.1", "14.6 ± 0.7°", trained, "–"],
        [label, "(9, 9)", "53.7 ± 0.1", "15.4 ± 0.7°", trained, "–"],
        ["LeNet", "(1, 1)", "54.9 ± 0.1", "46.6 ± 0.7°", trained, "–"],
        ["LeNet", "(1, 9)", "56.1 ± 0.1", "47.4 ± 0.7°", trained, "–"],
        ["LeNet", "(9, 1)", "57.3 ± 0.1", "54.6 ± 0.7°", trained, "–"],
        ["LeNet", "(9, 9)", "58.5 ± 0.1", "55.4 ± 0.7°", trained, "–"],
    ]
    narrow, lenet = section.findings
    assert narrow.startswith(
        f"linear_pairs, {label} (6 of 8 networks fitted): of two sufficient channels along NADs (v₁, v₂) it uses neither at (1, 9) "
        "(alone, they give 51.7 ± 0.1 and 52.1 ± 0.1 %), neither at (9, 1) (52.9 ± 0.1 and 53.3 ± 0.1 %), n = 2; at (1, 1) no network "
    ) and narrow.endswith("; published of ResNet-18 of full width: 99.7 and 80.4 % at (1, 1).")
    assert lenet.startswith("linear_pairs, LeNet (8 of 8 networks fitted)") and "published" not in lenet
    figures = [picture.figure for picture in section.pictures]
    titles = [figure._suptitle.get_text().partition(":")[0] for figure in figures[1:5]]
    assert titles == [label, label, "LeNet", "LeNet"]
    problem, *nads_drawn = figures[0].axes
    lines = {line.get_label(): drawing.points(line) for line in problem.lines}
    assert lines["class 0"] == [[-1.5, -0.75]] and lines["class 1"] == [[1.5, 0.75]]
    assert f"maximum margin ({np.degrees(np.arctan(0.5)):.1f}°)" in lines
    # Six of the sixteen indices, evenly spread: LeNet has them all, and ResNet-18 one of its two.
    panels = np.reshape(nads_drawn, (2, 6, 2))
    assert [panel.get_title() for panel in panels[0, :, 0]] == [f"NAD {i}" for i in (0, 3, 6, 9, 12, 15)]
    assert [bool(panel.images) for panel in panels[0, :, 0]] == [False] * 3 + [True] + [False] * 2
    image = panels[1, 4, 0].images[0].get_array()
    assert image.shape == (32, 32) and (image == 13).all()
    # Means over two seeds, whose cross-sections are numbers 1 and 5, … of a network's eight.
    for figure, first in ((figures[2], 1), (figures[4], 9)):
        heights = [panel.images[0].get_array()[0, 0] * 32 for panel in figure.axes[:4]]
        np.testing.assert_allclose(heights, [first + pair + 2 for pair in range(4)], atol=0.02)
    assert [panel.get_title() for panel in figures[2].axes[:2]] == ["not fitted", "7.4 ± 0.7°"]
    assert [panel.get_title() for panel in figures[4].axes[:4]] == [f"{t} ± 0.7°" for t in (46.6, 47.4, 54.6, 55.4)]
    # Published indices are others than 1 and 9: all of them stand under ResNet-18's maps, and nothing under LeNet's.
    assert [len([panel for panel in figure.axes if panel.get_title()]) for figure in figures[1:4:2]] == [6, 3]
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
    results("nad_sweep", places, unfitted=1)
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
    p_values = {"accuracy_index": 0.25, "accuracy_eigenvalue": 2e-5, "early_loss_index": None}
    metrics = {n: {e: {"spearman": rho, "p_value": p_values} for e in ("secant", "gradient")} for n in "za"}
    artifacts.write_json(artifacts.REPORTS / "nad_sweep" / "metrics.json", metrics)

    section = nad_sweep.section("notice")
    label = "ResNet-18, width ×0.125"
    caption = SIZES.format("1,234") + f" · ε = 1.25, σ = 3.5 ({label}), 2 (LeNet)" + SPREAD
    assert (section.heading, section.caption) == ("nad_sweep: D(u) along the network's own NADs", caption)
    marked = f"hollow: 1 of 8 points, {NOT_FITTED}"
    assert said(section) == drawn(section, [("nad_sweep", "accuracy against the NAD index", f"{caption}\n{marked}")])
    rest = ["−0.500 (p = 0.25)", "0.250 (p < 0.001)", "–"]
    # From 97.88 and 99.24 the narrow ResNet-18 is 47.8 and 48.7 away, LeNet 48.3 and 47.9 from 100 and 99.98.
    wide = ["97.88 / 99.24 / 69.25 / 56.35, full width", "48.3 (2), full width"]
    own = ["100 / 99.98 / 80.06 / 58.46", "48.1 (2)"]
    assert section.table.rows == [
        [label, "secant", "1 of 2", "50.1 ± 0.1", "50.5 ± 0.1", "–", "–", *wide, *rest],
        [label, "gradient", "2 of 2", "50.9 ± 0.1", "51.3 ± 0.1", "–", "–", "–", "–", *rest],
        ["LeNet", "secant", "2 of 2", "51.7 ± 0.1", "52.1 ± 0.1", "–", "–", *own, *rest],
        ["LeNet", "gradient", "2 of 2", "52.5 ± 0.1", "52.9 ± 0.1", "–", "–", "–", "–", *rest],
    ]
    rho = "Spearman's ρ with the index −0.500 (p = 0.25)"
    assert section.findings == [
        f"Accuracy along the NADs, 2 seeds: {label} along its secant NADs 50.1 ± 0.1 % at index 0 and 50.5 ± 0.1 % at index 10, "
        f"{rho} (fitted at 1 of 2 indices); {label} along its gradient NADs 50.9 ± 0.1 % at index 0 and 51.3 ± 0.1 % at index 10, "
        f"{rho} (fitted at 2 of 2 indices); LeNet along its secant NADs 51.7 ± 0.1 % at index 0 and 52.1 ± 0.1 % at index 10, "
        f"{rho} (fitted at 2 of 2 indices); LeNet along its gradient NADs 52.5 ± 0.1 % at index 0 and 52.9 ± 0.1 % at index 10, "
        f"{rho} (fitted at 2 of 2 indices).",
        f"Distance from the published curves: {label} (of full width) 48.3 points rms over 2 indices; "
        "LeNet 48.1 points rms over 2 indices.",
    ]
    panels = section.pictures[0].figure.axes
    called = [[text.get_text() for text in panel.get_legend().get_texts()][-1] for panel in panels[:2]]
    assert called == ["published, full width (secant)", "published (secant)"]
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


def lay_poison(cells, unfitted=0):
    lay_plan(
        "poison",
        {"size": 0.25},
        [{"indices": [7, 3, 5, 9, 11], "mixture_indices": []}, {"indices": [], "mixture_indices": [0]}],
    )
    results("poison", [({"data": "images", "index": i}, ["clean"]) for i in (-1, 10)], unfitted=unfitted)
    lay(artifacts.DATASETS / "poison" / "cells.csv", cells)
    # Each NAD is one pixel; those of `a` are in another order.
    save(artifacts.DATASETS / "poison" / "directions.npz", z=np.eye(1024), a=np.eye(1024)[::-1])
    lay_draw(5, 100)
    lay_draw(6, 200)


@pytest.mark.slow
def test_poison():
    images_are_cifar10()
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
        ],
        unfitted=3,
    )
    section = poison.section("notice")
    label = "ResNet-18, width ×0.125"
    caption = SIZES.format("700") + " · coefficient ± 0.25 · images: CIFAR-10" + SPREAD
    assert (section.heading, section.caption) == ("poison: images with class carriers", caption)
    assert said(section) == drawn(
        section,
        [
            (
                "poison_curve",
                "accuracy on clean images",
                f"{caption}\nhollow: 2 of 4 points and levels, {NOT_FITTED}",
            ),
            (
                "poison_examples_z",
                f"images with carriers along NADs of {label}",
                f"NADs of {label} · coefficient ± 0.25 · images: CIFAR-10",
            ),
        ],
    )
    assert section.table.rows == [
        [label, "images", "none", "50.1 ± 0.1", "–", "98.0 (0 of 2)", "–"],
        [label, "images", 10, "50.5 ± 0.1", "–", "99.0 (1 of 2)", "36.7"],
        ["LeNet", "images", "none", "50.9 ± 0.1", "–", "100.0 (2 of 2)", "–"],
        ["LeNet", "images", 10, "51.3 ± 0.1", "–", "100.0 (2 of 2)", "–"],
    ]
    assert section.findings == [
        f"Accuracy on clean test data, 2 seeds: {label} on images: 50.1 ± 0.1 % without carriers, 50.5 ± 0.1 % with carriers from "
        "NAD 10 (fitted: 0 of 2); LeNet on images: 50.9 ± 0.1 % without carriers, 51.3 ± 0.1 % with carriers from NAD 10 "
        "(fitted: 2 of 2).",
        "ResNet-18 of full width, trained on 50,000 images, is published with 17.6 % at NAD 0 and 80.3 % at NAD 1020; "
        f"{label} lies 13.8 points rms from that over 1 index.",
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
    artifacts.write_json(
        artifacts.IMAGES / "about.json", ABOUT | {"name": "Two", "classes": ["a", "b"], "train": 8, "test": 8}
    )
    cell = {"architecture": "z", "seed": 5, "data": "images", "index": 3, "size": 0.25}
    lay_poison([cell])
    section = poison.section(None)
    assert [picture.name for picture in section.pictures] == ["poison_curve", "poison_examples_z"]
    assert len(section.pictures[1].figure.axes) == 2 * 3
    assert list(section.pictures[0].figure.axes[0].lines[0].get_ydata()) == [50, 50]
    # Of other images than CIFAR-10 nothing is published.
    assert {row[-1] for row in section.table.rows} == {"–"} and len(section.findings) == 1


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
    assert said(section) == drawn(
        section,
        [
            ("nad_spectra", "spectra", caption + " · bands: ± 2 standard errors"),
            ("nad_gallery_z", f"NADs of {label}", caption + origin.format(64)),
            ("nad_gallery_mine", "NADs of LeNet", caption + " · from mine.npy"),
            ("nad_gallery_a", "NADs of LeNet", caption + origin.format(32)),
            ("nad_gallery_first", f"NADs of {label}", caption + origin.format(64)),
            (
                "nad_overlaps",
                "overlap of the two estimands' NADs",
                caption + " · gradient: zero, averaged over no symmetries",
            ),
        ],
    )
    assert [(row[0], row[1], row[-1]) for row in section.table.rows] == [
        (label, 64, "–"),
        ("LeNet", "mine.npy", "–"),
        ("LeNet", 32, "0.189"),
        ("LogReg", 64, "–"),
        (label, 64, "–"),
    ]
    assert [row[5] for row in section.table.rows] == ["1.00 (1.00)", "–", "1.00 (1.00)", "–", "1.00 (1.00)"]
    falls = "by a factor of 2.8 for {0} (64 untrained networks), 2.8 for LeNet (32 untrained networks), 2.8 for {0} (64"
    assert section.findings == [
        f"√λ falls from the first NAD to the last {falls.format(label)} untrained networks); for LogReg (64 untrained networks) "
        "all eigenvalues are equal within their errors, and no direction comes first.",
        # √λ₀ is 2, and an error of 0.5 in 4 is one of 0.125 in its root.
        "First singular value × √10,000 ± standard error: LeNet 200 ± 12 (published 0.189).",
        f"The spans of the first 10 NADs of secant and gradient share 1.00 for {label} (halves of one estimate 1.00, chance "
        "1.00), 1.00 for LeNet (halves of one estimate 1.00, chance 1.00).",
    ]
    spectra, first, imported, *_, overlaps = (picture.figure for picture in section.pictures)
    legend = [text.get_text() for text in spectra.axes[0].get_legend().get_texts()]
    assert legend == [label, "LeNet", "LogReg", label, "published, $s/\\sqrt{n}$"]
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
    section = nads.section(None)
    assert [picture.name for picture in section.pictures] == ["nad_gallery_mine"] and not section.findings


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
    monkeypatch.setattr(render, "IN_ORDER", (flip, fourier))
    lay_plan("fourier", {"eps": 1.5, "sigma": 3.0}, [{"step": 16}] * 2)
    lay_flip()
    results("fourier", [({"k_row": r, "k_col": c}, ["all"]) for r in (-16, 0) for c in (-16, 0)])
    lay(artifacts.FIGURES / "of_before.png", [])
    render.main()
    assert capsys.readouterr().out == "4 figures in reports/figures/\n"
    files = sorted(path.name for path in artifacts.FIGURES.iterdir())
    assert files == [
        f"{name}.{kind}"
        for name in ("flip_bars", "flip_components_a", "flip_components_z", "fourier_maps")
        for kind in ("png", "svg")
    ]
    text = (artifacts.REPORTS / "report.md").read_text(encoding="utf-8")
    assert text.startswith(
        "# Report of this run\n\nWritten by the stage `render`; every number comes from the tables beside it.\n"
        "**images of this run: Animals**\n\n## What was found\n"
    )
    assert text.endswith("\n![accuracy over frequencies](figures/fourier_maps.png)\n")
    # Beside another run it writes a page of its own, and nothing else.
    before = {path: path.read_bytes() for path in artifacts.REPORTS.rglob("*") if path.is_file()}
    shutil.copytree(artifacts.REPORTS, "theirs/reports")
    for name in ("flip", "fourier"):
        artifacts.write_json(f"theirs/reports/{name}/metrics.json", {"scale": "smoke"})
    assert render.parsed(["--beside", "theirs"]) == ["theirs"]
    render.main(["theirs"])
    assert capsys.readouterr().out == "reports/beside.html: this run beside theirs\n"
    page = (artifacts.REPORTS / "beside.html").read_text(encoding="utf-8")
    assert "Number by number, beside theirs (scale smoke)" in page and before.keys() < {*artifacts.REPORTS.rglob("*")}
    with pytest.raises(InputError, match="'them' is neither a folder nor a commit of this repository"):
        render.main(["them"])
    # What is wrong with another run is said before anything is drawn.
    Path("theirs/reports/fourier/summary.csv").unlink()
    with monkeypatch.context() as undrawn:
        undrawn.setattr(render.style, "save", None)
        undrawn.setattr(render.fourier, "section", None)
        with pytest.raises(InputError, match="fourier/summary.csv of theirs is missing"):
            render.main(["theirs"])
    # What cannot be rendered takes nothing away.
    (artifacts.REPORTS / "fourier" / "summary.csv").write_text("architecture\n")
    with pytest.raises(InputError, match="fourier/summary.csv"):
        render.main()
    assert all(path.read_bytes() == text for path, text in before.items() if path.name != "summary.csv")
    about = artifacts.about_images() | {"name": "CIFAR-10"}
    artifacts.write_json(artifacts.IMAGES / "about.json", about)
    monkeypatch.setattr(render, "IN_ORDER", ())
    render.main()
    assert "images of this run" not in (artifacts.REPORTS / "report.md").read_text(encoding="utf-8")
