"""The page index.html of a small run: one file, whole without a network, safe from what names hold."""

import dataclasses
import re
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml
from hand_overs import ABOUT
from matplotlib.figure import Figure
from PIL import Image
from site_run import EVIL, NAMES, Reader, data_of, page, report, section
from structure import ROOT
from test_sections import lay, results

from pipeline import experiments
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import runs
from pipeline.report.page import Picture, Section, Table
from pipeline.report.site import compare, document, explorers, headlines, samples
from pipeline.report.site.words import WORDS, seen


@pytest.fixture(scope="module")
def _laid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        text = page(folder, patch)
    return folder, text


@pytest.fixture
def text(_laid, monkeypatch):
    monkeypatch.chdir(_laid[0])
    return _laid[1]


def test_the_page_is_one_file_that_asks_for_nothing(text):
    addresses = [
        value
        for _, attributes in Reader(text).tags
        for key, value in attributes.items()
        if key in ("src", "href", "data")
    ]
    assert len(addresses) > 10 and all(value.startswith(("data:", "#")) for value in addresses)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style and "@import" not in style
    script = Reader(text).scripts[1]
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|https?://(?!www\.w3\.org/2000/svg)|file:", script)
    assert "default-src 'none'" in text


def test_names_are_text_wherever_they_stand(text):
    read = Reader(text)
    # The data, and the page's own script: no name has begun a third one.
    assert len(read.scripts) == 2 and [tag for tag, _ in read.tags].count("script") == 2
    assert "alert" in read.scripts[0] and "</" not in read.scripts[0] and "alert" not in read.scripts[1]
    assert [network["name"] for network in data_of(text)["nads"]] == [EVIL, "LeNet"]
    assert any(EVIL in words for words in read.words) and f"images of this run: {EVIL}".capitalize()[:10] in text
    alternatives = [attributes["alt"] for tag, attributes in read.tags if tag == "img"]
    assert f"a figure of fourier & {EVIL}" in alternatives


def test_every_part_is_there_in_order_with_its_finding_its_figure_and_its_command(text):
    read = Reader(text)
    assert [attributes["id"] for tag, attributes in read.tags if tag == "section"] == ["samples", *NAMES]
    links = [attributes["href"] for tag, attributes in read.tags if tag == "a"]
    assert links == ["#samples", *(f"#{name}" for name in ("samples", *NAMES))]
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    # Each figure is in the page, and says what it is; nothing of it is needed to read the page without scripts.
    figures = [attributes for tag, attributes in read.tags if tag == "img"]
    assert len(figures) == 1 + len(NAMES) and all(
        one["alt"] and one["src"].startswith("data:image/") for one in figures
    )
    live = [attributes for _, attributes in read.tags if attributes.get("class") == "live"]
    assert len(live) == 4 and all("hidden" in attributes for attributes in live)
    for name in NAMES:
        part = text[text.index(f'<section id="{name}"') :]
        part = part[: part.index("</section>")]
        command = "dvc repro estimate render" if name == "nads" else f"dvc repro evaluate@{name} render"
        assert f"<code>{command}</code>" in part and "Code of no commit." in part
        assert part.index('class="finding"') < part.index("<img")
        assert f"caption &amp; <code>code</code> of {name}" in part
    assert "<code>eps = 1.5</code>, <code>sigma = 3.0</code>" in text and "sigma (LeNet) = 2.0" in text
    assert document.runs_of("fourier").header[:6] == [
        "network",
        "seeds",
        "training samples",
        "test samples",
        "epochs",
        "learning rate",
    ]
    assert document.runs_of("fourier").rows[1][:6] == ["LeNet", 2, "1,234", "90", 2, 0.1]


def test_every_control_has_a_name(text):
    read = Reader(text)
    labelled = {attributes["for"] for tag, attributes in read.tags if tag == "label" and "for" in attributes}
    controls = [attributes for tag, attributes in read.tags if tag in ("input", "select")]
    assert len(controls) > 8
    assert all(one.get("id") in labelled or one.get("type") == "radio" for one in controls)
    assert all(one.get("aria-label") for tag, one in read.tags if tag in ("canvas", "svg"))
    assert all(
        one.get("for") in {two.get("id") for _, two in read.tags}
        for tag, one in read.tags
        if tag == "label" and "for" in one
    )


