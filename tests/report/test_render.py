"""The stage `render` on the small run: report.md, index.html and the folders of tables."""

import base64
import dataclasses
import io
import json
import re
import shutil
import types
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import small_run
from PIL import Image
from structure import ROOT

from pipeline import experiments, render
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import page as module
from pipeline.report import run, style
from pipeline.report.metrics import collect_metrics
from pipeline.report.page import page
from pipeline.report.site import data as site_data
from pipeline.report.site import document

NUMBERS = Path(__file__).with_name("small_run.txt")
"""The findings, captions and tables of the small run's report. Each row of its results
is 0.2 points above the one before, which gives all means, deviations and distances."""


@pytest.fixture(scope="module")
def html(rendered):
    return (rendered / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def every(section_of):
    return {name: section_of(name) for name in render.PARTS}


def test_the_report_says_what_the_tables_say(every):
    assert set(every) == {"nads", *experiments.names()}
    lines = re.findall(r"^(?:## |- |\||scale ).*\n", page(every, None), re.M)
    assert "".join(lines) == NUMBERS.read_text(encoding="utf-8")
    assert max(len(str(section.finding)) for section in every.values()) <= 150


def test_the_committed_metrics_are_of_the_committed_tables():
    records = run.read_folder(ROOT / "reports", list(render.PARTS))
    committed = json.loads((ROOT / "reports/metrics.json").read_text(encoding="utf-8"))
    found = collect_metrics(run.Report(None, {}, records))
    assert found | {"nads": committed["nads"]} == committed
    assert set(committed) == {"nads", *records}


@pytest.mark.slow
def test_the_report_has_every_section_and_the_page_every_chapter(rendered, html, every):
    report = (rendered / "report.md").read_text(encoding="utf-8")
    assert report == page(every, None)
    assert all(
        (rendered / file).exists() for file in re.findall(r"\((figures/.*?)\)", report)
    )
    text = unescape(html)
    assert re.findall(r'<section id="(\w+)"', text) == [*document.CHAPTERS]
    assert "default-src 'none'" in text and not re.findall(
        r'(?:src|href)="(?!data:|#)', text
    )
    live = re.findall(r'class="live" id="live-(\w+)"', text)
    assert live == ["problem", "fourier", "nads", "sweep", "photographs", "pairs"]
    for name, section in every.items():
        again = "estimate" if name == "nads" else f"evaluate@{name}"
        assert f"<code>dvc repro {again} render</code>" in text
        assert all(
            f"<td>{cell}</td>" in text for row in section.table[1:] for cell in row
        )


@pytest.mark.slow
def test_without_scripts_every_live_figure_has_one_that_stands_still(html):
    for part in re.findall(r'class="live" id="live-\w+".*?</noscript>', html, re.S):
        assert part.count("<noscript>") == 1 and '<img src="data:image/webp' in part


@pytest.mark.slow
def test_the_data_say_what_the_tables_say(html):
    data = json.loads(re.search('id="data">(.*?)</script>', html, re.S)[1])
    lenet, narrow = data["nads"].values()
    assert narrow["file"] == "mine.npy" and "eigenvalues" not in narrow
    assert lenet["eigenvalues"][:2] == [4, 2] and lenet["nearby"][0] == [0, 1]
    maps = data["fourier"]
    # The finding is about the narrow ResNet-18.
    assert [*maps] == [
        "ResNet-18 ⅛",
        "LeNet",
        "LeNet, published",
        "ResNet-18, published",
    ]
    assert maps["LeNet"]["cells"]["0,0"] == [0.529, 0.001414, 2, 2]
    twice = [maps["LeNet"]["cells"][key] for key in ("16,0", "-16,0")]
    assert twice == [[0.521, 0.001414, 2, 2]] * 2
    assert "16,0" not in maps["LeNet"]["steps"], "some seed did not learn it"
    assert maps["LeNet, published"]["cells"]["0,4"] == [0.80225]
    assert maps["ResNet-18 ⅛"]["sides"] == [32, 32]
    assert [*data["pairs"]] == ["ResNet-18 ⅛", "LeNet", "ResNet-18, published"]
    assert len(data["colours"]) == 64


@pytest.mark.slow
def test_what_cannot_be_rendered_leaves_the_last_report(
    rendered, tmp_path, monkeypatch
):
    shutil.copytree(rendered.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (artifacts.REPORTS / "learning" / "course.csv").unlink()

    def files():
        return {
            path: path.read_bytes()
            for path in artifacts.REPORTS.rglob("*")
            if path.is_file()
        }

    before = files()
    with pytest.raises(
        InputError, match=r"course.csv is missing; `python -m pipeline.evaluate"
    ):
        render.main()
    assert files() == before


@pytest.mark.slow
def test_one_seed_other_images_and_a_network_of_ones_own_are_drawn(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(small_run, "SEEDS", (5,))
    monkeypatch.setattr(small_run, "NARROW", {"network": "mine:Net", "filters": 3})
    monkeypatch.setattr(small_run, "ABOUT", small_run.ABOUT | {"name": "Animals"})
    small_run.write_run()
    titles = []
    save = style.save

    def note(figure, *where):
        return titles.append(figure._suptitle.get_text()) or save(figure, *where)

    monkeypatch.setattr(style, "save", note)
    render.main()
    assert len(list((artifacts.REPORTS / "figures").iterdir())) == len(titles) == 16
    notice = "images of this run: Animals"
    assert all(title.endswith(f"\n{notice}") for title in titles)
    html = (artifacts.REPORTS / "index.html").read_text(encoding="utf-8")
    assert f'<p class="notice">{notice.capitalize()[:10]}' in html
    text = (artifacts.REPORTS / "report.md").read_text(encoding="utf-8")
    assert f"\n\n**{notice}**\n\n## What was found\n" in text
    assert "Net (filters 3)" in text
    assert (
        "50.0 % of new samples along NAD 0 and on 50.2 % along NAD 10 (1 seed, 1 of 2"
        in text
    )


def unfolded(tile):
    """What `folded` was made of."""
    last = tile.shape[-1] - 1
    both = [
        (tile[..., min(n, last - n)], tile[..., max(n, last - n)])
        for n in range(last + 1)
    ]
    return np.stack(
        [even + np.sign(last - 2 * n) * odd for n, (even, odd) in enumerate(both)], -1
    )


@pytest.mark.parametrize("shape", [(1, 6, 8), (3, 4, 5), (2, 5, 4)])
def test_directions_are_tiles_of_a_sprite(shape):
    directions = np.random.default_rng(0).normal(size=(10, int(np.prod(shape))))
    source, columns = site_data.make_sprite(directions, shape)
    file = io.BytesIO(base64.b64decode(source.partition(";base64,")[2]))
    sheet = np.asarray(Image.open(file))[..., 0].astype(float)
    height = shape[0] * shape[1]
    assert columns == 4 and sheet.shape == (3 * height, 4 * shape[2])
    for place, nad in enumerate(directions):
        top = place // columns * height
        left = place % columns * shape[2]
        tile = (
            sheet[top : top + height, left : left + shape[2]].reshape(shape)
            - site_data.ZERO
        )
        found = unfolded(unfolded(tile).swapaxes(1, 2)).swapaxes(1, 2) / (
            2 * site_data.LEVELS
        )
        expected = nad.reshape(shape) / np.abs(nad).max()
        assert np.abs(found - expected).max() <= 2 / site_data.LEVELS + 1e-9
    assert sheet[-1, -1] == site_data.ZERO, "an empty tile is grey"


def test_json_has_no_number_that_is_none():
    value = {1: [np.nan, np.float32(0.5), (np.inf, True)], "a": np.arange(2), "b": None}
    expected = {"1": [None, 0.5, [None, True]], "a": [0, 1], "b": None}
    assert json.loads(site_data.script_json(value)) == expected


@pytest.mark.slow
def test_a_chapter_without_runs_leaves_the_page(tmp_path):
    runs = {name: [] for name in render.PARTS}
    text = document.document(runs, "smoke", None, tmp_path)
    assert re.findall(r'<section id="(\w+)"', text) == ["problem"]


@pytest.mark.parametrize(
    ("network", "opening"), [("b", "LeNet, no pooling"), ("a", "LeNet")]
)
def test_an_explorer_opens_on_the_network_of_the_finding(network, opening):
    labels = {"a": "LeNet", "b": "LeNet, no pooling"}
    record = types.SimpleNamespace(labels=labels)
    explorer = [{"name": name} for name in ("VGG-11", "LeNet, no pooling", "LeNet")]
    section = module.Section(
        record, "", [], [], module.Finding(network, "", ""), explorer
    )
    networks = [one["name"] for one in document.sort_networks([section])]
    assert networks[0] == opening
    assert networks[-1] == "VGG-11"


@pytest.mark.parametrize(("names", "chosen"), [("ab", "b"), ("ba", "b"), ("aa", "a")])
def test_a_picker_offers_a_network_once_with_the_most_cells(names, chosen):
    cells = {"a": {"1": [0.5]}, "b": {"1": [0.5], "2": [0.6]}}
    found = document.list_choices(
        {"name": "Net, width ×0.25", "cells": cells[name]} for name in names
    )
    assert found == {"Net ¼": {"name": "Net ¼", "cells": cells[chosen]}}


def test_a_few_kept_pairs_of_nads_are_told_by_their_table_alone(
    run_folder, whole, monkeypatch
):
    monkeypatch.chdir(run_folder)
    part = render.PARTS["linear_pairs"]
    kept = dataclasses.replace(whole, plan=None)
    assert [bool(part.make_section(one).pictures) for one in (whole, kept)] == [
        True,
        True,
    ]
    monkeypatch.setattr(part, "FEW", 16)
    assert [bool(part.make_section(one).pictures) for one in (whole, kept)] == [
        True,
        False,
    ]
