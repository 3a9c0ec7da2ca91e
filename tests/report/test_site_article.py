"""The article: docs/site on a small folder of kept runs, and docs/index.html as it is
committed."""

import json
import re
import shutil
from html import unescape
from pathlib import Path

import browser
import pandas as pd
import pytest
import small_run
from structure import ROOT

from docs.site import build
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import run
from pipeline.report.site.document import compose, prepare


def lay_folder(run_folder, folder, name, experiment, **words):
    """Copy the tables and the plan of an experiment of the small run to a folder of
    kept runs."""
    shutil.copytree(run_folder / artifacts.REPORTS / experiment, folder / name)
    plan = json.loads((run_folder / artifacts.PLAN / f"{experiment}.json").read_text())
    nads = {"a": 64, "z": {"file": "mine.npy"}}
    artifacts.write_json(
        folder / name / "run.json", words | {"nads": nads, "plan": plan}
    )
    artifacts.write_json(folder / "images.json", small_run.ABOUT)


@pytest.mark.slow
def test_runs_of_one_experiment_share_a_chapter(run_folder, rendered, tmp_path):
    folder = tmp_path / "kept"
    for experiment in (
        "nad_sweep",
        "fourier",
        "convergence",
        "linear_pairs",
        "poison",
        "flip",
    ):
        lay_folder(
            run_folder,
            folder,
            f"{experiment}/both",
            experiment,
            title="LeNet and another",
        )
    seeds = pd.read_csv(folder / "linear_pairs/both/results.csv").replace(
        {"seed": {5: 7, 6: 8}}
    )
    small_run.write_table(folder / "linear_pairs/further/results.csv", seeds)
    path = folder / "linear_pairs/both/run.json"
    description = json.loads(path.read_text()) | {"further_seeds": ["further"]}
    artifacts.write_json(path, description)
    words = {"title": "again", "says": "Of another commit."}
    lay_folder(run_folder, folder, "linear_pairs/other", "linear_pairs", **words)
    (folder / "patches/four").mkdir(parents=True)
    artifacts.write_json(
        folder / "patches/four/run.json", {"title": "a table without a plan"}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        runs = build.read_runs(Path("kept"))
        build.draw_figures(runs, Path("kept"))
    whole = {
        path.stem: path.read_bytes() for path in (rendered / "figures").glob("*.png")
    }
    here = {path: path.read_bytes() for path in folder.rglob("*.png")}
    same = {path.stem for path, figure in here.items() if figure == whole[path.stem]}
    assert len(same) > 8
    assert {"poison_curve", "flip_maps", "linear_boundaries_a"} < same
    assert {path.stem for path in here} == same
    both = folder / "linear_pairs/both/linear_accuracies_a.png"
    other = folder / "linear_pairs/other/linear_accuracies_a.png"
    assert here[both] != here[other], "of four seeds and of two"
    chapters = ["problem", "waves", "nads", "sweep", "photographs", "pairs"]
    text = unescape(
        compose(prepare(runs, folder), "run.html.j2", chapters, scale="", notice=None)
    )
    assert re.findall(r'<section id="(\w+)"', text) == chapters
    assert "<small>± 0.1, 0.1; 4 seeds, 4 of 4 networks fitted.</small>" in text
    assert text.count("<b>again.</b> Of another commit.") == 1
    assert text.count("<td>again</td>") == text.count("<td>LeNet and another</td>") > 4
    assert "dvc repro evaluate" not in text
    data = json.loads(re.search('id="data">(.*?)</script>', text, re.S)[1])
    assert [*data["pairs"]] == ["ResNet-18 ⅛", "LeNet", "ResNet-18, published"]
    assert {"lenet", "resnet18", "vit", "torchvision_resnet18"} < set(data["nads"])


def test_a_folder_without_runs_is_refused(tmp_path):
    (tmp_path / "images.json").write_text("{}")
    with pytest.raises(InputError, match="none of the folders in .* has a run.json"):
        build.read_runs(tmp_path)


def test_a_chapter_that_names_a_missing_run_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        build.rows_of(tmp_path / "no/such/run.csv", {})


def test_no_stage_depends_on_the_article():
    for path in (ROOT / "pipeline").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert b"reports/kept" not in path.read_bytes(), path
    assert "docs" not in (ROOT / "dvc.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def committed():
    return (ROOT / "docs/index.html").read_text(encoding="utf-8")


def test_the_committed_article_is_of_the_committed_tables(committed):
    text = unescape(committed)
    assert len(committed.encode()) <= 3.5e6
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)
    assert re.findall(r'<section id="(\w+)"', text) == [*build.CHAPTERS]
    data = json.loads(re.search('id="data">(.*?)</script>', text, re.S)[1])
    for about in run.read_descriptions(ROOT / build.KEPT).values():
        assert "plan" not in about or f"<b>{about['title']}.</b>" in text
    shown = data["pairs"]["LeNet"]["cells"]
    assert len(shown) == len(data["pairs"]["ResNet-18, published"]["cells"]) == 144
    seeds = (ROOT / build.KEPT / "linear_pairs").glob("lenet_and_mlp*/results.csv")
    where = "architecture == 'lenet' and test_set == 'first' and index_1 == 64 and index_2 == 1000"
    chosen = pd.concat(map(pd.read_csv, seeds)).query(where)
    assert shown["64,1000"]["first"][2] == len(chosen) == 3
    assert shown["64,1000"]["first"][0] == pytest.approx(
        chosen["accuracy"].mean(), abs=1e-6
    )


def test_explorers_of_the_article_open_on_the_network_of_their_finding(committed):
    data = json.loads(re.search('id="data">(.*?)</script>', committed, re.S)[1])
    opened = {
        name: next(iter(data[name])) for name in ("fourier", "nads", "sweep", "pairs")
    }
    assert opened == {
        "fourier": "LeNet",
        "nads": "lenet",
        "sweep": "LeNet",
        "pairs": "LeNet",
    }
    # Only this run of poisoned images has a published curve.
    assert next(iter(data["photographs"])) == "ResNet-18 ¼"


def sentences(html):
    """The sentences of a page that are not folded away."""
    seen = re.sub(
        r"<(script|style|details|noscript|code).*?</\1>", "", html, flags=re.S
    )
    for paragraph in re.findall(r"<p[ >].*?</p>", seen, re.S):
        yield from re.split(r"(?<=[.:]) ", unescape(re.sub("<[^>]*>", "", paragraph)))


def test_a_sentence_has_one_parenthesis_and_a_finding_two_numbers(committed):
    asides = [
        re.findall(r"\((?!−?\d+, )", sentence) for sentence in sentences(committed)
    ]
    assert len(asides) > 40
    assert max(map(len, asides)) == 1
    findings = re.findall(r'class="finding"><strong>(.*?)</strong>', committed, re.S)
    assert len(findings) >= 7
    for finding in findings:
        measured = re.findall(
            r"[\d.,]+(?: ±[ \d.]+)? (?:%|times|points)|= −?[\d.]+", finding
        )
        assert 1 <= len(measured) <= 2, finding


@pytest.mark.slow
@browser.needed
def test_the_first_chapter_starts_in_a_browser(committed, tmp_path):
    action = """
      out.hidden = [$("live-training").hidden, $("live-forecast").hidden];
      out.charts = $("training-learners").querySelectorAll("svg").length;
      out.called = $("training-called").textContent;
      const before = grey("training-v");
      change("training-down", 4, "input"); out.moved = $("training-called").textContent;
      out.drawn = grey("training-v").some((value, n) => value !== before[n]);
      $("training-bet-pooled").click();
      out.bet = $("training-bet-pooled").getAttribute("aria-pressed");
      out.across = $("training-across").value;
    """
    found = browser.browse(committed, action, tmp_path)
    assert found == {
        "hidden": [False, False],
        "charts": 3,
        "called": "the pattern v: the wave (2, 2)",
        "moved": "the pattern v: the wave (4, 2)",
        "drawn": True,
        "bet": "true",
        "across": "4",
    }
