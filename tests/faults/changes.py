"""What was changed since it was used: a file of NADs, and the code of a network of one's own, near and far (group 6).

Right are the bytes of a repository in which it was so from the beginning: nothing that was kept is taken for what it no longer is.
"""

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.faults.cases import Case, Run, Stages
from tests.faults.repository import changed, lay_down, stage
from tests.faults.stored import DOCUMENT, MADE, contents, words

NETWORK = """\
from torch import nn
import helpers

class Net(nn.Sequential):
    def __init__(self, channels, outputs):
        super().__init__(nn.Flatten(), nn.Linear(channels * 1024, helpers.width()), nn.ReLU(), nn.Linear(helpers.width(), outputs))
"""
HELPERS = """\
SIZE = 4

def width():
    return SIZE
"""
NADS = np.eye(1024)
EDITS = {
    "a file of NADs, other directions": ("mine.npy", NADS[::-1]),
    "a file of NADs, one of them turned round": ("mine.npy", NADS * np.where(np.arange(1024) == 1, -1, 1)[:, None]),
    "the network's class": ("own.py", NETWORK.replace("nn.ReLU()", "nn.Tanh()")),
    "a function that it calls in another module": ("helpers.py", HELPERS.replace("return SIZE", "return SIZE + 1")),
    "a constant of that": ("helpers.py", HELPERS.replace("SIZE = 4", "SIZE = 5")),
    "a comment": ("helpers.py", HELPERS + "# of the hidden layer\n"),
}
"""What is changed: the file, and what it then holds."""

BEFORE = {"mine.npy": NADS, "own.py": NETWORK, "helpers.py": HELPERS}
PLANNED = changed(DOCUMENT, "architectures/mine", {"network": "own:Net"})
PLANNED = changed(PLANNED, "scales/smoke/nads", {"lenet": 4, "mine": {"file": "mine.npy"}})
PLANNED = changed(PLANNED, "scales/smoke/linear_pairs/networks", {"mine": {"indices": [1]}})


def _written(folder: Path, files: dict[str, str | np.ndarray]) -> None:
    for name, content in files.items():
        np.save(folder / name, content) if isinstance(content, np.ndarray) else (folder / name).write_text(content)


def _run(stages: Stages, folder: Path) -> Run:
    """All stages up to training, in order; the first that fails, or the last."""
    for name in ("plan", "estimate", "generate", "train"):
        if (run := stage(stages, name, folder, *words(name))).code:
            break
    return run


@functools.cache
def _afresh(stages: Stages, title: str) -> dict[str, bytes]:
    """The networks of a repository in which everything was from the beginning as it is after an edit."""
    folder = Path(stages.folder.name) / f"afresh, {title}"
    folder.mkdir()
    _written(lay_down(folder, PLANNED), BEFORE | dict([EDITS[title]]))
    assert (run := _run(stages, folder)).code == 0, run.err
    return contents(folder / MADE["train"])


def cases() -> Iterator[Case]:
    """All of them, each after a run with everything as it was before."""
    for title, edit in EDITS.items():
        held = []

        def action(stages: Stages, folder: Path, edit=edit, held=held) -> Run:
            held[:] = [stages]
            _written(lay_down(folder, PLANNED), BEFORE)
            assert (run := _run(stages, folder)).code == 0, run.err
            _written(folder, dict([edit]))
            return _run(stages, folder)

        right = lambda folder, _, title=title, held=held: contents(folder / MADE["train"]) == _afresh(held[0], title)
        yield Case(6, title, action, right, refusable=False, slow=title not in ("a constant of that",))
