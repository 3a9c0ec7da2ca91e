"""The command `profile`: a network of one's own in a folder outside the repository gets its page,
and a further call goes on."""

import re
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest
from structure import ROOT

from pipeline.profile import __main__ as profile
from pipeline.profile.response import Response
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


class Bare(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 2)

    def forward(self, x):
        return self.head(x.flatten(1))
"""

PARTS = """
def squashed(x):
    return x.relu()
"""


@pytest.fixture
def folder(tmp_path):
    """A folder of somebody's own, with a network in a file that imports another one."""
    (tmp_path / "my_networks.py").write_text(NETWORK)
    (tmp_path / "my_parts.py").write_text(PARTS)
    return tmp_path


def run(folder, *words):
    """What the command did, called in a folder by the script that `pip install` makes of it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, function = project["scripts"]["profile"].split(":")
    script = folder / "bin" / "profile"
    script.parent.mkdir(exist_ok=True)
    start = f"import sys\nsys.path.append({str(ROOT)!r})\nfrom {module} import {function}\n"
    script.write_text(f"{start}if __name__ == '__main__':\n    sys.exit({function}())\n")
    command = [sys.executable, str(script), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def networks_of(done):
    """The numbers of untrained networks behind a profile, and of trained ones."""
    assert (done.returncode, done.stderr) == (0, "")
    counts = r"(\d+) untrained networks.*?(\d+) networks\n"
    return tuple(map(int, re.search(counts, done.stdout, re.S).groups()))


@pytest.mark.slow
def test_a_network_in_any_folder_gets_its_page_and_a_further_call_goes_on(folder):
    words = ("my_networks:Small", "width=5", "--input", "2x8x8", "--minutes", "0.02")
    untrained, trained = networks_of(run(folder, *words))
    assert untrained >= 4 and trained >= 2
    made = {path.name for path in folder.iterdir() if path.suffix != ".py"} - {"__pycache__", "bin"}
    assert made == {"profile-Small-width-5"}
    profiled = folder / "profile-Small-width-5"
    page = (profiled / "index.html").read_text(encoding="utf-8")
    assert "What does Small (width 5) see" in page and "2×8×8" in page
    assert f"<pre>python -m pipeline.profile {' '.join(words)}</pre>" in page
    assert "NAD 0" in set(pd.read_csv(profiled / "networks.csv")["direction"])
    nads = np.load(profiled / "nads.npz")["directions"]
    np.testing.assert_allclose(nads @ nads.T, np.eye(128), atol=1e-6)
    # Stride 2 leaves out the last row and column: nothing there reaches the output, and the last
    # NAD lies there.
    last = nads[-1].reshape(2, 8, 8)
    assert (last[:, 7] ** 2).sum() + (last[:, :7, 7] ** 2).sum() == pytest.approx(1, abs=1e-6)

    further, total = networks_of(run(folder, *words))
    assert further >= untrained and total >= trained
    kept = list((profiled / ".cells").rglob("*.safetensors"))
    (folder / "my_parts.py").write_text(PARTS.replace("relu", "sigmoid"))
    _, total = networks_of(run(folder, *words))
    # Nothing of the other network is used: directions, sums and networks are kept beside it.
    assert len(list((profiled / ".cells").rglob("*.safetensors"))) == len(kept) + 2 + total


@pytest.mark.slow
def test_several_networks_have_a_page_each_and_one_that_compares_them(folder):
    words = ("my_networks:Small", "logreg", "side=8", "my_networks:Small", "width=2")
    words += ("--input", "1x8x8", "--minutes", "0.02", "--output", "here")
    names = ["Small", "LogReg-8-8", "Small-width-2"]
    calls = [run(folder, *words) for _ in range(2)]
    assert [(done.returncode, done.stderr) for done in calls] == [(0, "")] * 2
    pattern = r"(\d+) untrained networks.*?(\d+) networks\n"
    first, second = (re.findall(pattern, done.stdout, re.S) for done in calls)
    assert len(first) == 3 and all(int(untrained) >= 4 for untrained, _ in first)
    # Each goes on from its own folder.
    assert all(
        int(b) >= int(a) for before, after in zip(first, second) for a, b in zip(before, after)
    )
    assert {path.name for path in (folder / "here").iterdir()} == {"index.html", *names}
    page = (folder / "here" / "index.html").read_text(encoding="utf-8")
    for name in names:
        assert f'<a href="{name}/index.html">' in page
        own = np.load(folder / "here" / name / "nads.npz")
        assert own["directions"].shape == (64, 64)
    estimands = {str(np.load(path)["estimand"]) for path in (folder / "here").rglob("nads.npz")}
    assert len(estimands) == 1
    assert page.count('<p class="finding">') == 6 and "LogReg, 8×8 responds at least" in page


@pytest.mark.slow
def test_inputs_too_large_for_all_nads_have_the_first(folder):
    words = ("logreg", "side=72", "--input", "1x72x72", "--minutes", "0.02", "--output", "here")
    assert networks_of(run(folder, *words))[0] >= 4
    page = (folder / "here" / "index.html").read_text(encoding="utf-8")
    assert "The last NADs are not known here: of 5,184 directions" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("lenett",), "'lenett' is unknown; did you mean 'lenet'?"),
        (("my_networks:Small",), "my_networks:Small cannot be run"),  # reads 8×8 pixels
        (("my_networks:Bare",), "is called with the numbers of input channels and of outputs"),
        (("lenet", "--input", "8x8"), "--input 8x8 is no shape"),
        (("lenet", "2side=8"), "'2side=8' is no argument of a network"),
        (("width=2", "lenet"), "'width=2' is no argument of a network"),
        (("lenet", "mpl", "logreg"), "'mpl' is unknown; did you mean 'mlp'?"),
        (("logreg", "my_networks:Small"), "my_networks:Small cannot be run"),
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


def test_the_networks_arguments_are_read_as_in_params_yaml():
    words = ["hidden=[100, 20]", "width=0.125", "skip=false", "downsampling=none"]
    values = {"hidden": [100, 20], "width": 0.125, "skip": False, "downsampling": "none"}
    (specification,) = profile.named(["my:Net", *words]).values()
    assert specification == {"network": "my:Net"} | values


def test_arguments_belong_to_the_network_before_them_and_names_are_apart():
    words = ["old:Net", "depth=4", "lenet", "new:Net", "depth=4", "new:Net", "depth=3"]
    assert list(profile.named(words).items()) == [
        ("Net (depth 4) of old", {"network": "old:Net", "depth": 4}),
        ("LeNet", {"network": "pipeline.networks.lenet:LeNet"}),
        ("Net (depth 4) of new", {"network": "new:Net", "depth": 4}),
        ("Net (depth 3)", {"network": "new:Net", "depth": 3}),
    ]


def test_a_shape_is_three_numbers():
    assert profile.shape_of("3x64x48") == profile.shape_of("3×64×48") == (3, 64, 48)
    for text in ("3x64x0", "3x64x64x1", "-3x64x64"):
        with pytest.raises(InputError, match="is no shape"):
            profile.shape_of(text)


def test_where_the_last_nads_are_not_known_the_weakest_wave_stands_in():
    class NADs:
        directions = np.eye(64)[:20]

    some = Response(np.eye(64)[:32], np.ones(32), (1, 8, 8))
    names = list(profile.chosen(NADs, some))
    assert names[0] == "NAD 0" and names[1].startswith("wave (")
    assert "NAD 19" in names
    NADs.directions = np.eye(64)
    assert all(name.startswith("NAD") for name in profile.chosen(NADs, some))
