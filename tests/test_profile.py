"""The command `profile`: a network of one's own in a folder outside the repository gets its page, and a further call goes on."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from structure import ROOT

from pipeline import profile
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
    """What the command did, called by its path in a folder."""
    command = [sys.executable, str(ROOT / "pipeline" / "profile.py"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def networks_of(done):
    """Untrained networks behind a profile, trained ones, and those that were taken from before."""
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    untrained = int(re.search(r"(\d+) untrained networks", done.stdout)[1])
    return (untrained, *map(int, re.search(r"(\d+) networks trained, (\d+) taken from before", done.stdout).groups()))


@pytest.mark.slow
def test_a_network_in_any_folder_gets_its_page_and_a_further_call_goes_on(folder):
    words = ("my_networks:Small", "width=5", "--input", "2x8x8", "--minutes", "0.02")
    untrained, first, before = networks_of(run(folder, *words))
    assert untrained >= 4 and first >= 2 and before == 0
    made = folder / "profile-Small-width-5"
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".py" and path.name != "__pycache__") == [
        made.name
    ]
    page = (made / "index.html").read_text(encoding="utf-8")
    assert "What does Small (width 5) see" in page and "2×8×8" in page
    rows = pd.read_csv(made / "networks.csv")
    assert "NAD 0" in set(rows["direction"])
    with np.load(made / "directions.npz") as directions:
        assert {"NAD 0", "NAD 127"} <= set(directions)
    nads = np.load(made / "nads.npz")["directions"]
    np.testing.assert_allclose(nads @ nads.T, np.eye(128), atol=1e-6)
    # Stride 2 leaves out the last row and column: nothing there reaches the output, and the last NAD lies there.
    last = nads[-1].reshape(2, 8, 8)
    assert (last[:, 7] ** 2).sum() + (last[:, :7, 7] ** 2).sum() == pytest.approx(1, abs=1e-6)

    further, _, reused = networks_of(run(folder, *words))
    assert further >= untrained and reused >= first
    (folder / "my_parts.py").write_text(PARTS.replace("relu", "sigmoid"))
    done = run(folder, *words)
    assert "so it is begun anew" in done.stdout
    assert networks_of(done)[2] == 0


@pytest.mark.slow
def test_inputs_too_large_for_all_nads_have_the_first_and_directions_that_stand_in_for_the_last(folder):
    done = run(folder, "logreg", "side=72", "--input", "1x72x72", "--minutes", "0.02", "--output", "here")
    assert networks_of(done)[0] >= 4
    rows = pd.read_csv(folder / "here" / "networks.csv")
    assert rows["direction"].iloc[0] == "NAD 0" and (rows["direction"].iloc[-1]).startswith(("wave", "NAD"))
    page = (folder / "here" / "index.html").read_text(encoding="utf-8")
    assert "The last NADs are not known here: of 5,184 directions" in page


@pytest.mark.slow
def test_a_mistake_ends_it_with_one_sentence(folder):
    done = run(folder, "my_netwroks:Small")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith("error: the network 'my_netwroks:Small' cannot be imported")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("my_netwroks:Small",), "'my_netwroks:Small' cannot be imported"),
        (("my_networks:Smal",), "'my_networks:Smal' cannot be imported"),
        (("lenett",), "'lenett' is unknown; did you mean 'lenet'?"),
        (("my_networks:Small",), "my_networks:Small cannot be run"),
        (("my_networks:Small", "widht=5"), "takes no argument 'widht'; did you mean 'width'?"),
        (("lenet", "--input", "1x64x64"), "lenet:LeNet cannot be run"),
        (("lenet", "--input", "8x8"), "--input 8x8 is no shape"),
        (("lenet", "side"), "'side' is no argument of a network"),
    ],
)
def test_a_network_that_cannot_be_profiled_is_refused_before_any_work(folder, monkeypatch, capsys, words, said):
    """The second but last of one's own reads 8×8 pixels, and is given 32×32."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(InputError, match=re.escape(said)):
        profile.main(profile.parsed(list(words)))
    assert capsys.readouterr().out == "" and not list(folder.glob("profile-*"))


def test_the_networks_arguments_are_read_as_python_writes_them():
    read = profile.arguments_of(["hidden=[100, 20]", "width=0.125", "skip=false", "downsampling=none", "depth=4"])
    assert read == {"hidden": [100, 20], "width": 0.125, "skip": False, "downsampling": "none", "depth": 4}
    for word in ("depth", "=4", "a-b=1"):
        with pytest.raises(InputError, match="write name=value"):
            profile.arguments_of([word])


def test_a_shape_is_three_numbers():
    assert profile.shape_of("3x64x48") == profile.shape_of("3×64×48") == (3, 64, 48)
    for text in ("64", "3x64", "3x64x0", "3x64x64x1", "-3x64x64", "axbxc"):
        with pytest.raises(InputError, match="is no shape"):
            profile.shape_of(text)
    with pytest.raises(InputError, match="at most 1,000,000 values"):
        profile.shape_of("3x6400x6400")


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf"])
def test_the_time_is_positive(minutes):
    with pytest.raises(InputError, match="must be a positive number"):
        profile.parsed(["lenet", f"--minutes={minutes}"])


def test_options_may_stand_anywhere():
    given = profile.parsed(["lenet", "--input", "1x64x64", "side=64", "--minutes", "2"])
    assert (given.network, given.arguments, given.input, given.minutes) == ("lenet", ["side=64"], "1x64x64", 2)


def test_what_is_remembered_can_be_read_again_and_damage_is_said(tmp_path):
    folder = profile.Folder(tmp_path)
    assert folder.remembered() == {}
    folder.remember({"lr": None, "sizes": [1, 2, 3]})
    assert (
        folder.remembered() == json.loads((tmp_path / "profile.json").read_text()) == {"lr": None, "sizes": [1, 2, 3]}
    )
    folder.put_directions({"NAD 0": np.ones(3, np.float32)})
    assert list(folder.directions()) == ["NAD 0"]
    (tmp_path / "profile.json").write_text("{")
    with pytest.raises(InputError, match="is damaged; remove it"):
        folder.remembered()
