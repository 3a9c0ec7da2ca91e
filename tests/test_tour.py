"""The program of docs/tour.ipynb, run as plain Python, and the outputs that stand in
it."""

import json

import matplotlib
import pytest
from structure import ROOT

CELLS = json.loads((ROOT / "docs" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
PROGRAM = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def test_the_tour_was_committed_as_it_ran_from_its_first_cell_to_its_last():
    cells = [cell for cell in CELLS if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert all(output["output_type"] != "error" for output in outputs)
    assert sum("image/png" in output.get("data", ()) for output in outputs) == 3


@pytest.mark.slow
def test_the_program_of_the_tour_runs(capsys):
    """With fewer networks and samples, which are most of its time."""
    program = "\n".join(PROGRAM)
    for whole, part in (
        ("NETWORKS = 32", "NETWORKS = 2"),
        ("SAMPLES = 4000", "SAMPLES = 128"),
    ):
        assert program.count(whole) == 1
        program = program.replace(whole, part)
    with matplotlib.rc_context({"backend": "agg"}):
        exec(compile(program, "docs/tour.ipynb", "exec"), {"__name__": "tour"})
        matplotlib.pyplot.close("all")
    printed = capsys.readouterr().out
    assert "from 2 untrained networks" in printed and "custom network 1000" in printed
