"""The stage `render` on the small run: report.md, index.html and metrics.json."""

import base64
import dataclasses
import io
import json
import math
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
from pipeline.report import run, style
from pipeline.report.metrics import collect_metrics
from pipeline.report.page import Finding, Section, render_markdown
from pipeline.report.site import data as site_data
from pipeline.report.site import document

NUMBERS = Path(__file__).with_name("small_run.txt")
"""The findings, captions and tables of the small run's report.

Each accuracy is 0.2 points above that of the row before, which gives all means,
deviations and distances.
"""


@pytest.fixture(scope="module")
def html(rendered):
    return (rendered / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def sections(section_of):
    return {name: section_of(name) for name in render.PARTS}


def test_the_report_says_what_the_tables_say(sections):
    assert set(sections) == {"nads", *experiments.names()}
    lines = re.findall(
        r"^(?:## |- |\||scale ).*\n", render_markdown(sections, "laptop", None), re.M
    )
    assert "".join(lines) == NUMBERS.read_text(encoding="utf-8")


def test_the_committed_metrics_are_of_the_committed_tables():
    records = run.read_folder(ROOT / "reports", list(render.PARTS))
    committed = json.loads((ROOT / "reports/metrics.json").read_text(encoding="utf-8"))
    del committed["nads"]
    assert collect_metrics(run.Report(None, {}, records)) == committed


@pytest.mark.slow
def test_the_report_has_all_sections_and_the_page_all_chapters(
    rendered, html, sections
):
    report = (rendered / "report.md").read_text(encoding="utf-8")
    assert report == render_markdown(sections, "smoke", None)
    for file in re.findall(r"\((figures/.*?)\)", report):
        assert (rendered / file).exists()
    text = unescape(html)
    assert re.findall(r'<section id="(\w+)"', text) == list(document.CHAPTERS)
    assert "default-src 'none'" in text
    assert not re.findall(r'(?:src|<link[^>]* href)="(?!data:)', text)
    live = re.findall(r'class="live" id="live-(\w+)"', text)
    assert live == ["fourier", "nads", "sweep", "photographs", "pairs"]
    for name, section in sections.items():
        stage = "estimate" if name == "nads" else f"evaluate@{name}"
        assert f"<code>dvc repro {stage} render</code>" in text
        for row in section.table[1:]:
            for cell in row:
                assert f"<td>{cell}</td>" in text


@pytest.mark.slow
def test_without_scripts_every_live_figure_has_a_picture(html):
    for part in re.findall(r'class="live" id="live-\w+".*?</noscript>', html, re.S):
        assert part.count("<noscript>") == 1
        assert '<img src="data:image/webp' in part


@pytest.mark.slow
def test_the_data_say_what_the_tables_say(html):
    data = json.loads(re.search('id="data">(.*?)</script>', html, re.S)[1])
    lenet, narrow = data["nads"].values()
    assert narrow["file"] == "mine.npy"
    assert "eigenvalues" not in narrow
    assert lenet["eigenvalues"][:2] == [4, 2]
    assert lenet["nearby"][0] == [0, 1]
    # The finding is about the narrow ResNet-18.
    assert list(data["fourier"]) == [
        "ResNet-18 ⅛",
        "LeNet",
        "LeNet, published",
        "ResNet-18, published",
    ]
    narrow, lenet, published, _ = data["fourier"].values()
    assert lenet["cells"]["0,0"] == [0.529, 0.001414, 2, 2, 1.0]
    assert lenet["cells"]["16,0"] == [0.521, 0.001414, 2, 2, 1.0]
    assert lenet["cells"]["-16,0"] == [0.521, 0.001414, 2, 2, 1.0]
    assert "16,0" not in lenet["steps"], "some seed did not learn it"
    assert published["cells"]["0,4"] == [0.80225]
    assert narrow["sides"] == [32, 32]
    assert list(data["pairs"]) == ["ResNet-18 ⅛", "LeNet", "ResNet-18, published"]
    assert len(data["colours"]) == 64


@pytest.mark.slow
def test_a_report_that_fails_leaves_the_last_one(rendered, tmp_path, monkeypatch):
    shutil.copytree(rendered.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (artifacts.REPORTS / "learning" / "course.csv").unlink()

    def read_files():
        files = [path for path in artifacts.REPORTS.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in files}

    before = read_files()
    with pytest.raises(InputError) as caught:
        render.main()
    assert caught.value.kind == "missing-file"
    assert caught.value.fields["stage"] == "evaluate learning"
    assert read_files() == before


@pytest.mark.slow
def test_a_run_has_one_seed_other_images_and_a_custom_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(small_run, "SEEDS", (5,))
    monkeypatch.setattr(small_run, "NARROW", {"network": "mine:Net", "filters": 3})
    monkeypatch.setattr(small_run, "ABOUT", small_run.ABOUT | {"name": "Animals"})
    small_run.write_run()
    figures = []
    save = style.save

    def save_figure(figure, folder, name):
        figures.append(figure)
        save(figure, folder, name)

    monkeypatch.setattr(style, "save", save_figure)
    render.main()
    assert len(list((artifacts.REPORTS / "figures").iterdir())) == len(figures) == 16
    notice = "images of this run: Animals"
    for figure in figures:
        assert figure.get_suptitle().endswith(f"\n{notice}")
    html = (artifacts.REPORTS / "index.html").read_text(encoding="utf-8")
    assert '<p class="notice">Images of' in html
    text = (artifacts.REPORTS / "report.md").read_text(encoding="utf-8")
    assert f"\n\n**{notice}**\n\n## What was found\n" in text
    assert "Net (filters 3)" in text
    finding = "reaches 50.0 % along NAD 0 and 50.2 % along NAD 10 (1 seed, 1"
    assert finding in text


def unfold(tiles):
    """Undo `fold` along the last axis."""
    size = tiles.shape[-1]
    unfolded = np.empty_like(tiles)
    for left in range((size + 1) // 2):
        right = size - 1 - left
        even = tiles[..., left]
        odd = tiles[..., right] if right > left else 0
        unfolded[..., left] = even + odd
        unfolded[..., right] = even - odd
    return unfolded


@pytest.mark.parametrize("shape", [(1, 6, 8), (3, 4, 5), (2, 5, 4)])
def test_directions_are_tiles_of_a_sprite(shape):
    channels, height, width = shape
    directions = np.random.default_rng(0).normal(size=(10, math.prod(shape)))
    source, columns = site_data.make_sprite(directions, shape)
    file = io.BytesIO(base64.b64decode(source.partition(";base64,")[2]))
    sheet = np.asarray(Image.open(file))[..., 0].astype(float)
    assert columns == 4
    assert sheet.shape == (3 * channels * height, 4 * width)
    tiles = sheet.reshape(3, channels, height, 4, width)
    tiles = tiles.transpose(0, 3, 1, 2, 4).reshape(12, *shape)
    values = (tiles - site_data.ZERO) / (2 * site_data.LEVELS)
    values = unfold(unfold(values).swapaxes(2, 3)).swapaxes(2, 3)
    for tile, direction in zip(values, directions, strict=False):
        expected = direction.reshape(shape) / np.abs(direction).max()
        assert np.abs(tile - expected).max() <= 2 / site_data.LEVELS + 1e-9
    assert not values[10:].any(), "empty tiles are grey"


def test_json_has_no_nan():
    value = {1: [np.nan, np.float32(0.5), (np.inf, True)], "a": np.arange(2), "b": None}
    expected = {"1": [None, 0.5, [None, True]], "a": [0, 1], "b": None}
    assert json.loads(site_data.script_json(value)) == expected


@pytest.mark.slow
def test_a_chapter_without_runs_leaves_the_page(tmp_path):
    runs = {name: [] for name in render.PARTS}
    text = document.document(runs, "smoke", None, tmp_path)
    assert re.findall(r'<section id="(\w+)"', text) == []


@pytest.mark.parametrize(
    ("network", "opening"), [("b", "LeNet without pooling"), ("a", "LeNet")]
)
def test_an_explorer_opens_on_the_network_of_the_finding(network, opening):
    labels = {"a": "LeNet", "b": "LeNet without pooling"}
    record = types.SimpleNamespace(labels=labels)
    explorer = [{"name": name} for name in ("VGG-11", "LeNet without pooling", "LeNet")]
    finding = Finding(network, "", "")
    section = Section(record, "", [], [], finding, explorer)
    networks = document.sort_networks([section])
    assert networks[0]["name"] == opening
    assert networks[-1]["name"] == "VGG-11"


def test_a_picker_offers_a_network_once_with_the_most_cells():
    name = "Net, width ×0.25"
    few = {"name": name, "cells": {"1": [0.5]}}
    many = {"name": name, "cells": {"1": [0.5], "2": [0.6]}}
    expected = {"Net ¼": {"name": "Net ¼", "cells": many["cells"]}}
    assert document.list_choices([few, many]) == expected
    assert document.list_choices([many, few]) == expected


def test_a_kept_run_of_a_few_pairs_has_no_figures(whole, monkeypatch):
    part = render.PARTS["linear_pairs"]
    kept = dataclasses.replace(whole, plan=None)
    assert part.make_section(kept).pictures
    monkeypatch.setattr(part, "FEW", 16)
    assert part.make_section(whole).pictures
    assert not part.make_section(kept).pictures
