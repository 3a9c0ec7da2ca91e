"""The stage `render` on the small run: figures to the last byte, report.md and index.html."""

import base64
import dataclasses
import io
import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_run
from PIL import Image
from small_run import NOTICE

from pipeline import experiments, render
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import style
from pipeline.report.page import of_folder
from pipeline.report.site import embedded

NAMES = ["nads", "nad_sweep", "fourier", "convergence", "learning"]
NAMES += ["linear_pairs", "image_pairs", "poison", "flip"]


@pytest.fixture(scope="module")
def html(rendered):
    return (rendered / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def every(sections):
    return {name: sections[name] for name in NAMES}


@pytest.mark.slow
def test_every_figure_is_there_and_nothing_of_before(rendered, every):
    pictures = [picture for section in every.values() for picture in section.pictures]
    assert len(pictures) == 21
    files = {f"{picture.name}.{kind}" for picture in pictures for kind in ("png", "svg")}
    assert {path.name for path in (rendered / "figures").iterdir()} == files
    for picture in pictures:
        assert picture.figure._suptitle.get_text().endswith(f"\n{NOTICE}")


@pytest.mark.slow
def test_figures_have_the_same_bytes_each_time(rendered, whole, tmp_path):
    """Each was drawn in another order, from another reading of the tables."""
    for part in reversed(render.IN_ORDER):
        for picture in part.section(whole).pictures:
            style.save(picture.figure, tmp_path, picture.name)
    for path in (rendered / "figures").iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


@pytest.mark.slow
def test_report_md_has_every_section(rendered, every):
    text = (rendered / "report.md").read_text(encoding="utf-8")
    assert set(NAMES) == {"nads", *experiments.names()}
    assert text.startswith("# Report of this run\n\nWritten by the stage `render`; every number")
    assert f"**{NOTICE}**\n\n## What was found\n" in text
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["What was found", *(section.heading for section in every.values())]
    for section in every.values():
        assert all(f"\n- {finding}\n" in text for finding in section.findings)
        for row in (section.table.header, *section.table.rows):
            assert f"\n| {' | '.join(map(str, row))} |\n" in text
    assert text.endswith("\n![what predictions of LeNet rest on](figures/flip_components_a.png)\n")


@pytest.mark.slow
def test_index_html_has_every_section(html, every):
    text = unescape(html)
    assert re.findall(r'<section id="(\w+)"', text) == NAMES
    drawn = re.findall(r'<img src="data:image/webp;base64,[^"]+" [^>]* alt="([^"]+)">', text)
    pictures = [picture for section in every.values() for picture in section.pictures]
    assert sorted(drawn) == sorted(picture.text for picture in pictures)
    assert "default-src 'none'" in text and not re.findall(r'(?:src|href)="(?!data:|#)', text)
    live = re.findall(r'class="live" id="([\w-]+)"', text)
    assert live == ["live-nads", "live-fourier", "live-pairs"]
    for name, section in every.items():
        part = text[text.index(f'<section id="{name}"') :].partition("</section>")[0]
        for words in (section.title, section.question, section.pictures[0].sees):
            assert words in part
        again = "estimate" if name == "nads" else f"evaluate@{name}"
        assert f"<code>dvc repro {again} render</code>" in part
        assert part.count('class="finding"') == len(section.findings)
    assert f'<p class="notice">{NOTICE.capitalize()[:10]}' in text
    assert "<code>fourier</code>" in text and "1 more: boundaries of LeNet</summary>" in text


@pytest.mark.slow
def test_the_data_say_what_the_tables_say(html):
    data = json.loads(re.search('id="data">(.*?)</script>', html, re.S)[1])
    narrow, lenet = data["nads"]
    assert narrow["file"] == "mine.npy" and "eigenvalues" not in narrow
    assert lenet["accuracies"]["secant"]["10"] == pytest.approx([0.521, 0.001 * 2**0.5, 2, 2])
    assert lenet["accuracies"]["published"]["called"] == "published"
    assert lenet["accuracies"]["published"]["values"]["10"] == 99.98
    assert lenet["eigenvalues"][:2] == [4, 2] and lenet["nearby"][0] == [0, 1]
    first, second = data["fourier"]["maps"]
    assert second["cells"]["0,0"] == pytest.approx([0.529, 0.001 * 2**0.5, 2, 2])
    assert first["called"] == "published, full width" and first["sides"] == [32, 32]
    assert len(data["linear_pairs"]["networks"]) == 2 and len(data["colours"]) == 64


@pytest.mark.slow
def test_what_cannot_be_rendered_leaves_the_last_report(rendered, tmp_path, monkeypatch):
    shutil.copytree(rendered.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (artifacts.REPORTS / "flip" / "changes.csv").unlink()
    files = lambda: {
        path: path.read_bytes() for path in artifacts.REPORTS.rglob("*") if path.is_file()
    }
    before = files()
    with pytest.raises(InputError, match=r"changes.csv is missing; `python -m pipeline.evaluate"):
        render.main()
    assert files() == before


@pytest.mark.slow
def test_one_seed_and_a_network_of_ones_own_are_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(small_run, "SEEDS", (5,))
    monkeypatch.setattr(small_run, "NARROW", {"network": "mine:Net", "filters": 3})
    small_run.lay_run()
    render.main()
    text = (artifacts.REPORTS / "report.md").read_text(encoding="utf-8")
    assert "Net (filters 3)" in text and "standard deviation over seeds\n" not in text
    assert "\n- Accuracy over Fourier directions, 1 seed: Net (filters 3): 50.3 % in the" in text


def unfolded(tile):
    """What `folded` was made of."""
    last = tile.shape[-1] - 1
    both = [(tile[..., min(n, last - n)], tile[..., max(n, last - n)]) for n in range(last + 1)]
    return np.stack([even + np.sign(last - 2 * n) * odd for n, (even, odd) in enumerate(both)], -1)


@pytest.mark.parametrize("shape", [(1, 6, 8), (3, 4, 5), (2, 5, 4)])
def test_directions_are_tiles_of_a_sprite(shape):
    directions = np.random.default_rng(0).normal(size=(10, int(np.prod(shape))))
    source, columns = embedded.sprite(directions, shape)
    file = io.BytesIO(base64.b64decode(source.partition(";base64,")[2]))
    sheet = np.asarray(Image.open(file))[..., 0].astype(float)
    height = shape[0] * shape[1]
    assert columns == 4 and sheet.shape == (3 * height, 4 * shape[2])
    for place, nad in enumerate(directions):
        top, left = place // columns * height, place % columns * shape[2]
        tile = sheet[top : top + height, left : left + shape[2]].reshape(shape) - embedded.ZERO
        found = unfolded(unfolded(tile).swapaxes(1, 2)).swapaxes(1, 2) / (2 * embedded.LEVELS)
        expected = nad.reshape(shape) / np.abs(nad).max()
        assert np.abs(found - expected).max() <= 2 / embedded.LEVELS + 1e-9
    assert sheet[-1, -1] == embedded.ZERO, "an empty tile is grey"


def test_json_has_no_number_that_is_none():
    value = {1: [np.nan, np.float32(0.5), (np.inf, True)], "a": np.arange(2), "b": None}
    expected = {"1": [None, 0.5, [None, True]], "a": [0, 1], "b": None}
    assert json.loads(embedded.script_json(value)) == expected


def test_long_captions_are_broken_between_their_parts():
    assert style.filled("one · two · three", 30) == "one · two · three"
    assert style.filled("one · two · three", 11) == "one · two\nthree"
    assert style.filled("a word too long", 8) == "a word\ntoo long"
    figure = style.finish(style.new(1, 1, 2, 2)[0], "title", "x" * 33 + " · y\nz", "notice")
    assert figure._suptitle.get_text() == "title\nnotice"
    assert figure._supxlabel.get_text() == "x" * 33 + "\ny\nz"


def test_a_persons_own_style_of_figures_changes_none(tmp_path):
    program = (
        "from pathlib import Path; from pipeline.report import style; "
        "figure = style.blank(2, 2); figure.subplots().plot([1, 2]); "
        "style.save(figure, Path(), 'line')"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    drawn = []
    for name, text in {"plain": "", "own": "axes.facecolor: red\nsavefig.dpi: 50\n"}.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "matplotlibrc").write_text(text, encoding="utf-8")
        subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, check=True)
        drawn.append([path.read_bytes() for path in (folder / "line.png", folder / "line.svg")])
    assert drawn[0] == drawn[1]


def lay_folder(laid, folder, name, experiment):
    """Copy the tables and the plan of an experiment of the small run to a folder of folders."""
    shutil.copytree(laid / artifacts.REPORTS / experiment, folder / name)
    shutil.copy(laid / artifacts.PLAN / f"{experiment}.json", folder / name / "plan.json")
    artifacts.write_json(folder / "images.json", small_run.ABOUT)


@pytest.fixture(scope="module")
def overnight(_laid, tmp_path_factory):
    """A folder of tables and plans of the small run alone, one of them twice, rendered."""
    folder = tmp_path_factory.mktemp("tables") / "overnight"
    names = {"nad_sweep_plain": "nad_sweep"}
    names |= {name: name for name in ("fourier", "convergence", "linear_pairs", "poison", "flip")}
    names |= {"linear_pairs_a_again": "linear_pairs"}
    for name, experiment in names.items():
        lay_folder(_laid, folder, name, experiment)
    (folder / "without_a_plan").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.parent)
        render.render_folder(Path("overnight"))
    return folder


