"""The command `profile`: networks in a folder outside the repository get their pages, and mistakes
end in a sentence."""

import re
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest
from structure import ROOT

from pipeline.nads import NADs
from pipeline.profile import __main__ as profile
from pipeline.project.errors import InputError

NETWORK = """
from torch import nn

from my_parts import squashed

class Small(nn.Module):
    def __init__(self, channels, outputs, width=6):
        super().__init__()
        self.convolution = nn.Conv2d(channels, width, 3, stride=2)
        self.head = nn.Linear(width * 9, outputs)

    def forward(self, x):
        return self.head(squashed(self.convolution(x)).flatten(1))

def lazy(channels, outputs):
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(outputs))
"""


@pytest.fixture
def folder(tmp_path):
    """A folder of somebody's own, with a network in a file that imports another one."""
    (tmp_path / "my_networks.py").write_text(NETWORK)
    (tmp_path / "my_parts.py").write_text("def squashed(x):\n    return x.relu()\n")
    return tmp_path


def ran(folder, *words):
    """The command, run in a folder by the script that `pip install` makes of it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, function = project["scripts"]["profile"].split(":")
    script = folder / "bin" / "profile"
    script.parent.mkdir()
    start = f"import sys\nsys.path.append({str(ROOT)!r})\nfrom {module} import {function}\n"
    script.write_text(f"{start}if __name__ == '__main__':\n    sys.exit({function}())\n")
    command = [sys.executable, str(script), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_networks_in_any_folder_get_a_page_each_and_one_that_compares_them(folder):
    words = ("my_networks:Small", "width=5", "logreg", "side=8", "--input", "2x8x8")
    words += ("--minutes", "0.1")
    done = ran(folder, *words)
    assert (done.returncode, done.stderr) == (0, "")
    counts = re.findall(r"([\d,]+) untrained networks.*?(\d+) networks\n", done.stdout, re.S)
    made = {path.name for path in folder.iterdir() if path.suffix != ".py"} - {"__pycache__", "bin"}
    assert made == {"profile-Small-width-5-LogReg-8-8"}
    profiled = folder / made.pop()
    compared = (profiled / "index.html").read_text(encoding="utf-8")
    assert "What does one of Small (width 5) and LogReg, 8×8 see" in compared
    assert f"<pre>python -m pipeline.profile {' '.join(words)}</pre>" in compared
    estimands = set()
    for name, (untrained, trained) in zip(("Small-width-5", "LogReg-8-8"), counts, strict=True):
        assert f'<a href="{name}/index.html">' in compared
        own = (profiled / name / "index.html").read_text(encoding="utf-8")
        assert f"from {untrained} untrained networks" in own and "2×8×8" in own
        rows = pd.read_csv(profiled / name / "networks.csv")
        assert len(rows) == int(trained) >= 2
        assert {"NAD 0", "NAD 127"} <= set(rows["direction"])
        nads = NADs.load(profiled / name / "nads.npz")
        assert nads.networks == int(untrained.replace(",", "")) >= 4
        estimands.add(nads.estimand)
        np.testing.assert_allclose(nads.directions @ nads.directions.T, np.eye(128), atol=1e-6)
    assert len(estimands) == 1
    # Stride 2 leaves out the last row and column: nothing there reaches the output, and the last
    # NAD lies there.
    last = NADs.load(profiled / "Small-width-5" / "nads.npz").directions[-1].reshape(2, 8, 8)
    assert (last[:, 7] ** 2).sum() + (last[:, :7, 7] ** 2).sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("width=2", "lenet"), "the network 'width=2' is unknown"),
        (("lenet", "2side=8"), "got an unexpected keyword argument '2side'"),
        (("logreg", "my_networks:Small"), "my_networks:Small: forward pass"),  # reads 8×8 pixels
        (("my_networks:lazy",), "1.weight"),
    ],
)
def test_a_network_that_cannot_be_profiled_is_refused_before_any_work(
    folder, monkeypatch, capsys, words, sentence
):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(InputError, match=re.escape(sentence)):
        profile.main(profile.parsed(list(words)))
    assert capsys.readouterr().out == "" and not list(folder.glob("profile-*"))


def test_arguments_belong_to_the_network_before_them_and_names_are_apart():
    words = ["old:Net", "depth=4", "lenet", "new:Net", "depth=4"]
    words += ["new:Net", "hidden=[100, 20]", "width=0.125", "skip=false", "scale=1e-6"]
    values = {"hidden": [100, 20], "width": 0.125, "skip": False, "scale": 1e-6}
    *first, (_, last) = profile.named(words).items()
    assert first == [
        ("Net (depth 4) of old", {"network": "old:Net", "depth": 4}),
        ("LeNet", {"network": "pipeline.networks.lenet:LeNet"}),
        ("Net (depth 4) of new", {"network": "new:Net", "depth": 4}),
    ]
    assert last == {"network": "new:Net"} | values, "as in params.yaml"
