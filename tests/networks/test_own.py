"""The code of a network of one's own: every file by which it came about, and no other."""

import subprocess
import sys

import pytest

from pipeline import networks
from pipeline.networks import own
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError

NETWORK = """
from torch import nn
{}

def net(channels, outputs):
    return nn.Sequential(nn.Flatten(), nn.Linear(16 * channels, 8), act(), nn.Linear(8, outputs))
"""


def code(place="mine:net"):
    """The files that decide a network, with their digests."""
    with own.recorded() as files:
        dry_run(networks.specification({"network": place}), (1, 4, 4), 2)
    return files


def write(folder, **texts):
    """Files in a folder, by their paths with __ in place of / and without .py."""
    for name, text in texts.items():
        path = folder / (name if "." in name else f"{name}.py").replace("__", "/", 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


ACT = "from torch.nn import ReLU as act\n"
CASES = {
    "its own class": ("mine.py", {"mine": "act = nn.ReLU"}),
    "an import in the forward pass": (
        "late.py",
        {
            "mine": "class act(nn.Module):\n    def forward(self, x):\n"
            "        import late\n        return late.act()(x)",
            "late": ACT,
        },
    ),
    "a file that is read at construction": (
        "name.md",
        {
            "mine": "from pathlib import Path\ndef act():\n"
            "    return getattr(nn, (Path(__file__).parent / 'name.md').read_text())()",
            "name.md": "ReLU",
        },
    ),
    "data that a library reads by its own means": (
        "filters.safetensors",
        {"mine": "act = nn.ReLU", "filters.safetensors": "ReLU"},
    ),
}


@pytest.mark.parametrize("elsewhere", [False, True], ids=["in own", "linked"])
@pytest.mark.parametrize(("edited", "files"), CASES.values(), ids=CASES)
def test_an_edit_changes_the_code(edited, files, elsewhere, repository):
    """Of a package, and of an import under `try`, tests/test_own_network.py shows the same."""
    files = files | {"mine": NETWORK.format(files["mine"])}
    folder = repository.parent / "research" if elsewhere else repository / "own"
    write(folder, **files, other="", unused__helper="")
    if elsewhere:
        subprocess.run(f"cp -Rs {folder}/* own/", shell=True, check=True)
    before = code()
    assert f"own/{edited}" in before
    assert not {"own/other.py", "own/unused/helper.py"} & set(before)
    assert code() == before, "modules that were imported before count as well"
    assert list(before) == sorted(before), "whatever the order in which files were opened"
    path = folder / edited
    path.write_text(path.read_text().replace("ReLU", "Tanh"))
    after = code()
    assert {name for name in after if after[name] != before.get(name)} == {f"own/{edited}"}


def test_what_is_installed_or_ours_is_no_code_of_ones_own(repository):
    assert code("torchvision:resnet18") == {}
    write(repository / "own", mine="from pipeline.networks.mlp import LogReg as net\n")
    with own.recorded() as files:
        dry_run({"network": "mine:net", "side": 4}, (1, 4, 4), 2)
    assert set(files) == {"own/mine.py"}


def linked(words, place="mine:net"):
    """The code of a network that is refused, after the command that the sentence gives."""
    with pytest.raises(InputError, match=words) as caught:
        code(place)
    subprocess.run(str(caught.value).split("`")[1], shell=True, check=True)
    for name in ("mine", "parts", "parts.mine"):
        sys.modules.pop(name, None)  # as in another process
    return code(place)


PLAIN = NETWORK.format("act = nn.ReLU")


@pytest.mark.parametrize(
    ("where", "place", "files"),
    [
        ("repository", "mine:net", {"mine": PLAIN}),
        ("my research", "parts.mine:net", {"parts____init__": "", "parts__mine": PLAIN}),
    ],
)
def test_a_module_that_lies_elsewhere_is_refused_with_the_command_that_links_it(
    where, place, files, repository, monkeypatch
):
    write(folder := repository.parent / where, **files)
    monkeypatch.syspath_prepend(folder)
    found = linked("lies outside own/, where DVC would not see", place)
    assert len(found) == len(files) and all(name.startswith("own/") for name in found)


def test_a_clone_below_usr_refuses_a_module_beside_own(repository, monkeypatch):
    monkeypatch.setattr(own, "SYSTEM", (f"{repository.parent}/",))  # as of a clone in /usr/src
    write(repository, mine=PLAIN)
    monkeypatch.syspath_prepend(repository)
    assert list(linked("lies outside own/, where DVC would not see")) == ["own/mine.py"]


def test_a_file_that_is_read_elsewhere_is_refused_with_the_command_that_links_it(repository):
    data = repository.parent / "slope.txt"
    data.write_text("0.5")
    act = f"import numpy as np\nact = lambda: nn.LeakyReLU(float(np.loadtxt('{data}')))"
    write(repository / "own", mine=NETWORK.format(act))
    before = linked("slope.txt lies outside own/")
    data.write_text("0.6")
    assert {name for name, digest in code().items() if before[name] != digest} == {"own/slope.txt"}


def test_a_link_to_a_folder_is_refused_since_dvc_does_not_look_into_it(repository):
    write(repository.parent, parts__mine=PLAIN)
    (repository / "own/parts").symlink_to(repository.parent / "parts")
    found = linked("own/parts is a link to a folder, into which", "parts.mine:net")
    assert set(found) == {"own/parts/mine.py"}
