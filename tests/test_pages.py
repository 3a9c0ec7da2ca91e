"""The pages that are made of the kept runs are as they are made."""

from structure import ROOT

from studies import pages


def test_the_pages_are_as_made(monkeypatch):
    monkeypatch.chdir(ROOT)
    for page, text in pages.pages().items():
        assert page.read_text(encoding="utf-8") == text, (
            f"{page} is older than what it is made of; `python -m studies.pages` makes it again"
        )