def test_the_data_say_what_the_tables_say(text):
    data = data_of(text)
    lenet = data["nads"][1]
    summary = (
        pd.read_csv(artifacts.REPORTS / "nad_sweep" / "summary.csv")
        .query("architecture == 'a' and index == 10")
        .iloc[0]
    )
    assert lenet["accuracies"]["secant"]["10"] == pytest.approx([summary["mean"], summary["std"], 2, 2])
    assert lenet["accuracies"]["published"]["values"]["10"] == 99.98
    assert (lenet["networks"], lenet["eigenvalues"][0], lenet["nearby"][5]) == (64, 1e-6, [5, 8])
    # NADs from a file have no eigenvalues.
    own = data["nads"][0]
    assert own["file"] == EVIL and "eigenvalues" not in own and own["indices"] == list(range(40))
    ours, beside = (data["fourier"]["maps"][1][key] for key in ("cells", "published"))
    assert set(ours) == {"-16,-16", "-16,0", "0,-16", "0,0"} and beside["0,0"] == pytest.approx([0.7246], abs=1e-4)
    cell = data["linear_pairs"]["networks"][0]["cells"]["9,1"]
    assert cell["tilt"] == pytest.approx([96.5, 0.5**0.5]) and cell["learned"] and cell["training"] == 1.0
    assert data["linear_pairs"]["margin"] == pytest.approx(26.565, abs=1e-3)


def test_a_part_that_was_not_run_leaves_no_trace(text):
    few = document.document(report("flip", "fourier"), None, {})
    read = Reader(few)
    assert [attributes["id"] for tag, attributes in read.tags if tag == "section"] == ["flip", "fourier"]
    assert set(data_of(few)) == {"colours", "tile", "fourier"} and "images of this run" not in few
    assert "live-nads" not in [attributes.get("id") for _, attributes in read.tags]


def test_an_experiment_without_words_is_shown_with_its_own(text, monkeypatch):
    monkeypatch.delitem(WORDS, "flip")
    monkeypatch.delitem(headlines.WRITTEN, "flip")
    own = document.document(report("flip"), None, {})
    assert "flip: &lt;/script&gt;" in own and '<p class="finding">A finding of flip, 1.0 ± 0.5' in own


def test_the_same_run_gives_the_same_bytes(text):
    assert (
        document.document(report(*NAMES), f"images of this run: {EVIL}", compare.tables(dict.fromkeys(NAMES))) == text
    )


def test_every_part_has_words_and_of_every_figure_it_is_said_what_one_sees():
    assert set(WORDS) == {"samples", "nads", *experiments.names()}
    assert seen(WORDS["linear_pairs"], "linear_boundaries_lenet").startswith("What the network decides")
    assert seen(WORDS["linear_pairs"], "another") == ""


def test_figures_of_one_kind_are_folded_behind_the_first(text):
    words = WORDS["linear_pairs"]
    pictures = [Picture(name, Figure(), name) for name in ("linear_accuracies_a", "other", "linear_accuracies_b")]
    for picture in pictures:
        Image.new("RGB", (9, 9)).save(artifacts.FIGURES / f"{picture.name}.png")
    some = Section("", "", Table([], []), pictures)
    groups = document.groups_of(some, words, artifacts.FIGURES)
    assert [(group.first.text, [one.text for one in group.others]) for group in groups] == [
        ("linear_accuracies_a", ["linear_accuracies_b"]),
        ("other", []),
    ]
    assert groups[0].sees.startswith("Accuracy with both channels") and groups[1].sees == ""


