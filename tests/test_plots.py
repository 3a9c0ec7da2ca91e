"""The page of `dvc plots show` and `dvc plots diff` without network, where Vega cannot be
fetched."""

import html
import json
import re
import shutil
import subprocess

import pytest
from dvc_render.html import HTML
from structure import ROOT

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PLOTS = ROOT / ".dvc" / "plots"
FILLED = {
    "DATA": "[]",
    "TITLE": "Accuracies",
    "X": "second",
    "Y": "first",
    "X_LABEL": "v2",
    "Y_LABEL": "v1",
}


def heat_map(rows):
    """The heat map's template as DVC fills it, with rows of a table."""
    text = (PLOTS / "heatmap.json").read_text()
    for anchor, value in FILLED.items():
        text = text.replace(f"<DVC_METRIC_{anchor}>", value)
    return json.loads(text) | {"data": {"values": rows}}


def row(first, second, accuracy, rev="workspace", architecture="net", test_set="all"):
    """A row of results.csv as DVC passes it on: everything is text."""
    place = {"first": str(first), "second": str(second), "accuracy": str(accuracy), "rev": rev}
    return place | {"architecture": architecture, "test_set": test_set}


def test_two_commits_stand_in_panels_of_their_own():
    spec = heat_map([])
    (run,) = [step for step in spec["transform"] if step["as"] == spec["facet"]["row"]["field"]]
    assert "datum.architecture" in run["calculate"] and "datum.rev" in run["calculate"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (apt-get install chromium)")
def test_without_network_heat_maps_are_tables_of_means_per_commit(tmp_path):
    rows = [row(1000, 1, 0.5), row(1, 1000, 0.75), row(1, 1000, 0.85), row(1, 1, 1.0)]
    rows.append(row(1, 1, 0.6, rev="HEAD"))
    page = HTML((PLOTS / "page.html").read_text())
    page.with_scripts('<script src="http://127.0.0.1:9/vega.js"></script>')
    page.with_element(
        f'<div id="map"></div><script>vegaEmbed("#map", {json.dumps(heat_map(rows))})</script>'
    )
    other = '{"title": "A curve", "data": {}}'
    page.with_element(f'<div id="other"></div><script>vegaEmbed("#other", {other})</script>')
    (tmp_path / "index.html").write_text(page.embed())
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path}/profile", (tmp_path / "index.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    document = done.stdout
    body = html.unescape(document[document.index("<body>") :])
    found = {
        re.search("<caption>(.*?)</caption>", table)[1]: re.findall(
            r"<t[hd][^>]*>(.*?)</t[hd]>", table
        )
        for table in re.findall("<table>(.*?)</table>", body, re.S)
    }
    here = ["first ↓ second →", "1", "1000", "1", "100.0", "80.0", "1000", "50.0", ""]
    head = ["first ↓ second →", "1", "1", "60.0"]
    assert found == {"net · all · workspace": here, "net · all · HEAD": head}
    assert "This plot is drawn by Vega, which the network would bring." in body