@pytest.mark.slow
def test_a_folder_of_tables_alone_is_drawn(overnight, rendered):
    here, whole = (
        {path.name: path.read_bytes() for path in (folder / "figures").iterdir()}
        for folder in (overnight, rendered)
    )
    again = {name.split(".")[0] for name in here if "_again" in name}
    assert again == {
        "linear_accuracies_a_again",
        "linear_accuracies_z_a_again",
        "linear_boundaries_a_again",
        "linear_boundaries_z_a_again",
        "linear_tilt_and_margins_a_again",
    }
    assert {"nad_sweep_plain.png", "poison_curve.png", "flip_components_a.svg"} <= set(here)
    assert not any(name.startswith(("nad_gallery", "two_", "poison_examples")) for name in here)
    same = set(here) & set(whole)
    assert len(same) > 16 and all(here[name] == whole[name] for name in same)


@pytest.mark.slow
def test_each_folder_is_a_section_of_its_own(overnight):
    text = unescape((overnight / "index.html").read_text(encoding="utf-8"))
    sections = re.findall(r'<section id="(\w+)"', text)
    pairs = ["linear_pairs", "linear_pairs_a_again"]
    assert sections == ["nad_sweep_plain", "fourier", "convergence", *pairs, "poison", "flip"]
    assert "Two channels, each of them enough (LeNet, again)" in text
    assert text.count("Give a network two channels at once") == 1
    assert text.count("<code>python -m pipeline.render overnight</code>") == len(sections)
    assert re.findall(r'class="live" id="([\w-]+)"', text) == ["live-fourier", "live-pairs"]


