"""The report as a page, what its figures call an architecture, and what figures share."""

import drawing
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pipeline.grid.experiment import Member
from pipeline.networks import NETWORKS
from pipeline.report import style
from pipeline.report.evaluated import described
from pipeline.report.labels import LABELS, label, of_full_width, of_the_papers
from pipeline.report.page import Picture, Report, Section, Table, again, page, percent
from pipeline.training import Training

PAGE = """\
# The title

one line
**another**

## Where it comes from

Code of a commit. `index.html` beside this page shows the same for looking around, in any browser and without a network.

## First

how it was run

Made again by `dvc repro estimate render`.

| a | b |
| --- | --- |
| 1 | 2 ± 3 |
| x < y | – |

![a picture](figures/one.png)

![another & more](figures/two.png)

## Second

caption

Made again by `dvc repro evaluate@flip render`.

| c |
| --- |
"""


def test_a_page_is_sections_of_a_caption_a_table_and_pictures():
    pictures = [Picture("one", Figure(), "a picture"), Picture("two", Figure(), "another & more")]
    first = Section("First", "how it was run", Table(["a", "b"], [[1, "2 ± 3"], ["x < y", "–"]]), pictures)
    second = Section("Second", "caption", Table(["c"], []), [])
    report = Report("The title", ["one line", "**another**"], "Code of a commit.", {"nads": first, "flip": second})
    assert page(report) == PAGE


def test_every_part_has_a_command_that_makes_it_again():
    assert again("nads") == "dvc repro estimate render" and again("poison") == "dvc repro evaluate@poison render"


FOUND = """\
# The title

one line

## What was found

Behind ± stands the standard deviation over seeds, unless another error is named. Fitted is a network whose training accuracy was at least
99 % with every seed; what others do says nothing about what a network prefers.

- LeNet 52.0 ± 3.4 % & more.
- Another: p < 0.001.
- Of the third.

## Where it comes from

Code of a commit. `index.html` """


def test_a_page_opens_with_what_its_sections_found():
    table = Table(["a"], [])
    first = Section("First", "how it was run", table, [], ["LeNet 52.0 ± 3.4 % & more.", "Another: p < 0.001."])
    second, third = Section("Second", "caption", table, []), Section("Third", "caption", table, [], ("Of the third.",))
    sections = {"nads": first, "fourier": second, "flip": third}
    text = page(Report("The title", ["one line"], "Code of a commit.", sections))
    assert text.startswith(FOUND) and text.count("What was found") == 1


@pytest.mark.parametrize(
    ("mean", "deviation", "text"), [(0.8725, 0.0149, "87.2 ± 1.5"), (0.8725, 0.0, "87.2 ± 0.0"), (0.5, np.nan, "50.0")]
)
def test_accuracies_are_per_cent_with_their_spread(mean, deviation, text):
    assert percent(mean, deviation) == text


@pytest.mark.parametrize(
    ("network", "arguments", "text"),
    [
        ("logreg", {}, "LogReg"),
        ("mlp", {"hidden": [100, 20]}, "MLP (100, 20)"),
        ("lenet", {"downsampling": "pool", "side": 32}, "LeNet"),
        ("lenet", {"downsampling": "none"}, "LeNet, no pooling"),
        ("lenet", {"downsampling": "stride", "side": 64}, "LeNet, stride for pooling, 64×64"),
        ("vgg11", {"width": 0.125, "side": 224}, "VGG-11, width ×0.125, 224×224"),
        ("resnet18", {"width": 0.125, "input": (64, 48)}, "ResNet-18, width ×0.125, 64×48"),
        ("lenet", {"side": 64, "input": (64, 64)}, "LeNet, 64×64"),
        ("resnet18", {"width": 1, "skip": True, "downsampling": "stride"}, "ResNet-18"),
        ("resnet18", {"width": 2.0, "skip": False}, "ResNet-18, width ×2, no skip connections"),
        ("resnet18", {"downsampling": "none"}, "ResNet-18, no pooling"),
        ("densenet121", {"growth": 32}, "DenseNet-121"),
        ("densenet121", {"growth": 4}, "DenseNet-121, growth 4"),
    ],
)
def test_own_networks_are_called_by_what_differs_from_the_papers(network, arguments, text):
    assert label({"network": NETWORKS[network], **arguments}) == text


def test_nothing_is_published_of_other_inputs():
    how = Training(1, 0.1, 0.9, 0.0)
    found = {
        name: described(Member({"network": NETWORKS["resnet18"]}, how, None, input=pixels))
        for name, pixels in (("own", (64, 64)), ("papers", (32, 32)))
    }
    assert of_the_papers(found, {"resnet18": 1.0}) == {"papers": 1.0}


def test_other_networks_are_called_by_their_name_and_all_arguments():
    assert label({"network": "my.package:tiny", "filters": 3, "width": 1}) == "tiny (filters 3, width 1)"
    assert label({"network": "torchvision.models:alexnet"}) == "alexnet"
    assert label({"network": "my_networks:Mixer", "depth": 4, "input": (64, 48)}) == "Mixer (depth 4, 64×48)"
    assert set(LABELS) == set(NETWORKS.values()) and len(set(LABELS.values())) == len(LABELS)


def test_published_values_belong_to_networks_as_the_papers_have_them():
    specifications = {
        "mine": {"network": NETWORKS["lenet"]},
        "lenet": {"network": NETWORKS["lenet"], "downsampling": "none"},
        "resnet18": {"network": "my.package:ResNet18"},
        "logreg": {"network": NETWORKS["logreg"]},
    }
    assert of_the_papers(specifications, {"resnet18": 1, "lenet": 2}) == {"mine": 2}