HEADLINES = {
    "nads": "From the first NAD to the last, the derivative of an untrained network falls by a factor of 100 in LeNet (64 networks, "
    "relative error of C 0.25).",
    "nad_sweep": f"{EVIL} learns to separate D(u) to 50.1 ± 0.1 % along NAD 0 and to 50.5 ± 0.1 % along NAD 10, where guessing gives 50 "
    "(2 seeds); to a linear classifier all of its NADs are equally easy.",
    "fourier": f"{EVIL} learns to separate D(v) to 51.3 ± 0.1 % along the frequency (0, 0) and to 50.1 ± 0.1 % (not fitted) along the "
    "frequency (−16, −16); LeNet nowhere below 51.7 ± 0.1 % (2 seeds).",
    "linear_pairs": f"Of two channels that each suffice, {EVIL} gets 51.7 ± 0.1 % from the first and 52.1 ± 0.1 % from the second where "
    "their NADs are 1 and 9, and 52.9 ± 0.1 % from the first and 53.3 ± 0.1 % from the second where their NADs are 9 and 1 (2 seeds; "
    "guessing gives 50).",
    "flip": f"{EVIL} learns images to 50.1 ± 0.1 %, and the same images with the order of their NAD coefficients reversed, which "
    "loses nothing, to 50.5 ± 0.1 % (2 seeds).",
    "convergence": "A finding of convergence, 1.0 ± 0.5 " + EVIL,
}


@pytest.mark.parametrize("name", HEADLINES)
def test_a_part_opens_with_its_numbers_and_their_spread(text, name):
    assert headlines.headline(name, section(name)) == HEADLINES[name]


def test_a_map_of_few_directions_does_not_stand_for_one_of_many(text, monkeypatch):
    run = headlines.evaluated("fourier")
    rows = run.results.copy()
    of_z = rows["architecture"] == "z"
    # Now z has three directions, over which it differs much more than LeNet does over four.
    rows.loc[of_z & (rows["k_row"] == -16), "accuracy"] = 0.01
    few = dataclasses.replace(run, results=rows[~(of_z & (rows["k_row"] == -16) & (rows["k_col"] == 0))])
    monkeypatch.setattr(headlines, "evaluated", lambda name: few)
    assert headlines.fourier().startswith("LeNet learns to separate D(v) to")


def test_parts_on_images_open_with_their_numbers(text):
    results("image_pairs", [({"index": i}, ["all", "conflict"]) for i in (1, 64)], unfitted=2)
    assert headlines.image_pairs() == (
        f"Where images and linear channel disagree, {EVIL} follows the linear channel in 50.5 ± 0.1 % of cases along NAD 1 and in "
        "51.3 ± 0.1 % of cases along NAD 64 (2 seeds)."
    )
    places = [({"data": "images", "index": i}, ["clean"]) for i in (-1, 0, 300)]
    results("poison", places, unfitted=6)
    assert headlines.poison() == (
        f"{EVIL} recognises 50.1 ± 0.1 % (not fitted) after training on images as they are, 50.5 ± 0.1 % (not fitted) with the class "
        "written along NAD 0, 50.9 ± 0.1 % (not fitted) with the class written along NAD 300 (2 seeds; clean test images)."
    )
    results("poison", [({"data": "mixture", "index": 0}, ["clean"])])
    assert headlines.poison() == ""


def test_a_run_stands_beside_kept_ones_and_the_published_values(text):
    kept = artifacts.REPORTS / "night"
    lay(
        kept / "nad_sweep" / "results.csv",
        pd.read_csv(artifacts.REPORTS / "nad_sweep" / "results.csv").query("index == 10"),
    )
    artifacts.write_json(kept / "nad_sweep" / "metrics.json", {"scale": "overnight"})
    tables = compare.tables(dict.fromkeys(("nads", "nad_sweep", "fourier", "flip")))
    header = ["network", "where", "test set", "this run"]
    swept = tables["nad_sweep"]
    assert swept.header == [*header, "reports/night (scale overnight)", "published"]
    own = [EVIL, "estimand secant, index 10", "all", "50.5 ± 0.1 (2)", "50.5 ± 0.1 (2)", "–"]
    lenet = [["LeNet", f"estimand secant, index {i}", "all"] for i in (0, 10)]
    assert swept.rows == [
        own,
        [*lenet[0], "50.9 ± 0.1 (2)", "–", "100.0"],
        [*lenet[1], "51.3 ± 0.1 (2)", "51.3 ± 0.1 (2)", "100.0"],
    ]
    # The row k_row = 0 of the published map is set beside nothing, as in `pipeline.report.papers`.
    assert [row[1] for row in tables["fourier"].rows] == ["k_row -16, k_col -16", "k_row -16, k_col 0"]
    # What is published is of CIFAR-10, and nothing is shared with another run.
    artifacts.write_json(artifacts.DATASETS / "flip" / "images.json", ABOUT | {"name": "Animals"})
    assert "flip" in tables and "flip" not in compare.tables({"flip": None})
    # A run that is asked for stands beside them.
    shutil.copytree(kept, "elsewhere")
    asked = compare.tables({"nad_sweep": None}, [runs.found("elsewhere", artifacts.REPORTS)])["nad_sweep"]
    assert asked.header[4:] == ["elsewhere (scale overnight)", *swept.header[4:]]
    assert [row[4] for row in asked.rows] == [row[4] for row in swept.rows]
    lay(kept / "nad_sweep" / "summary.csv", [{"architecture": "a"}])
    with pytest.raises(
        InputError, match=r"nad_sweep/summary.csv of reports/night is damaged \(it has no column estimand\)"
    ):
        compare.tables({"nad_sweep": None})
    (kept / "nad_sweep" / "summary.csv").unlink()
    with pytest.raises(InputError, match="nad_sweep/summary.csv of reports/night is missing; bring it back"):
        compare.tables({"nad_sweep": None})
    own = artifacts.REPORTS / "nad_sweep" / "summary.csv"
    text = own.read_bytes()
    own.write_text("architecture\n")
    with pytest.raises(InputError, match="nad_sweep/summary.csv .*python -m pipeline.evaluate nad_sweep"):
        compare.tables({"nad_sweep": None})
    own.write_bytes(text)
    for path in (kept / "nad_sweep").iterdir():
        path.unlink()
    assert "published" in compare.tables({"nad_sweep": None})["nad_sweep"].header


