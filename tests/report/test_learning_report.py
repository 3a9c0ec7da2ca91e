"""What the figure, the table and the sentences of `learning` show."""

import drawing
import pandas as pd
import pytest
import small_run
from small_run import LABELS, NOT_FITTED, SIZES, SPREAD

from pipeline.project import artifacts
from pipeline.report import learning, style

HALF = 0.1 * 0.5**0.5


def test_the_section(whole, unbroken):
    section = learning.section(whole)
    sigmas = "σ = 3.5 (ResNet-18, width ×0.125), 2 (LeNet)"
    caption = f"{SIZES.format('700')} · ε = 1.25, {sigmas} · images: Animals, in grey, the two "
    caption += f"halves of their classes told apart{SPREAD}"
    assert section.caption == caption
    lines = "response: tr C of the input gradient over test samples · grey: of random directions"
    marked = f"{caption} {lines} hollow: 2 of 4 courses, {NOT_FITTED}"
    alone = ("learning_courses", "the response in the course of training", marked)
    assert small_run.captions(section) == [alone]
    linear = ["1.6 ± 0.1", "3.6 ± 0.1", "–", "–", "2.6 ± 0.1", "6.6 ± 0.1"]
    images = ["–", "–", "4.6 ± 0.1", "4.6 ± 0.1", "2.6 ± 0.1", "2.6 ± 0.1"]
    assert [row[:-1] for row in section.table.rows] == [
        [LABELS["z"], "D(v), v: NAD 10", *linear, "50.1 ± 0.1"],
        [LABELS["z"], "images", *images, "50.5 ± 0.1"],
        ["LeNet", "D(v), v: NAD 10", *linear, "50.9 ± 0.1"],
        ["LeNet", "images", *images, "51.3 ± 0.1"],
    ]
    fitted = ["98.0 (0 of 2)"] * 2 + ["100.0 (2 of 2)"] * 2
    assert [row[-1] for row in section.table.rows] == fitted
    assert section.findings[1] == (
        "The response of LeNet turns, trained on D(v), v: NAD 10, from 1.6 ± 0.1 to 3.6 ± 0.1 % "
        "along v and from 2.6 ± 0.1 to 6.6 ± 0.1 % of the rest in the first 10 NADs; trained on "
        "images, from 4.6 ± 0.1 to 4.6 ± 0.1 % in the images' first components and from 2.6 ± 0.1 "
        "to 2.6 ± 0.1 % in the first 10 NADs (2 seeds)."
    )


def test_courses_stand_over_the_epochs_beside_what_random_directions_have(whole):
    run = whole.experiments["learning"]
    course = pd.read_csv(artifacts.REPORTS / "learning" / "course.csv")
    axes = learning.courses(run, course, "").axes
    (linear, _), (images, _), (both, last) = (axes[place : place + 2] for place in (0, 2, 4))
    ((points, whiskers, colour, *_),) = drawing.curves(linear).values()
    assert points == drawing.numbers([[0, 1.56], [1, 2.57], [2, 3.58]]) and colour == style.BLACK
    assert whiskers[0] == pytest.approx([0, 1.56 - HALF, 1.56 + HALF])
    assert drawing.hollow(linear)[-1] == points, "no network of `z` was fitted"
    assert not drawing.hollow(last)
    assert len(drawing.curves(images)) == 1 and len(drawing.curves(both)) == 2
    chance = [panel.lines[0].get_ydata()[0] for panel in (linear, images, both)]
    assert chance == pytest.approx([100 / 1024, 1000 / 1024, 1000 / 1024])
    assert drawing.ticks(last.xaxis) == [(0, "0"), (1, "1"), (2, "2")]
    names = [text.get_text() for text in last.get_legend().get_texts()]
    assert names == ["D(v), v: NAD 10", "images"]
