"""The article: docs/site on a small folder of kept runs, and docs/index.html as it is
committed."""

import functools
import itertools
import json
import re
import shutil
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import browser
import pandas as pd
import pytest
import small_run
from PIL import Image
from refusals import refused
from structure import ROOT

from docs.site import build, figures, hero
from pipeline.project import artifacts
from pipeline.report.site.document import compose, prepare

SVG = "{http://www.w3.org/2000/svg}"


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
    chapters = ["waves", "nads", "sweep", "photographs", "pairs"]
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


@pytest.fixture(scope="module")
def data(committed):
    return json.loads(re.search('id="data">(.*?)</script>', committed, re.S)[1])


def test_the_committed_article_is_of_the_committed_tables(committed, data):
    text = unescape(committed)
    assert len(committed.encode()) <= 3.5e6
    assert not re.findall(r'src="(?!data:)', text)
    assert re.findall(r'<section id="(\w+)"', text) == [*build.CHAPTERS]
    cells = data["pairs"]["LeNet"]["cells"]
    assert len(cells) == 144
    assert len(data["pairs"]["ResNet-18, published"]["cells"]) == 144
    tables = (ROOT / build.KEPT / "linear_pairs").glob("lenet_and_mlp*/results.csv")
    rows = pd.concat([pd.read_csv(path) for path in tables])
    rows = rows.query("architecture == 'lenet' and test_set == 'first'")
    rows = rows.query("index_1 == 64 and index_2 == 1000")
    mean, _, seeds, *_ = cells["64,1000"]["first"]
    assert seeds == len(rows) == 3
    assert mean == pytest.approx(rows["accuracy"].mean(), abs=1e-6)
    table = pd.read_csv(ROOT / build.KEPT / "image_pairs/lenet/results.csv")
    for row in table.to_dict("records"):
        found = data["lazy"][str(row["index"])][row["test_set"]]
        assert found == pytest.approx(row["accuracy"])


def test_links_of_the_article_lead_to_files_of_the_repository(committed):
    links = set(re.findall(r'href="([^"]*)"', committed))
    files = {link for link in links if not re.match("https://|#|data:", link)}
    assert len(files) > 15
    for link in files:
        assert (ROOT / "docs" / link.partition("#")[0]).exists(), link


def test_the_picture_of_the_first_chapter_is_small(committed):
    path = re.search('property="og:image" content="([^"]*)"', committed)[1]
    file = ROOT / "docs" / path
    assert file.stat().st_size <= 2e5
    with Image.open(file) as picture:
        assert picture.size == (2 * hero.SIZE[0], 2 * hero.SIZE[1])


