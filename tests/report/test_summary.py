"""reports/metrics.json, of the committed metrics of the laptop run and NADs of a small one."""

import json

from structure import ROOT

from pipeline.project import artifacts
from pipeline.report import summary


def test_the_summary_has_a_dozen_numbers_of_lenet(whole, monkeypatch):
    committed = lambda name, file="metrics.json": json.loads(
        (ROOT / "reports" / name / file).read_text()
    )
    monkeypatch.setattr(artifacts, "evaluated", committed)
    run = type("Run", (), {"nads": {"lenet": whole.nads["a"]}, "experiments": whole.experiments})
    numbers = summary.summary(run)
    assert {"colours", *numbers} == {"nads", *whole.experiments}, "it trains no LeNet of grey"
    assert sum(map(len, numbers.values())) == 12
    assert numbers["nads"] == {"first_singular_value": 200.0, "relative_error": 0.1}
    assert numbers == committed("") | {"nads": numbers["nads"]}


def test_what_is_not_of_lenet_is_left_out(whole):
    assert summary.summary(whole) == {}
