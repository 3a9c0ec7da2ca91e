"""The tables of published values beside ours say what the committed files do."""

import shutil

import pandas as pd
import pytest
import yaml
from structure import ROOT

from benchmarks import fidelity
from pipeline.project.errors import InputError

PAGES = (fidelity.README, fidelity.PAGE)


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The claims, the pages and the tables that they rest on, in a folder of their own."""
    files = {value["file"] for claim in claims() for value in claim["values"]}
    for path in (fidelity.CLAIMS, *PAGES, *(fidelity.REPORTS / file for file in files)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def claims():
    return yaml.safe_load((ROOT / fidelity.CLAIMS).read_text(encoding="utf-8"))


def test_the_committed_tables_are_those_of_the_committed_reports(copied):
    fidelity.main()
    for page in PAGES:
        assert page.read_text(encoding="utf-8") == (ROOT / page).read_text(encoding="utf-8"), (
            f"{page} is older than reports/; `python -m benchmarks.fidelity` makes it again"
        )


def test_a_value_is_the_mean_of_its_rows_with_their_spread_and_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fidelity.REPORTS.mkdir()
    table = pd.DataFrame({"k": [1, 1, 2], "accuracy": [0.5, 0.7, 0.9], "tilt": [1.0, 2.0, 9.0]})
    table.to_csv(fidelity.REPORTS / "t.csv", index=False)
    value = {"of": "k", "file": "t.csv", "where": {"k": 1}, "published": 62}
    assert fidelity.row(value) == ["k", "62", "60.0 ± 14.1", "2"]
    assert fidelity.row(value | {"column": "tilt", "range": True})[2:] == ["1.0 to 2.0", "2"]
    more = value | {"of": "k = 2", "where": {"k": 2}}
    assert fidelity.row(more | {"range": True, "digits": 0})[2:] == ["90", "1"]
    claim = {"figure": "f", "shows": "s", "agrees": "yes", "values": [value | {"readme": True}]}
    assert fidelity.for_readme([claim])[-1] == "f | s: k | 62 | 60.0 ± 14.1 | 2, laptop | yes"
    claim["values"].append(more | {"readme": True})
    assert fidelity.for_readme([claim])[-1] == (
        "f | s: k; k = 2 | 62; 62 | 60.0 ± 14.1; 90.0 | 2; 1, laptop | yes"
    )
    with pytest.raises(InputError, match="has no row where {'k': 3}"):
        fidelity.row(value | {"where": {"k": 3}})
