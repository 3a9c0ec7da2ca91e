"""The command `profile` in a folder outside the repository: its page, its cache, and
mistakes."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib

import pandas as pd
import pytest
import safetensors.torch
from refusals import refused
from small_images import class_folders
from structure import ROOT

from pipeline import networks
from pipeline.profile import __main__ as profile

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
    """A folder of somebody's own, with a network in a file that imports another one,
    and a package of the name of ours."""
    (tmp_path / "my_networks.py").write_text(NETWORK)
    (tmp_path / "my_parts.py").write_text("def squashed(x):\n    return x.relu()\n")
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline/__init__.py").write_text("")
    return tmp_path


def start(folder, *words):
    """Start the command in a folder by the script that `pip install` makes of it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    module, function = settings["project"]["scripts"]["profile"].split(":")
    script = folder / "bin" / "profile"
    script.parent.mkdir(exist_ok=True)
    lines = (
        "import sys",
        f"sys.path.append({str(ROOT)!r})",
        f"from {module} import {function}",
        "if __name__ == '__main__':",
        f"    sys.exit({function}())",
    )
    script.write_text("\n".join(lines) + "\n")
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("DVC_ROOT", None)
    return subprocess.Popen(
        [sys.executable, str(script), *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_stopped_command_resumes_in_any_folder(folder):
    words = ("my_networks:Small", "width=5", "logreg", "side=8", "--input", "2x8x8")
    words += ("--minutes", "0.5", "--output", "page")
    command = start(folder, *words)
    cache = folder / "cache/neural-anisotropy/.cells"
    deadline = time.monotonic() + 300
    while len(list(cache.glob("*/*"))) < 6 and time.monotonic() < deadline:
        time.sleep(0.05)
    command.send_signal(signal.SIGTERM)
    _, errors = command.communicate()
    assert command.returncode == 130
    assert "cache/neural-anisotropy/.cells" in errors
    before = {path: path.stat().st_mtime_ns for path in cache.glob("*/*")}

    command = start(folder, *words)
    output, errors = command.communicate()
    assert command.returncode == 0
    assert errors == ""
    # The cache also has the NADs of two networks.
    assert f"cached: {len(before) - 2}\n" in output
    assert {path: path.stat().st_mtime_ns for path in before} == before
    page, *trust = output.splitlines()[-3:]
    assert page == "page/index.html"
    assert [re.match(r"\w+", line)[0] for line in trust] == ["Small", "LogReg"]
    results = pd.read_csv(folder / "page/results.csv")
    assert results["architecture"].nunique() == 2
    assert results["index"].max() == 127
    names = {path.name for path in folder.iterdir() if path.suffix != ".py"}
    assert names - {"__pycache__"} == {"page", "pipeline", "cache", "bin"}


@pytest.mark.slow
def test_a_trained_network_has_a_part_of_the_page(folder):
    images = class_folders(folder / "mine", size=(8, 8))
    state = networks.build(
        networks.specification({"network": "logreg", "side": 8}), 1, 3, 0
    )
    safetensors.torch.save_file(state.state_dict(), folder / "net.safetensors")
    words = ("logreg", "side=8", "--input", "1x8x8", "--minutes", "0.01", "--weights")
    command = start(folder, *words, "net.safetensors", "--images", str(images))
    _, errors = command.communicate()
    assert command.returncode == 0
    assert errors == ""
    text = (folder / "profile-LogReg-1-8-8/index.html").read_text(encoding="utf-8")
    assert "Your trained network" in text
    assert "9 images of mine" in text


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("width=2", "lenet"), "unknown-name"),
        (("lenet", "2side=8"), "value"),
        (("lenet", "side=[1"), "value"),
        (("resnet18", "width=wide"), "value"),
        (("logreg", "my_networks:Small"), "network-code"),  # reads 8×8 pixels
        (("my_networks:lazy",), "network-weights"),
        (("logreg", "lenet", "--weights", "w", "--images", "i"), "conflict"),
        (("lenet", "--weights", "w"), "conflict"),
    ],
)
def test_a_network_that_cannot_be_profiled_is_refused_before_any_work(
    folder, monkeypatch, capsys, words, kind
):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    with refused(kind):
        profile.main(profile.parse(list(words)))
    assert capsys.readouterr().out == ""
    assert not list(folder.glob("profile-*"))


def test_arguments_belong_to_the_network_before_them_and_names_are_apart():
    words = ["old:Net", "depth=4", "lenet", "new:Net", "depth=4"]
    words += ["new:Net", "hidden=[100, 20]", "width=0.125", "skip=false", "scale=1e-6"]
    values = {"hidden": [100, 20], "width": 0.125, "skip": False, "scale": 1e-6}
    *first, (_, last) = profile.parse_networks(words, (1, 32, 32)).items()
    assert first == [
        ("Net-depth-4", {"network": "old:Net", "depth": 4}),
        ("LeNet", {"network": "pipeline.networks.lenet:LeNet"}),
        ("Net-depth-4-new", {"network": "new:Net", "depth": 4}),
    ]
    assert last == {"network": "new:Net"} | values, "as in params.yaml"


def test_names_that_would_be_alike_are_numbered():
    words = ["m:Net", "a=x/y", "m:Net", "a=x-y", "m:Net", "a=x y"]
    found = profile.parse_networks(words, (1, 32, 32))
    assert [network["a"] for network in found.values()] == ["x/y", "x-y", "x y"]
    with refused("unknown-key"):
        profile.parse_networks(["lenet", "network=vgg11"], (1, 32, 32))
