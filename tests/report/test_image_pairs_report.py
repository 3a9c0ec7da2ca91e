"""What the figure, the table and the sentences of `image_pairs` show."""

import drawing
import pandas as pd
from small_run import LABELS, NOT_FITTED, SIZES, SPREAD, captions, evaluated, plan, rows_of

from pipeline.report import image_pairs

TESTS = ("all", "images", "linear", "conflict")
SETTINGS = {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}


def test_the_section(sections):
    section = sections["image_pairs"]
    run = SIZES.format("700") + " · ε = 1.25 · images: Animals" + SPREAD
    sides = "one side: ape, bee · the other: cat, dog, eel"
    end = "NAD indices begin at 0, which for paper 2 is a choice"
    assert section.caption == f"{run} · {sides} · {end}"
    ((name, text, below),) = captions(section)
    assert (name, text) == ("images_or_linear_channel", "images or linear channel")
    assert below == f"{run} {sides} hollow: 1 of 2 points of each curve, {NOT_FITTED}"
    narrow = ["50.1 ± 0.1", "50.9 ± 0.1", "50.5 ± 0.1", "51.3 ± 0.1", "98.0 (0 of 2)"]
    lenet = ["51.7 ± 0.1", "52.5 ± 0.1", "52.1 ± 0.1", "52.9 ± 0.1", "100.0 (2 of 2)"]
    assert section.table.rows == [[LABELS["z"], 1, *narrow], ["LeNet", 1, *lenet]]
    assert section.findings == [
        "image_pairs, ResNet-18, width ×0.125 (0 of 2 networks fitted): nothing is said of what it "
        "uses, since training accuracies are below 99 %.",
        "image_pairs, LeNet (2 of 2 networks fitted): the linear channel alone gives more than the "
        "images alone at index 1: 52.5 ± 0.1 against 52.1 ± 0.1 % at 1 (n = 2); where the two "
        "disagree, the linear channel's label wins in 52.9 ± 0.1 % at 1.",
    ]
    panels = section.pictures[0].figure.axes
    titles = ["ResNet-18, width ×0.125, σ = 3.5", "LeNet, σ = 2"]
    assert [panel.get_title() for panel in panels] == titles
    # Of both seeds' eight test labels five are 1.
    assert [list(panel.lines[0].get_ydata()) for panel in panels] == [[62.5, 62.5]] * 2


def test_curves_are_drawn_over_the_index_of_v():
    rows = rows_of([{"index": i} for i in (1, 64, 1000)], tests=TESTS, unfitted=8)
    one = evaluated(plan("image_pairs", SETTINGS, [{"indices": [1, 64, 1000]}] * 2), rows)
    figure = image_pairs.images_or_linear_channel(one, 60.0, "caption")
    curves = drawing.curves(figure.axes[0])
    assert [*curves] == [*image_pairs.NAMES.values()]
    points, whiskers, *look = curves["images alone"]
    half = 0.1 * 2**0.5
    assert points == [[2, 50.5], [65, 52.1], [1001, 53.7]] and look == ["#d55e00", ":", "^"]
    assert whiskers == drawing.numbers([[x, y - half, y + half] for x, y in points])
    assert drawing.hollow(figure.axes[0])[0] == [[2, 50.1]]
    assert [text for _, text in drawing.ticks(figure.axes[0].xaxis)] == ["1", "64", "1000"]


def test_sentences_say_what_is_used_where():
    rows = [
        {"seed": 0, "index": index, "test_set": test, "accuracy": value, "train_accuracy": trained}
        for index, part, trained in ((1, 0.4, 1.0), (2, 0.9, 1.0), (3, 0.4, 1.0), (4, 0.5, 0.9))
        for test, value in (("all", 0.9), ("linear", part), ("images", 0.6), ("conflict", 0.7))
    ]
    assert image_pairs.used(pd.DataFrame(rows), "Net") == (
        "image_pairs, Net (3 of 4 networks fitted): the linear channel alone gives more than the "
        "images alone at index 2 and the images alone give more than the linear channel alone at "
        "indices 1, 3: 40.0 against 60.0 % at 1 (n = 1), 40.0 against 60.0 % at 3 (n = 1); where "
        "the two disagree, the linear channel's label wins in 70.0 % at 1, 70.0 % at 3; at index 4 "
        "no network was fitted."
    )
