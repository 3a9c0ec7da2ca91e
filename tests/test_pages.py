"""The pages that are made of the kept runs are as they are made."""

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


def test_a_recipe_names_what_differs_from_plain_sgd():
    sgd = {"epochs": 20, "lr": 0.5, "momentum": 0.0, "precision": "float32"}
    assert pages.recipe(sgd) == "20 epochs, SGD, rate 0.5"
    other = sgd | {"momentum": 0.9, "precision": "bfloat16", "optimiser": "adamw", "lr": 1e-3}
    assert pages.recipe(other) == "20 epochs, AdamW, rate 0.001, bfloat16"
