"""The command `profile` as a call: the module, class or name that it takes, and its
results."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from refusals import refused
from small_images import class_folders

from pipeline.profile import __main__ as command
from pipeline.profile import profile
from pipeline.project.errors import InputError

NETWORK = """
import numpy
from torch import nn

WIDTH = int(numpy.load("width.npy")[0])


class Small(nn.Sequential):
    def __init__(self, channels, outputs, width=WIDTH):
        layers = nn.Linear(16 * channels, width), nn.ReLU(), nn.Linear(width, outputs)
        super().__init__(nn.Flatten(), *layers)
"""

SIZES = command.plan.Sizes("secant", 8, 3, 1, 512, 6)
OPTIONS = {"shape": (1, 4, 4), "minutes": 0.01, "output": "page"}


@pytest.fixture
def small(repository, monkeypatch):
    """A module of somebody's own that reads data, in the current folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(repository / "cache"))
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.syspath_prepend(repository)
    (repository / "small.py").write_text(NETWORK)
    (repository / "pipeline.py").write_text("raise SystemExit")
    np.save("width.npy", np.array([8]))
    import small

    return small


@pytest.mark.slow
def test_a_class_and_a_trained_module_have_a_profile_also_after_edits(
    small, repository, capsys
):
    found = profile(small.Small, **OPTIONS)
    assert (repository / found["page"]).exists()
    (network,) = found["networks"].values()
    assert len(network["accuracies"]) == network["trained"]
    assert "cached: 0" in capsys.readouterr().err
    images = class_folders(repository / "mine", ("ape", "bee", "cat"), size=(4, 4))
    with torch.inference_mode():
        again = profile(small.Small(1, 3), images, **OPTIONS)
    assert again["trained"]["tested"] == 9
    assert again["networks"] == found["networks"]
    assert "networks to train: 0" in capsys.readouterr().err
    np.save("width.npy", np.array([9]))  # the key has the data that a network reads
    assert profile("small:Small", **OPTIONS)["page"] == found["page"]
    assert "cached: 0" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        {"network": lambda channels, outputs: None},
        {"minutes": "one"},
        {"minutes": 0},
        {"lr": None},
        {"images": 3},
    ],
)
def test_what_the_command_refuses_the_call_refuses(values, folder):
    with pytest.raises(InputError) as caught:
        profile(**{"network": "logreg", "side": 4} | OPTIONS | values)
    assert caught.value.kind == "failed-jobs"


@pytest.mark.slow
def test_the_call_refuses_with_the_sentence_of_the_command(small):
    with pytest.raises(InputError, match="^give --weights and --images together"):
        profile(small.Small(1, 3), **OPTIONS)


@pytest.mark.parametrize(
    "values",
    [
        {"network": 3},
        {"side": torch.tensor(4)},
    ],
)
def test_other_types_are_refused(values):
    with pytest.raises(InputError):
        profile(**{"network": "logreg", "side": 4} | OPTIONS | values)


def test_json_on_stdout_is_all_that_the_command_prints_there(
    folder, in_this_process, capsys
):
    words = ["logreg", "side=4", "--input", "1x4x4", "--minutes", "0.01", "--json"]
    command.main(command.parse(words))
    captured = capsys.readouterr()
    (network,) = json.loads(captured.out)["networks"].values()
    assert network["fitted"] <= network["trained"] == len(network["accuracies"])
    assert captured.err.splitlines()[-1].endswith(network["trust"])


def test_what_a_worker_prints_is_not_among_the_results(capfd):
    with command.divert_stdout():
        subprocess.run([sys.executable, "-c", "print('from a worker')"], check=True)
        print("from the command")
    print("results")
    captured = capfd.readouterr()
    assert captured.out == "results\n"
    assert set(captured.err.splitlines()) == {"from a worker", "from the command"}


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf"])
@pytest.mark.parametrize("option", ["--minutes", "--lr"])
def test_minutes_and_learning_rate_are_positive(option, text):
    with refused("out-of-range", name=option):
        command.run(command.parse(["logreg", f"{option}={text}"]))


def test_edits_of_data_that_a_network_reads_change_the_keys(small, monkeypatch):
    keys = []

    def keep(*arguments):
        keys.append(arguments[-1])
        raise InputError("planned")

    monkeypatch.setattr(command.plan, "plan_nads", keep)
    monkeypatch.setattr(command.plan, "load_or_choose", lambda *_: SIZES)
    for width in (8, 9):
        np.save("width.npy", np.array([width]))
        sys.modules.pop("small", None)
        with pytest.raises(InputError, match="planned"):
            command.main(command.parse(["small:Small", "--input", "1x4x4"]))
    assert keys[0].keys() >= {"small.py", "width.npy"}
    changed = {name for name in keys[0] if keys[0][name] != keys[1][name]}
    assert changed == {"width.npy"}
