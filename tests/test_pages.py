"""The pages that are made of the kept runs are as they are made."""

import re

import pytest
from structure import ROOT

from studies import pages


@pytest.fixture(autouse=True)
def root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_pages_are_as_made():
    for page, text in pages.pages().items():
        assert page.read_text(encoding="utf-8") == text, (
            f"{page} is older than what it is made of; `python -m studies.pages` makes it again"
        )


def test_a_cell_of_the_readmes_table_is_read_at_a_glance():
    table = pages.README.read_text(encoding="utf-8").partition(pages.MARKS[0])[2]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| paper")]
    assert max(len(cell.strip("| ")) for row in rows for cell in row) <= 40
    verdicts = {re.match("yes|in shape|no$|.*not tried$", row[-1].strip("| ")) for row in rows}
    assert None not in verdicts and {len(row) for row in rows} == {5}


def test_a_recipe_names_what_differs_from_plain_sgd():
    sgd = {"epochs": 20, "lr": 0.5, "momentum": 0.0, "precision": "float32"}
    assert pages.recipe(sgd) == "20 epochs, SGD, rate 0.5"
    other = sgd | {"momentum": 0.9, "precision": "bfloat16", "optimiser": "adamw", "lr": 1e-3}
    assert pages.recipe(other) == "20 epochs, AdamW, rate 0.001, bfloat16"
