"""The tables of published values beside ours say what the committed files do."""

import shutil

import pytest
import yaml
from structure import ROOT

from benchmarks import fidelity

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