def test_the_scripts_stay_short():
    lines = [
        line
        for folder in ("docs/site", "pipeline/report/site/script")
        for path in (ROOT / folder).rglob("*.js")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert 500 < len(lines) <= 1200


def test_a_picker_offers_at_most_five_networks_of_ours(data):
    for name in ("fourier", "nads", "sweep", "photographs", "pairs"):
        ours = [each for each in data[name].values() if "group" not in each]
        assert 2 <= len(ours) <= 5
    assert next(iter(data["nads"])) == "lenet"
    assert next(iter(data["pairs"])) == "LeNet"


def test_an_explorer_opens_on_the_wave_of_its_question(committed, data):
    first = next(iter(data["fourier"].values()))
    row, column = first["start"]
    assert first["cells"][f"{row},{column}"][0] < 0.55
    assert first["cells"]["16,16"][0] > 0.99
    assert f"({row}, {column})" in committed


def test_the_sweep_opens_on_the_network_of_its_finding(committed, data):
    first = next(iter(data["sweep"].values()))
    test, _, seeds, fitted, training, *_ = first["cells"][str(first["start"])]
    assert seeds == fitted == 2
    finding = f"{figures.percent(training)} on its training set and "
    assert f"{finding}{figures.percent(test)} on the test set" in committed


def test_the_share_that_random_signs_cost():
    rows = [
        {"images": "plain", "test_set": "all", "mean": 0.7},
        {"images": "signs", "test_set": "all", "mean": 0.55},
        {"images": "flipped", "test_set": "all", "mean": 0.4},
    ]
    assert figures.signs_share(rows) == pytest.approx(0.5)


def test_a_bound_is_never_rounded_past_its_number():
    assert figures.at_least(0.9845) == figures.percent(0.984)
    assert figures.at_most(0.5967, 0) == figures.percent(0.6, 0)
    assert figures.at_least(0.997) == figures.at_most(0.997) == figures.percent(0.997)
    assert figures.percent(0.5) == "50.0\N{NO-BREAK SPACE}%"


def test_a_map_has_its_first_wave_at_the_top_left():
    cells = {"-16,-16": [0.5], "-16,0": [1.0], "0,-16": [0.75], "0,0": [0.5]}
    squares = {key: rest for key, *rest in figures.squares(cells)}
    assert squares["-16,0"][:3] == [8, -8, 16]
    assert squares["0,-16"][:3] == [-8, 8, 16]
    assert squares["-16,-16"][3] == squares["0,0"][3] != squares["-16,0"][3]


def test_a_plot_has_a_logarithmic_axis_that_ends_at_the_last_nad():
    assert figures.place(0, 1023) == 0
    assert figures.place(1023, 1023) == 100
    assert figures.place(31, 1023) == 50
    assert figures.height(0.5) > figures.height(1.0) > 0
    assert figures.height(0.2) == 100


def test_every_finding_has_its_n_beside_it(committed):
    beside = re.findall(r'<details class="note">(.*?)</div>', committed, re.S)
    findings = [text for text in beside if 'class="finding"' in text]
    assert len(findings) == committed.count('class="finding"')
    for text in findings:
        note = text.split("</details>")[0]
        assert re.search("seeds?|run each", note), note


def colours_of(css, name):
    """The values of a CSS variable: in light and in dark mode."""
    return re.findall(rf"--{name}: (#[0-9a-f]+)", css)


def luminance(colour):
    """The relative luminance of WCAG."""
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    values = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in values
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    """The contrast ratio of two colours."""
    darker, lighter = sorted([luminance(one), luminance(two)])
    return (lighter + 0.05) / (darker + 0.05)


def test_letters_are_legible_in_light_and_in_dark():
    css = (ROOT / "pipeline/report/site/page.css").read_text(encoding="utf-8")
    assert contrast("#000", "#fff") == pytest.approx(21)
    for name in ("ink", "soft", "ours", "theirs", "mark"):
        for ground in ("paper", "panel"):
            letters, grounds = colours_of(css, name), colours_of(css, ground)
            assert len(letters) == len(grounds) == 2
            for one, two in zip(letters, grounds, strict=True):
                assert contrast(one, two) >= 4.5, (name, ground)


class Controls(HTMLParser):
    """Controls of a page without a name, and headings in order."""

    def __init__(self):
        super().__init__()
        self.path = []
        self.unnamed = []
        self.headings = []
        self.count = 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        named = "aria-label" in attributes or "aria-labelledby" in attributes
        if tag in ("select", "input"):
            self.count += 1
            if not named and "label" not in self.path:
                self.unnamed.append((tag, attributes))
        if tag == "img" and "alt" not in attributes:
            self.unnamed.append((tag, attributes))
        if attributes.get("role") in ("img", "region", "group") and not named:
            if "id" not in attributes:
                self.unnamed.append((tag, attributes))
        if "wide" in attributes.get("class", "").split() or tag == "pre":
            assert attributes.get("tabindex") == "0", attributes
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in ("meta", "link", "img", "input", "br"):
            self.path.append(tag)

    def handle_endtag(self, tag):
        if tag in self.path:
            while self.path.pop() != tag:
                pass


def test_controls_have_names_and_scrollers_can_be_focused(committed):
    page = Controls()
    page.feed(re.sub(r"<script.*?</script>", "", committed, flags=re.S))
    assert page.count > 8
    assert page.unnamed == []
    assert page.headings[0] == 1
    for before, after in itertools.pairwise(page.headings):
        assert after <= before + 1
    assert not re.findall(r"<summary[^>]*></summary>", committed)


@pytest.fixture(scope="module")
def browse(committed, tmp_path_factory):
    """A function from a script to its `out` in the committed article."""
    folder = tmp_path_factory.mktemp("article")
    return functools.partial(browser.browse, committed, folder=folder)


@pytest.mark.slow
@browser.needed
def test_the_first_chapter_starts_in_a_browser(browse):
    found = browse("""
      out.hidden = [$("live-training").hidden, $("live-forecast").hidden];
      out.charts = $("training-learners").querySelectorAll("svg").length;
      out.compiled = COMPILED instanceof WebAssembly.Module;
      out.called = $("training-called").textContent;
      out.opens = $("sweep-called").textContent;
      const before = grey("training-v");
      change("training-down", 4, "input"); out.moved = $("training-called").textContent;
      out.drawn = grey("training-v").some((value, n) => value !== before[n]);
      $("training-bet-pooled").click();
      out.bet = $("training-bet-pooled").getAttribute("aria-pressed");
      out.across = $("training-across").value;
    """)
    assert found == {
        "hidden": [False, False],
        "charts": 3,
        "compiled": True,
        "called": "the pattern v: wave (2, 2)",
        "opens": "NAD 1000 of LeNet",
        "moved": "the pattern v: wave (4, 2)",
        "drawn": True,
        "bet": "true",
        "across": "4",
    }


@pytest.mark.slow
@browser.needed
def test_an_answer_opens_after_a_bet_and_is_kept_in_the_address(browse):
    found = browse("""
      const answer = document.querySelector("#lazy .answer");
      const buttons = [...document.querySelectorAll("#lazy .wager button")];
      const shown = () => getComputedStyle(answer).display;
      out.before = shown(); buttons[1].click(); out.after = shown();
      out.pressed = buttons.map((button) => button.getAttribute("aria-pressed"));
      out.said = document.querySelector("#lazy .wager [role=status]").textContent;
      out.hash = location.hash;
      location.hash = "#bet-waves=0&lazy-index=256&fourier-grid=3"; await wait();
      out.other = document.querySelector("#waves .answer").classList.contains("open");
      out.index = $("lazy-index-is").textContent;
      out.cell = cells("fourier-grid")[3].getAttribute("aria-selected");
      location.hash = "#order"; await wait();
      out.linked = document.querySelector("#order .answer").classList.contains("open");
    """)
    assert (found["before"], found["after"]) == ("none", "block")
    assert found["pressed"] == ["false", "true"] and found["said"]
    assert found["hash"] == "#bet-lazy=1"
    assert found["other"] and found["linked"]
    assert (found["index"], found["cell"]) == ("NAD 256", "true")


@pytest.mark.slow
@browser.needed
def test_the_bars_swap_along_the_nads(browse):
    found = browse("""
      document.querySelector("#lazy .wager button").click();
      out.rows = [];
      const slider = $("lazy-index");
      slider.focus(); change("lazy-index", 0, "input");
      for (let index = -1; index !== slider.dataset.index; press("ArrowRight")) {
        index = slider.dataset.index;
        const width = (name) => parseFloat($(`lazy-${name}-bar`).style.width);
        out.rows.push([$("lazy-index-is").textContent, width("images"), width("linear"),
          $("lazy-words").textContent]);
      }
      await wait(); out.pattern = grey("lazy-pattern").length;
    """)
    path = ROOT / build.KEPT / "image_pairs/lenet/results.csv"
    table = pd.read_csv(path).pivot(
        index="index", columns="test_set", values="accuracy"
    )
    assert [row[0] for row in found["rows"]] == [f"NAD {n}" for n in table.index]
    for (_, images, linear, words), (_, row) in zip(
        found["rows"], table.iterrows(), strict=True
    ):
        assert images == pytest.approx(100 * row["images"], abs=0.06)
        assert linear == pytest.approx(100 * row["linear"], abs=0.06)
        assert ("the photograph." in words) == (row["images"] > row["linear"] + 0.2)
    assert found["pattern"] == 32**2


@pytest.mark.slow
@browser.needed
def test_grids_have_named_headers_and_legible_cells(browse):
    found = browse("""
      document.querySelector("#lazy .wager button").click();
      const all = (role) => [...document.querySelectorAll(`[role=${role}]`)];
      out.headers = [...all("rowheader"), ...all("columnheader")]
        .map((head) => head.textContent);
      out.cells = all("gridcell").map((cell) => {
        const { color, backgroundColor } = getComputedStyle(cell);
        return [cell.getAttribute("aria-label"), cell.textContent, color, backgroundColor];
      });
      out.negative = [...document.querySelectorAll("rect")]
        .filter((rect) => +rect.getAttribute("width") < 0).length;
    """)
    assert len(found["headers"]) > 40 and all(found["headers"])
    assert found["negative"] == 0
    texts = [cell for cell in found["cells"] if cell[1]]
    assert len(texts) >= 144
    for name, text, ink, ground in texts:
        assert text in name
        one, two = (
            "#" + "".join(f"{int(n):02x}" for n in re.findall(r"\d+", colour)[:3])
            for colour in (ink, ground)
        )
        assert contrast(one, two) >= 4.5


@pytest.mark.slow
@browser.needed
def test_a_slider_is_on_the_logarithmic_axis_of_its_plot(browse):
    found = browse("""
      document.querySelector("#order .wager button").click(); await wait();
      document.querySelectorAll("#nads details").forEach((part) => (part.open = true));
      await wait();
      const middle = (line) => line.x + line.width / 2;
      const thumb = (slider) => { // of 16 pixels
        const { x, width } = slider.getBoundingClientRect();
        return x + 8 + (slider.value / slider.max) * (width - 16);
      };
      out.far = [];
      const plots = { sweep: "curve", photographs: "curve", nads: "spectrum" };
      for (const [name, plot] of Object.entries(plots))
        for (const index of [0, 50, 1000]) {
          slide(`${name}-slider`, index);
          const mark = $(`${name}-${plot}`).querySelector("[stroke='var(--mark)']");
          out.far.push(middle(mark.getBoundingClientRect()) - thumb($(`${name}-slider`)));
        }
      out.shown = $("sweep-slider-is").textContent;
      out.said = $("sweep-slider").getAttribute("aria-valuetext");
      $("nads-slider").focus(); slide("nads-slider", 7);
      press("ArrowUp"); press("ArrowUp"); press("ArrowLeft");
      out.after = $("nads-slider-is").textContent;
    """)
    assert len(found["far"]) == 9
    assert max(map(abs, found["far"])) < 1.5
    assert found["shown"] == "NAD 1000" and found["said"].startswith("NAD 1000, ")
    assert found["after"] == "NAD 8"


@pytest.mark.slow
@browser.needed
def test_every_figure_is_a_file_that_needs_no_other(browse, committed, data):
    found = browse("""
      document.querySelectorAll(".wager button").forEach((button) => button.click());
      document.querySelectorAll("#nads details").forEach((part) => (part.open = true));
      await wait();
      const files = [], names = [];
      URL.createObjectURL = (file) => (files.push(file), "blob:none");
      HTMLAnchorElement.prototype.click = function () { names.push(this.download); };
      document.querySelectorAll("[data-figure]").forEach((button) => button.click());
      out.names = names;
      out.files = await Promise.all(files.map((file) => file.text()));
      out.kinds = [...new Set(files.map((file) => file.type))];
    """)
    live = set(re.findall('class="live" id="([^"]*)"', committed))
    assert {f"{name}.svg" for name in live} < set(found["names"])
    assert found["kinds"] == ["image/svg+xml"]
    pictures = dict(zip(found["names"], found["files"], strict=True))
    for name, text in pictures.items():
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg" and len(root) > 3, name
        assert "var(" not in text and "NaN" not in text, name
        assert all(
            link.startswith("data:") for link in re.findall('href="(.*?)"', text)
        )
    pairs = ElementTree.fromstring(pictures["live-pairs.svg"])
    words = [text.text for text in pairs.iter(f"{SVG}text")]
    assert words.count("100") > 50 and "LeNet" in words
    sweep = ElementTree.fromstring(pictures["live-sweep.svg"])
    first = next(iter(data["sweep"].values()))
    assert len(list(sweep.iter(f"{SVG}circle"))) == len(first["cells"]) >= 4


def test_every_figure_links_its_table(committed):
    buttons = re.findall(r'<p class="small data">(.*?)</p>', committed, re.S)
    with_figure = [text for text in buttons if "data-figure" in text]
    names = set(re.findall('data-figure="([^"]*)"', committed))
    assert names >= set(re.findall('class="live" id="([^"]*)"', committed))
    assert len(names) >= 12
    assert all(re.search(r'href="[^"]*\.(csv|json)"', text) for text in with_figure)
