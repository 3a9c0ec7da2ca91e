"""The fast half of the campaign: every case ends right, or in one sentence; and the campaign itself can tell when one does not."""

import pytest

from tests.faults.__main__ import LISTS, cases_of, table, warm
from tests.faults.cases import GOOD, Case, Outcome, Run, Stages, Verdict, tried, verdict


@pytest.fixture(scope="module")
def stages():
    with Stages() as started:
        warm(started)
        yield started


def fast(name):
    """The cases of a list that are no slow ones, each a test."""
    return [pytest.param(case, id=f"{case.group}: {ascii(case.name)}") for case in cases_of(name, fast=True)]


def check(case, stages):
    """Assert that a case ends as it must."""
    outcome = tried(case, stages)
    assert outcome.verdict in [good.value for good in GOOD], outcome


@pytest.mark.parametrize("case", fast("params"))
def test_params(case, stages):
    check(case, stages)


@pytest.mark.parametrize("case", [*fast("folders"), *fast("archives")])
def test_images_and_archives(case, stages):
    check(case, stages)


@pytest.mark.parametrize("case", fast("downloads"))
def test_downloads(case, stages):
    check(case, stages)


@pytest.mark.slow
@pytest.mark.parametrize("case", fast("networks"))
def test_networks_and_nads_of_ones_own(case, stages):
    check(case, stages)


@pytest.mark.slow
@pytest.mark.parametrize("case", [*fast("stored"), *fast("changes")])
def test_what_lies_on_disk(case, stages):
    check(case, stages)


def test_there_are_as_many_cases_as_are_promised():
    assert len(cases_of("params", fast=True)) >= 400
    assert sum(len(cases_of(name, fast=False)) for name in LISTS) > 1000


SENTENCE = "error: params.yaml: seed must be a whole number, not 'x'\n"
TRACE = "Traceback (most recent call last):\n  ...\nKeyError: 'x'\n"


@pytest.mark.parametrize(
    ("code", "err", "hung", "case", "expected"),
    [
        (0, "", False, {"right": lambda *_: True}, Verdict.RIGHT),
        (0, "", False, {"right": lambda *_: False}, Verdict.SILENT),
        (0, "", False, {}, Verdict.SILENT),
        (0, SENTENCE, False, {}, Verdict.SILENT),
        (1, SENTENCE, False, {}, Verdict.SENTENCE),
        (1, SENTENCE + SENTENCE, False, {}, Verdict.SENTENCE),
        (1, "notice: x\n" + SENTENCE, False, {}, Verdict.SENTENCE),
        (1, SENTENCE, False, {"says": "sigma"}, Verdict.MISLEADS),
        (1, SENTENCE, False, {"right": lambda *_: True, "refusable": False}, Verdict.MISLEADS),
        (1, SENTENCE + "and more\n", False, {}, Verdict.MISLEADS),
        (1, "error: a\x1b[31m\n", False, {}, Verdict.MISLEADS),
        (1, "", False, {}, Verdict.MISLEADS),
        (2, SENTENCE, False, {}, Verdict.MISLEADS),
        (1, TRACE, False, {}, Verdict.TRACEBACK),
        (1, SENTENCE + TRACE, False, {}, Verdict.TRACEBACK),
        (-11, "", False, {}, Verdict.TRACEBACK),
        (-9, "", True, {"right": lambda *_: True}, Verdict.HANG),
    ],
)
def test_the_verdict(code, err, hung, case, expected, tmp_path):
    found = verdict(Case(1, "x", None, **case), Run(code, "", err, hung, 0.0), tmp_path)
    assert found is expected


def test_the_table_counts():
    found = [Outcome(4, "a", "silent", 0, 0.1, ""), Outcome(4, "b", "one sentence", 1, 0.1, "")]
    found += [Outcome(8, "c", "hang", -9, 0.1, "")]
    lines = table(found).splitlines()
    assert lines[0] == "| group | cases | right result | one sentence | silent | hang | traceback | misleads |"
    assert lines[2:] == [
        "| 4: YAML | 2 | 0 | 1 | 1 | 0 | 0 | 0 |",
        "| 8: downloads | 1 | 0 | 0 | 0 | 1 | 0 | 0 |",
        "| all | 3 | 0 | 1 | 1 | 1 | 0 | 0 |",
    ]


def test_what_was_found_before_is_found_by_the_campaign(stages, tmp_path):
    """A stage that hangs, one with a traceback, and one that says all is well, from the outside."""
    for text, expected in (
        ("import time\ntime.sleep(60)", Verdict.HANG),
        ("1 / 0", Verdict.TRACEBACK),
        ("import os\nos.abort()", Verdict.TRACEBACK),
        ("pass", Verdict.SILENT),
        ("import sys\nsys.exit('error: it is wrong')", Verdict.SENTENCE),
    ):
        (tmp_path / "faulty.py").write_text(text)
        case = Case(1, "x", None)
        run = stages.run("faulty", folder=tmp_path, package="", limit=1.0)
        assert verdict(case, run, tmp_path) is expected, text
