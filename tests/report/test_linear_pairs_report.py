"""What the figures, the table and the finding of `linear_pairs` show."""

import base64

import drawing
import numpy as np
import pandas as pd
import pytest
import small_run
from small_run import LABELS, PAIRS

from pipeline.measures.boundaries import POINTS
from pipeline.report import linear_pairs, style

LABEL = LABELS["z"]


@pytest.fixture
def section(section_of):
    return section_of("linear_pairs")


@pytest.fixture
def axes(section):
    """A function from a picture's name to its panels."""
    figures = {picture.name: picture.figure for picture in section.pictures}
    return lambda name: figures[name].axes


@pytest.mark.parametrize(
    ("first", "second", "which"),
    [
        (0.9, 0.7, "both"),
        (0.9, 0.6, "the first"),
        (0.5, 0.7, "the second"),
        (0.6, 0.5, "neither"),
    ],
)
def test_the_finding_says_which_channel_is_used_where_the_second_has_the_earlier_nad(
    whole, first, second, which
):
    rows = small_run.make_results(PAIRS, tests=linear_pairs.PANELS)
    there = (rows["index_1"] == 9) & (rows["index_2"] == 1)
    accuracies = rows["test_set"].map({"all": 0.9, "first": first, "second": second})
    rows["accuracy"] = accuracies.where(there, 0.55)
    text = linear_pairs.make_finding(
        small_run.change_results(whole, "linear_pairs", rows)
    ).text
    alone = f"{100 * first:.1f} % and {100 * second:.1f} %"
    assert text == f"{LABEL} uses {which} of NADs 9 and 1: alone they give {alone}"


def test_accuracies_stand_over_the_published_ones(axes):
    first, _, second, *below = axes("linear_accuracies_z")
    assert below[0].get_title() == "published, ResNet-18\n(paper 2, fig. 2a)"
    (shown,) = first.collections
    np.testing.assert_allclose(
        shown.get_array(), [[56.1, 57.3], [58.5, 59.7]], atol=1e-9
    )
    assert drawing.texts(first)[1.5, 0.5] == "57\n±0.1" and shown.get_clim() == (
        50,
        100,
    )
    # At the first pair no network was fitted; of the four it is the one that is
    # published.
    assert drawing.hatched(first) == {(0, 0)} and drawing.hatched(second) == {(0, 0)}
    for panel, value in ((below[0], "100"), (below[2], "80")):
        assert drawing.texts(panel) == {(0.5, 0.5): value} and not drawing.hatched(
            panel
        )
    assert not any(map(drawing.hatched, axes("linear_accuracies_a")))


def test_a_network_that_guesses_is_said_to_have_learned_nothing(whole):
    """The fitted networks of LeNet's first pair are right on half of the new samples."""
    rows = whole.experiments["linear_pairs"].results.copy()
    pair = (
        (rows["architecture"] == "a") & (rows["index_1"] == 1) & (rows["index_2"] == 1)
    )
    rows.loc[pair, "accuracy"] = 0.54
    section = linear_pairs.make_section(
        small_run.change_results(whole, "linear_pairs", rows)
    )
    assert [row[6] for row in section.table[5:7]] == ["not learned", "47.4 ± 0.7°"]
    figures = {picture.name: picture.figure for picture in section.pictures}
    assert figures["linear_boundaries_a"].axes[0].get_title() == "not learned"
    tilt = "fitted, have a boundary and are right on more than 55 % of new samples"
    assert tilt in small_run.list_captions(section)["linear_boundaries_a"]


def test_the_first_direction_runs_across_a_plane(whole):
    run = whole.experiments["linear_pairs"]
    rising = np.tile(np.linspace(0, 1, POINTS), (POINTS, 1))
    planes = run.select_results("a")[
        run.select_results("a")["test_set"] == "all"
    ].assign(tilt=10.0)
    planes["probability"] = [rising] * len(planes)
    panel = linear_pairs.draw_boundaries(run, planes, "LeNet", "caption").axes[0]
    np.testing.assert_allclose(panel.images[0].get_array(), rising)
    _, lenet = linear_pairs.make_explorer(run, {}, {"z": planes, "a": planes})
    plane = np.frombuffer(base64.b64decode(lenet["cells"]["1,1"]["plane"]), np.uint8)
    np.testing.assert_allclose(plane.reshape(POINTS, POINTS) / 255, rising, atol=0.002)


def test_hatches_stand_where_the_numbers_do():
    means = pd.DataFrame([[60.0, 70.0], [80.0, 90.0]])
    _, ((panel,),) = style.new_figure(1, 1, 3, 3)
    style.draw_heat_map(panel, means, np.nan * means, means == 70)
    assert drawing.texts(panel)[1.5, 0.5] == "70" and drawing.hatched(panel) == {(1, 0)}