def test_a_network_without_pooling_has_published_values_of_its_own():
    specifications = {
        "pooled": {"network": NETWORKS["lenet"]},
        "unpooled": {"network": NETWORKS["lenet"], "downsampling": "none"},
        "strided": {"network": NETWORKS["lenet"], "downsampling": "stride"},
    }
    assert of_the_papers(specifications, {"lenet": 3}, downsampling="none") == {"unpooled": 3}


def test_a_narrower_network_stands_beside_the_published_one_of_full_width():
    specifications = {
        "full": {"network": NETWORKS["resnet18"]},
        "narrow": {"network": NETWORKS["resnet18"], "width": 0.125},
        "sparse": {"network": NETWORKS["densenet121"], "growth": 4},
        "other": {"network": NETWORKS["resnet18"], "width": 0.125, "skip": False},
        "mine": {"network": "my.package:ResNet18", "width": 0.125},
    }
    assert of_full_width(specifications, {"resnet18": 1, "densenet121": 2}) == {"narrow": 1, "sparse": 2}


def test_hollow_points_are_drawn_over_a_curves_own():
    figure, ((panel,),) = style.new(1, 1, 3, 2)
    curve = panel.errorbar([1, 2, 3], [4, 5, 6], color="#0072B2", marker="s", markersize=3, label="ours")
    style.hollow(panel, curve, [False, False, False])
    assert len(panel.lines) == 1
    style.hollow(panel, curve, pd.Series([True, False, True], index=[7, 8, 9]))
    line = panel.lines[-1]
    assert drawing.points(line) == [[1, 4], [3, 6]] and line.get_zorder() > curve[0].get_zorder()
    assert (line.get_marker(), line.get_markersize(), line.get_linestyle()) == ("s", 3, "None")
    assert (line.get_markerfacecolor(), line.get_markeredgecolor()) == ("white", "#0072B2")


def test_means_over_seeds_have_a_spread_where_there_are_several():
    rows = pd.DataFrame({"index": [3, 3, 1, 1], "accuracy": [0.2, 0.6, 0.5, 0.7], "loss": [1.0, 3.0, 5.0, 7.0]})
    mean, spread = style.by_index(rows, "accuracy")
    assert mean.to_dict() == pytest.approx({1: 0.6, 3: 0.4})
    assert spread.to_dict() == pytest.approx({1: 0.1 * 2**0.5, 3: 0.2 * 2**0.5})
    mean, spread = style.by_index(rows.iloc[[0, 2]], "loss")
    assert mean.to_dict() == {1: 5, 3: 1} and spread is None


def test_the_index_axis_names_indices_of_which_the_first_is_0():
    figure, ((panel,),) = style.new(1, 1, 3, 2)
    style.index_axis(panel)
    assert panel.get_xscale() == "log"
    assert drawing.ticks(panel.xaxis) == [(1, "0"), (11, "10"), (101, "100"), (1001, "1000")]
    assert not len(panel.get_xticks(minor=True)) and figure.get_size_inches().tolist() == [3, 2]


def test_a_notice_stands_under_the_title_where_there_is_one():
    title, caption = "A title", "A caption"
    with_notice, without = (style.finish(style.blank(2, 2), title, caption, notice) for notice in ("digits", None))
    assert with_notice._suptitle.get_text() == "A title\ndigits" and without._suptitle.get_text() == "A title"
    assert with_notice._supxlabel.get_text() == "A caption"


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("one · two", ["one · two"]),
        ("one two · three four · five", ["one two ·", "three four ·", "five"]),
        ("one · two · three · four", ["one · two ·", "three · four"]),
        ("one two thre · four", ["one two thre ·", "four"]),
        ("a part of many words · two", ["a part of", "many words ·", "two"]),
        ("", [""]),
    ],
)
def test_a_caption_is_broken_between_its_parts(line, lines):
    assert style.filled(line, 12).splitlines() == [text for text in lines if text]


def test_a_captions_lines_are_as_long_as_the_figure_is_wide():
    figure = style.finish(style.blank(2, 2), "A title", "alpha · " * 12 + "omega\nlast")
    *lines, last = figure._supxlabel.get_text().splitlines()
    assert last == "last" and len(lines) > 1 and all(20 < len(text) <= 34 for text in lines[:-1])


def test_colours_and_lines_tell_networks_apart():
    assert len(set(style.SPECTRA)) == len({colour for colour, _ in style.SPECTRA}) == 8


def test_a_figure_is_saved_as_pictures_without_a_date_or_a_program(tmp_path):
    figure, ((panel,),) = style.new(1, 1, 2, 1.5)
    assert isinstance(figure.canvas, FigureCanvasAgg)
    before = panel.get_position().get_points()
    style.save(style.finish(figure, "title", "caption"), tmp_path, "name")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["name.png", "name.svg"]
    # The layout was solved, and the panel stands where it is to six digits.
    place = panel.get_position().get_points()
    assert (np.abs(place - before) > 1e-3).any() and (place == place.round(6)).all()
    png, svg = (tmp_path / "name.png").read_bytes(), (tmp_path / "name.svg").read_text()
    assert png.startswith(b"\x89PNG") and b"Software" not in png
    assert int.from_bytes(png[16:20], "big") == 320 and int.from_bytes(png[20:24], "big") == 240
    assert "<dc:date>" not in svg and "<dc:title>Matplotlib" not in svg and "<text" not in svg