def test_the_share_of_the_class_is_that_of_d_v(text):
    assert samples.share(1024, 1.0, 1.0) == pytest.approx(1 / 1024)
    assert samples.share(49, 2.0, 0.5) == pytest.approx(4 / (4 + 48 / 4))
    places = list(samples.amplitudes())
    assert ("linear_pairs, second channel", 1024, 0.75, 2.0) in places and len(places) == 8
    assert [place for place in places if place[0] == "nad_sweep"] == [
        ("nad_sweep", 1024, 1.0, 3.5),
        ("nad_sweep", 1024, 1.0, 2.0),
    ]
    name, index, v, pixels = samples.chosen()
    assert (name, index, pixels) == (EVIL, 8, (32, 32)) and np.linalg.norm(v) == pytest.approx(1)
    assert samples.span([0.1, 0.5]) == "10 to 50" and samples.span([0.25]) == "25"


def test_the_page_of_the_committed_run_is_of_a_size_to_send():
    outs = yaml.safe_load((ROOT / "dvc.lock").read_text(encoding="utf-8"))["stages"]["render"]["outs"]
    (page,) = [out for out in outs if out["path"] == "reports/index.html"]
    assert 1e6 < page["size"] < 6e6


def test_the_direction_that_is_shown_has_the_shape_of_its_nads(text, monkeypatch):
    monkeypatch.setattr(artifacts, "nads", lambda name: {"directions": np.eye(24), "shape": np.array([1, 6, 4])})
    section = samples.section(None)
    (picture,) = section.pictures
    shown = [panel.images[0].get_array() for panel in picture.figure.axes[:3]]
    assert {image.shape for image in shown} == {(6, 4)} and np.flatnonzero(shown[0]).tolist() == [8]
    plan = artifacts.planned("fourier")
    plan["members"]["z"]["input"] = [6, 4]
    artifacts.write_json(artifacts.PLAN / "fourier.json", plan)
    rows = [row for row in samples.section(None).table.rows if row[0] == "fourier"]
    assert [row[1:4] for row in rows] == [[24, "1.5", "3"], [1024, "1.5", "3"]]
    monkeypatch.setattr(artifacts, "nads", lambda name: {"directions": np.eye(24), "shape": np.array([3, 4, 2])})
    assert samples.chosen()[:2] == ("no network (the constant direction)", 0)


def test_of_many_nads_the_page_holds_some_closest_at_the_first():
    assert explorers.shown(1024, 1024).tolist() == list(range(1024))
    some = explorers.shown(100_000, 3 * 64 * 64)
    assert some[:4].tolist() == [0, 1, 2, 3] and some[-1] == 99_999 and len(some) * 3 * 64 * 64 <= explorers.MOST_VALUES
