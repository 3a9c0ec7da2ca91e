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
    ("first", "second", "channels"),
    [
        (0.9, 0.7, "both"),
        (0.9, 0.6, "the first"),
        (0.5, 0.7, "the second"),
        (0.6, 0.5, "neither"),
    ],
)
def test_the_finding_names_the_used_channels_if_v2_is_the_lower_nad(
    whole, first, second, channels
):
    accuracies = {"all": 0.9, "first": first, "second": second}
    rows = small_run.make_results(PAIRS, tests=linear_pairs.PANELS)
    rows["accuracy"] = 0.55
    pair = (rows["index_1"] == 9) & (rows["index_2"] == 1)
    rows.loc[pair, "accuracy"] = rows["test_set"].map(accuracies)
    run = small_run.change_results(whole, "linear_pairs", rows)
    assert linear_pairs.make_finding(run).text == (
        f"{LABEL} uses {channels} of NADs 9 and 1: {100 * first:.1f} % with only the "
        f"first, {100 * second:.1f} % with only the second"
    )


def test_accuracies_are_above_the_published_ones(axes):
    both, _, second, published_both, _, published_second, _ = axes(
        "linear_accuracies_z"
    )
    (mesh,) = both.collections
    np.testing.assert_allclose(mesh.get_array(), [[56.1, 57.3], [58.5, 59.7]])
    assert mesh.get_clim() == (50, 100)
    assert drawing.texts(both)[1.5, 0.5] == "57.3\n±0.1"
    # No network was fitted at the first pair.
    assert drawing.unfitted(both) == {(0, 0)}
    assert drawing.unfitted(second) == {(0, 0)}
    # The first pair is the only one of the four that is published.
    assert published_both.get_title() == "published, ResNet-18\n(paper 2, fig. 2a)"
    assert drawing.texts(published_both) == {(0.5, 0.5): "99.7"}
    assert drawing.texts(published_second) == {(0.5, 0.5): "80.4"}
    assert not drawing.unfitted(published_both)


def test_fitted_networks_have_no_dots(axes):
    for panel in axes("linear_accuracies_a"):
        assert not drawing.unfitted(panel)


def test_a_network_at_chance_has_learned_nothing(whole):
    """The fitted LeNets of the first pair have a test accuracy of 54 %."""
    rows = whole.experiments["linear_pairs"].results.copy()
    pair = (rows["index_1"] == 1) & (rows["index_2"] == 1)
    rows.loc[pair & (rows["architecture"] == "a"), "accuracy"] = 0.54
    run = small_run.change_results(whole, "linear_pairs", rows)
    section = linear_pairs.make_section(run)
    tilts = [row["tilt"] for row in section.rows if row["network"] == "LeNet"]
    assert tilts[:2] == ["not learned", "47.4 ± 0.7°"]
    figures = {picture.name: picture.figure for picture in section.pictures}
    assert figures["linear_boundaries_a"].axes[0].get_title() == "not learned"
    tilt = "fitted, have a boundary and have a test accuracy above 55 %"
    assert tilt in small_run.list_captions(section)["linear_boundaries_a"]


def test_the_first_direction_is_horizontal_in_a_plane(whole):
    record = whole.experiments["linear_pairs"]
    rising = np.tile(np.linspace(0, 1, POINTS), (POINTS, 1))
    planes = record.select_results("a", test_set="all").assign(tilt=10.0)
    planes["probability"] = len(planes) * [rising]
    figure = linear_pairs.draw_boundaries(record, planes, "LeNet", "caption")
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), rising)
    both = {"z": planes, "a": planes}
    _, lenet = linear_pairs.make_explorer(record, {}, both)
    plane = np.frombuffer(base64.b64decode(lenet["cells"]["1,1"]["plane"]), np.uint8)
    np.testing.assert_allclose(plane.reshape(POINTS, POINTS) / 255, rising, atol=0.002)


def test_dots_are_where_the_numbers_are():
    means = pd.DataFrame([[60.0, 70.0], [80.0, 90.0]])
    _, ((panel,),) = style.new_figure(1, 1, 3, 3)
    style.draw_heat_map(panel, means, np.nan * means, means == 70)
    assert drawing.texts(panel)[1.5, 0.5] == "70.0"
    assert drawing.unfitted(panel) == {(1, 0)}
