"""A network of one's own, some of it linked from elsewhere, through DVC: every edit of it is seen,
and trains its cells again and no others."""

import re

import pytest
import yaml
from test_repro import Copy, ran

pytestmark = pytest.mark.slow

NETWORK = '''"""A small network for inputs of any size."""
from pathlib import Path

from torch import nn

from parts import activation

FIELDS = float(Path(__file__).with_name("fields.txt").read_text())


def net(channels, outputs):
    """One convolution, and the means of some fields."""
    layers = nn.Conv2d(channels, 8, 3), activation(), nn.AdaptiveAvgPool2d(int(FIELDS))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(8 * int(FIELDS) ** 2, outputs))
'''
PARTS = {
    "__init__.py": "try:\n    from parts.fast import activation\nexcept ImportError:\n"
    "    from parts.slow import activation\n",
    "slow.py": "from torch.nn import ReLU as activation\n",
    "unused.py": "",
}
TARGET = "train@linear_pairs"


def prepare(copy):
    """The network in own/, links to its parts, and its lines in params.yaml."""
    research = copy.root.parent / "research/parts"
    research.mkdir(parents=True)
    (copy.root / "own/parts").mkdir()
    for name, text in PARTS.items():
        (research / name).write_text(text)
        (copy.root / "own/parts" / name).symlink_to(research / name)
    copy.write("own/own_net.py", NETWORK)
    copy.write("own/fields.txt", "4")
    document = yaml.safe_load(copy.read("params.yaml"))
    document["architectures"]["mine"] = {"network": "own_net:net", "input": [24, 16]}
    smoke = document["scales"]["smoke"]
    smoke["nads"] |= {"mine": 4}
    smoke["linear_pairs"]["networks"] = {"mine": {"indices": [383]}, "lenet": {"indices": [1]}}
    copy.write("params.yaml", yaml.safe_dump(document, sort_keys=False))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A copy of the repository in which a network of one's own has gone through an experiment."""
    return Copy(tmp_path_factory.mktemp("own") / "repository", prepare, [TARGET])


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [("own/fields.txt", "4", "2"), ("../research/parts/slow.py", "ReLU as", "Tanh as")],
    ids=["a file that it reads", "a linked module that it imports under try"],
)
def test_an_edit_is_seen_and_trains_its_cells_and_no_others(path, old, new, own):
    assert "up to date" in own.dvc("status", TARGET)
    with own.edited(path, old, new):
        assert re.search(r"modified: +own", own.dvc("status", "plan"))
        output = own.dvc("repro", TARGET)
        assert ran(output)[:2] == ["plan", "estimate"] and ran(output)[-1] == TARGET
        assert "linear_pairs: 1 cells trained, 1 reused" in output
    assert ran(own.dvc("repro", TARGET)) == [], "going back is a run of the past"


def test_an_edit_of_what_it_does_not_read_runs_the_plan_alone(own):
    own.write("../research/parts/unused.py", "A = 1\n")
    assert ran(own.dvc("repro", TARGET)) == ["plan"]
