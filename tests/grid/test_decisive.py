"""A cell's key covers all of our code that training and testing the cell reach."""

import sys
from pathlib import Path

import pytest
import torch
from small_grids import SMALL, data_of, nads_of, orthonormal, plan_of

from pipeline import experiments
from pipeline.grid import jobs
from pipeline.machine import code

HANDS_OVER = {
    "grid/data.py",
    "grid/jobs.py",
    "networks/registry.py",
    "networks/arguments.py",
    "project/errors.py",
}
"""Files that are run too, and only hand arguments on: they find the network's class,
put draws and directions into the experiment's functions, and refuse arguments and
edited files."""


@pytest.mark.parametrize("name", experiments.names())
def test_what_trains_a_cell_reaches_no_file_that_its_key_leaves_out(name, images):
    settings, grid = SMALL[name]
    experiment = experiments.find(name)
    plan = plan_of(name, settings, {"lenet": grid}, seeds=(0,), samples=(20, 8))
    vectors = experiment.directions(plan, nads_of({"secant": orthonormal()}))
    data = data_of(name, {0: experiment.draw_base_noise(plan, 0, images)}, vectors)
    data.outputs = experiment.outputs or 4
    cells = experiment.cells(plan)
    job = next(jobs.of_cells(plan, data, cells, torch.device("cpu")))
    jobs.train_cell(data, job)  # what is imported on the way would be slow below
    reached = set()

    def note(frame, event, _):
        if event == "call":
            reached.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        jobs.train_cell(data, job)
    finally:
        sys.setprofile(None)
    ours = {Path(file) for file in reached if file.startswith(f"{code.PACKAGE}/")}
    decisive = set(jobs.decisive_files(type(experiment), job.specification["network"]))
    handing_over = {code.PACKAGE / file for file in HANDS_OVER}
    assert ours - decisive <= handing_over, ours - decisive - handing_over
    assert code.PACKAGE / "training/loop.py" in ours & decisive
    assert not decisive & set(code.files_of("report") + code.files_of("measures")), (
        "metrics and legends"
    )


def test_an_edit_changes_the_digest_and_its_layout_comments_and_docstrings_do_not(
    tmp_path,
):
    source = 'def f(x: int) -> int:\n    """Twice x."""\n    return 2 * x  # twice\n'
    same = "def f(x):\n\n    # another comment\n    return (2 *\n        x)\n"
    other = source.replace("2 *", "3 *")
    digests = []
    for number, text in enumerate((source, same, other)):
        path = tmp_path / f"{number}.py"
        path.write_text(text)
        digests.append(code.digest([path]))
    assert digests[0] == digests[1] != digests[2]


def test_cells_import_torch_and_numpy_alone():
    allowed = {"numpy", "torch", "pipeline", *sys.stdlib_module_names}
    for file in code.files_of("training"):
        for line in file.read_text().splitlines():
            if line.startswith(("import ", "from ")):
                module = line.split()[1]
                assert module.partition(".")[0] in allowed, f"{file}: {line}"
                assert not module.startswith("pipeline") or module.startswith(
                    "pipeline.training"
                )
