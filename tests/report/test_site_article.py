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
from refusals import refused
from structure import ROOT

from docs.site import build
from pipeline.project import artifacts
from pipeline.report import run
from pipeline.report.site.document import compose, prepare


def keep_run(run_folder, folder, experiment, variant, **description):
    """Copy the tables and the plan of an experiment of the small run to a folder of
    kept runs; description: the other contents of run.json."""
    target = folder / experiment / variant
    shutil.copytree(run_folder / artifacts.REPORTS / experiment, target)
    plan = json.loads((run_folder / artifacts.PLAN / f"{experiment}.json").read_text())
    nads = {"a": 64, "z": {"file": "mine.npy"}}
    description |= {"nads": nads, "plan": plan}
    artifacts.write_json(target / "run.json", description)
    artifacts.write_json(folder / "images.json", small_run.ABOUT)


@pytest.mark.slow
def test_runs_of_one_experiment_share_a_chapter(run_folder, rendered, tmp_path):
    folder = tmp_path / "kept"
    for experiment in ("nad_sweep", "fourier", "convergence", "poison", "flip"):
        keep_run(run_folder, folder, experiment, "both", title="LeNet and another")
    keep_run(
        run_folder,
        folder,
        "linear_pairs",
        "both",
        title="LeNet and another",
        further_seeds=["further"],
    )
    results = pd.read_csv(folder / "linear_pairs/both/results.csv")
    further = results.assign(seed=results["seed"] + 2)
    small_run.write_table(folder / "linear_pairs/further/results.csv", further)
    keep_run(
        run_folder,
        folder,
        "linear_pairs",
        "other",
        title="again",
        says="Of another commit.",
    )
    (folder / "patches/four").mkdir(parents=True)
    description = {"title": "a table without a plan"}
    artifacts.write_json(folder / "patches/four/run.json", description)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        runs = build.read_runs(Path("kept"))
        build.draw_figures(runs, Path("kept"))
    drawn = set()
    equal = set()
    for path in folder.rglob("*.png"):
        drawn.add(path.stem)
        if path.read_bytes() == (rendered / "figures" / path.name).read_bytes():
            equal.add(path.stem)
    assert drawn == equal
    assert {"poison_curve", "flip_maps", "linear_boundaries_a"} < equal
    both = folder / "linear_pairs/both/linear_accuracies_a.png"
    other = folder / "linear_pairs/other/linear_accuracies_a.png"
    assert both.read_bytes() != other.read_bytes(), "of four seeds and of two"
    chapters = ["problem", "waves", "nads", "sweep", "photographs", "pairs"]
    environment = prepare(runs, folder)
    html = compose(environment, "run.html.j2", chapters, scale="", notice=None)
    text = unescape(html)
    assert re.findall(r'<section id="(\w+)"', text) == chapters
    assert "<small>± 0.1, 0.1; 4 seeds, 4 of 4 networks fitted.</small>" in text
    assert text.count("<b>again.</b> Of another commit.") == 1
    assert text.count("<td>again</td>") == text.count("<td>LeNet and another</td>") > 4
    assert "dvc repro evaluate" not in text
    data = json.loads(re.search('id="data">(.*?)</script>', text, re.S)[1])
    assert list(data["pairs"]) == ["ResNet-18 ⅛", "LeNet", "ResNet-18, published"]
    assert {"lenet", "resnet18", "vit", "torchvision_resnet18"} < set(data["nads"])


def test_a_folder_without_runs_is_refused(tmp_path):
    (tmp_path / "images.json").write_text("{}")
    with refused("missing-file", path=str(tmp_path)):
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
    for description in run.read_descriptions(ROOT / build.KEPT).values():
        if "plan" in description:
            assert f"<b>{description['title']}.</b>" in text
    cells = data["pairs"]["LeNet"]["cells"]
    assert len(cells) == 144
    assert len(data["pairs"]["ResNet-18, published"]["cells"]) == 144
    tables = (ROOT / build.KEPT / "linear_pairs").glob("lenet_and_mlp*/results.csv")
    rows = pd.concat([pd.read_csv(path) for path in tables])
    rows = rows.query("architecture == 'lenet' and test_set == 'first'")
    rows = rows.query("index_1 == 64 and index_2 == 1000")
    mean, _, seeds, _ = cells["64,1000"]["first"]
    assert seeds == len(rows) == 3
    assert mean == pytest.approx(rows["accuracy"].mean(), abs=1e-6)


def test_explorers_of_the_article_open_on_the_network_of_their_finding(committed):
    data = json.loads(re.search('id="data">(.*?)</script>', committed, re.S)[1])
    assert next(iter(data["fourier"])) == "LeNet"
    assert next(iter(data["nads"])) == "lenet"
    assert next(iter(data["sweep"])) == "LeNet"
    assert next(iter(data["pairs"])) == "LeNet"
    # Only this run of poisoned images has a published curve.
    assert next(iter(data["photographs"])) == "ResNet-18 ¼"


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
