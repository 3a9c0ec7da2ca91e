"""Names of classes, images and networks that are markup somewhere: figures and report.md show them as they are."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pipeline.report import flip, image_pairs, linear_pairs, poison, style
from pipeline.report.labels import label
from pipeline.report.page import Report, Section, Table, page

NAMES = (
    "$\\frac$",
    "a$b",
    "$$",
    "<script>x",
    "a|b",
    "_a_ *b*",
    "`x",
    "two\nlines",
    "שלום",
    "猫",
    "[a](b)",
    "x" * 300,
    "&lt;",
    "$v_1$ $x^",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_of_any_name_is_drawn(name, tmp_path, capsys):
    figure, axes = style.new(1, 2, 6, 3)
    for panel in axes[0]:
        panel.plot([0, 1], label=f"of {name}")
        panel.set(title=name, xlabel=name, ylabel=f"{name}\nNAD index of $v_1$")
        panel.legend(title=name)
        panel.set_xticks([0], [style.without_formulas(name)])
        panel.text(0, 0, style.without_formulas(name))
    linear_pairs.heat_map(axes[0, 1], *(pd.DataFrame([[value]]) for value in (1.0, "1", False)), (0, 1), cbar=False)
    style.save(style.finish(figure, name, f"{name} · {name}", name), tmp_path, "figure")
    with Image.open(tmp_path / "figure.png") as picture:
        assert picture.width == 960
    said = capsys.readouterr().err
    assert said.count("\n") == said.count("notice: figure figure: ")
    if name == "猫":
        assert "missing from font" in said


def test_formulas_of_the_figures_stay_and_no_others():
    own = "a $v_1$ b $\\sqrt{\\lambda}$ c $v$ $s/\\sqrt{n}$ $\\langle x, v \\rangle$ $k_c$ $v_1 \\oplus 0$ $0 \\oplus v_2$"
    assert style.without_formulas(own) == own
    assert style.without_formulas("$\\frac$ of $v_1$ and $5") == "\\$\\frac\\$ of $v_1$ and \\$5"
    assert style.without_formulas(style.without_formulas("a$b")) == "a\\$b"


def test_bars_and_examples_of_such_classes_are_drawn(tmp_path):
    rows = pd.DataFrame(
        [
            {
                "architecture": name,
                "seed": 0,
                "images": images,
                "test_set": "all",
                "accuracy": 0.5,
                "train_accuracy": 1.0,
            }
            for name in ("a", "b")
            for images in ("plain", "flipped")
        ]
    )
    labels = dict(zip("ab", NAMES))
    style.save(flip.bars(rows, labels, {}, 10.0, "caption", NAMES[0]), tmp_path, "bars")
    picture = np.zeros((3, 32, 32))
    pictures = [(picture, [picture])] * 2
    style.save(poison.examples(pictures, list(NAMES), [0], f"of {NAMES[0]}", None), tmp_path, "examples")
    assert image_pairs.named(NAMES[:2]) == "$\\frac$, a$b"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("$\\frac$", "\\$\\frac\\$"),
        ("a\\$b", "a\\\\\\$b"),
        ("<script>x", "&lt;script>x"),
        ("p < 0.001", "p < 0.001"),
        ("linear_pairs", "linear_pairs"),
        ("_a_ *b*", "\\_a\\_ \\*b\\*"),
        ("`x", "\\`x"),
        ("of `fourier`", "of `fourier`"),
        ("two\nlines\r\n# x", "two lines # x"),
        ("[a](b)", "\\[a\\](b)"),
        ("&lt; & b", "&amp;lt; & b"),
        ("猫 שלום", "猫 שלום"),
    ],
)
def test_report_md_shows_every_name_as_it_is(name, shown):
    table = Table(["network"], [[f"{name} | b"]])
    text = page(Report("t", [], "o", {"flip": Section(f"{name}", name, table, [], [name])}))
    assert f"| {shown} \\| b |\n" in text and f"- {shown}\n" in text and f"\n{shown}\n" in text


def test_a_label_is_seen_in_a_legend_and_fits_into_a_figure():
    assert label({"network": "mine:_Net", "k": "$x$"}) == "mine:_Net (k $x$)"
    assert len(label({"network": "mine:Net", "k": "x" * 500})) == 80
