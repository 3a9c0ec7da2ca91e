"""What the figure, the table and the sentences of `image_pairs` show."""

import dataclasses

import drawing
import pandas as pd
from small_run import SIGMAS, evaluated, plan, rows_of

from pipeline.report import image_pairs

TESTS = ("all", "images", "linear", "conflict")


def test_curves_are_drawn_over_the_index_of_v(section_of):
    panels = section_of("image_pairs").pictures[0].figure.axes
    titles = ["ResNet-18, width ×0.125, σ = 3.5", "LeNet, σ = 2"]
    assert [panel.get_title() for panel in panels] == titles
    # Of both seeds' eight test labels five are 1.
    assert [list(panel.lines[0].get_ydata()) for panel in panels] == [[62.5, 62.5]] * 2
    rows = rows_of([{"index": i} for i in (1, 64, 1000)], tests=TESTS, unfitted=8)
    one = evaluated(plan("image_pairs", SIGMAS, [{"indices": [1, 64, 1000]}] * 2), rows)
    panel = image_pairs.images_or_linear_channel(one, [], "caption").axes[0]
    curves = drawing.curves(panel)
    assert [*curves] == [*image_pairs.NAMES.values()]
    points, whiskers, *look = curves["images alone"]
    half = 0.1 * 2**0.5
    assert points == [[2, 50.5], [65, 52.1], [1001, 53.7]] and look == ["#d55e00", ":", "^"]
    assert whiskers == drawing.numbers([[x, y - half, y + half] for x, y in points])
    assert drawing.hollow(panel)[0] == [[2, 50.1]]
    assert [text for _, text in drawing.ticks(panel.xaxis)] == ["1", "64", "1000"]


def test_sentences_say_what_is_used_where(whole):
    rows = [
        {"seed": 0, "index": index, "test_set": test, "accuracy": value, "train_accuracy": trained}
        for index, part, trained in ((1, 0.4, 1.0), (2, 0.9, 1.0), (3, 0.4, 1.0), (4, 0.5, 0.9))
        for test, value in (("all", 0.9), ("linear", part), ("images", 0.6), ("conflict", 0.7))
    ]
    results = pd.DataFrame(rows).assign(architecture="a")
    run = dataclasses.replace(whole.experiments["image_pairs"], results=results)
    assert image_pairs.used(run, "a") == (
        "image_pairs, LeNet (3 of 4 networks fitted): the linear channel alone gives more than the "
        "images alone at index 2 and the images alone give more than the linear channel alone at "
        "indices 1, 3: 40.0 against 60.0 % at 1 (n = 1), 40.0 against 60.0 % at 3 (n = 1); where "
        "the two disagree, the linear channel's label wins in 70.0 % at 1, 70.0 % at 3; at index 4 "
        "no network was fitted."
    )