def test_a_few_pairs_of_nads_are_told_by_their_table_alone(whole, sections):
    record = whole.experiments["linear_pairs"]
    rows = record.results[(record.results["architecture"] == "a") & (record.results["seed"] == 5)]
    few = dataclasses.replace(record, results=rows)
    records = {"linear_pairs": record, "linear_pairs_few": few}
    section = of_folder("linear_pairs_few", sections["linear_pairs"], records)
    assert section.pictures == [] and section.table == sections["linear_pairs"].table
    assert of_folder("linear_pairs", sections["linear_pairs"], {"linear_pairs": few}).pictures


def test_convergence_needs_the_accuracies_of_fourier_beside_it(whole, tmp_path, monkeypatch):
    lay_folder(Path(), tmp_path / "some", "convergence", "convergence")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="beside the tables of fourier; add that folder"):
        render.render_folder(Path("some"))
    (tmp_path / "some/convergence/plan.json").unlink()
    with pytest.raises(InputError, match="no folder of some holds a plan.json"):
        render.render_folder(Path("some"))


def test_the_committed_page_is_of_the_committed_tables():
    root = Path(__file__).parents[2]
    page = root / "docs/index.html"
    text = unescape(page.read_text(encoding="utf-8"))
    assert page.stat().st_size <= 3e6 and not re.findall(r'(?:src|href)="(?!data:|#)', text)
    data = json.loads(re.search('id="data">(.*?)</script>', text, re.S)[1])
    for path in (root / "reports/overnight").glob("*/plan.json"):
        assert f'<section id="{path.parent.name}"' in text
    for one in data["linear_pairs"]["networks"]:
        assert len(one["cells"]) == 144
    summary = pd.read_csv(root / "reports/overnight/linear_pairs/summary.csv")
    shown = data["linear_pairs"]["networks"][0]["cells"]["64,1000"]["first"][0]
    chosen = summary[(summary["index_1"] == 64) & (summary["index_2"] == 1000)]
    assert shown == chosen[chosen["test_set"] == "first"].iloc[0]["mean"]
