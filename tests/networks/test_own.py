"""The files in own/, which are in the keys of custom networks."""

import subprocess
import sys

import numpy as np
import pytest
from refusals import refused

from pipeline.networks import own
from pipeline.networks.dry_run import dry_run
from pipeline.project.artifacts import file_digest

NETWORK = """
from torch import nn


def net(channels, outputs):
    return nn.Sequential(nn.Flatten(), nn.Linear(16 * channels, outputs))
"""


def write(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(NETWORK)


def run_the_command_of(action):
    """Run the command in the message with which an action is refused."""
    with refused("outside-own") as caught:
        action()
    subprocess.run(str(caught.value).split("`")[1], shell=True, check=True)


@pytest.mark.parametrize("linked", [False, True])
def test_every_file_in_own_counts_but_hidden_and_compiled_ones(linked, repository):
    folder = repository.parent / "research" if linked else repository / "own"
    write(folder, "mine.py", "parts/helper.py", "weights.npy", "notes.md")
    if linked:
        subprocess.run(f"cp -Rs {folder}/* own/", shell=True, check=True)
    write(
        repository / "own", "README.md", ".hidden/a.py", "parts/__pycache__/helper.pyc"
    )
    before = own.digests()
    expected = ["own/mine.py", "own/notes.md", "own/parts/helper.py", "own/weights.npy"]
    assert list(before) == expected
    (folder / "parts/helper.py").write_text("SLOPE = 1")
    changed = {path for path, digest in own.digests().items() if before[path] != digest}
    assert changed == {"own/parts/helper.py"}


def test_a_link_to_a_folder_is_refused_with_the_command_that_links_its_files(
    repository,
):
    write(repository.parent, "parts/mine.py")
    (repository / "own/parts").symlink_to(repository.parent / "parts")
    run_the_command_of(own.digests)
    assert list(own.digests()) == ["own/parts/mine.py"]


def test_nads_from_a_file_elsewhere_are_refused_with_the_command_that_links_it(
    repository,
):
    write(repository.parent, "my.npy")
    run_the_command_of(lambda: own.digest_of(str(repository.parent / "my.npy"), {}))
    files = own.digests()
    for path in ("own/my.npy", "./own/my.npy", str(repository / "own/my.npy")):
        assert own.digest_of(path, files) == {"own/my.npy": file_digest("own/my.npy")}


@pytest.mark.parametrize(
    ("folder", "path", "place"),
    [
        ("repository", "mine.py", "mine:net"),
        ("repository/own2", "mine.py", "mine:net"),
        ("my research", "parts/mine.py", "parts.mine:net"),
    ],
)
def test_a_module_from_elsewhere_is_refused_with_the_command_that_links_it(
    folder, path, place, repository, monkeypatch
):
    write(repository.parent / folder, path)
    if "/" in path:
        (repository.parent / folder / path).with_name("__init__.py").touch()
    monkeypatch.syspath_prepend(repository.parent / folder)
    loaded = set(sys.modules)
    dry_run({"network": place}, (1, 4, 4), 2)
    run_the_command_of(lambda: own.check_imports(loaded))
    for name in set(sys.modules) - loaded:
        del sys.modules[name]  # as in another process
    dry_run({"network": place}, (1, 4, 4), 2)
    own.check_imports(loaded)
    assert f"own/{path}" in own.digests()


def test_a_folder_with_a_longer_name_is_not_this_package():
    assert own.is_installed(f"{own.PACKAGE}/plan.py")
    assert not own.is_installed(f"{own.PACKAGE}_of_mine/plan.py")


def test_installed_modules_and_ours_are_accepted(repository):
    (repository / "own/mine.py").write_text(
        "from pipeline.networks.mlp import LogReg as net\n"
    )
    dry_run({"network": "mine:net", "side": 4}, (1, 4, 4), 2)
    installed = {"torch", "numpy", "pipeline", "json"}
    own.check_imports(set(sys.modules) - installed)


READING = """
import numpy
from torch import nn


def net(channels, outputs):
    features = numpy.load({path!r}).astype(int)
    return nn.Sequential(nn.Flatten(), nn.Linear(features[0] * channels, outputs))
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [("data/sizes.npy", 1), ("repository/own/sizes.npy", 0), (".cache/sizes.npy", 0)],
)
def test_data_from_elsewhere_get_a_notice(path, expected, repository):
    file = repository.parent / path
    file.parent.mkdir(exist_ok=True)
    np.save(file, np.array([16]))
    module = READING.format(path=str(file))
    (repository / "own/mine.py").write_text(module)
    with own.record_reads() as paths:
        assert dry_run({"network": "mine:net"}, (1, 4, 4), 2) == []
    notices = own.find_reads_elsewhere("mine:net", paths)
    assert [str(file) in text for text in notices] == [True] * expected


def test_data_of_a_project_in_a_hidden_folder_count(tmp_path, monkeypatch):
    project = tmp_path / ".hidden/project"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    files = [project / ".cache.npy", project / "sizes.npy"]
    for file in files:
        file.touch()
    assert own.find_data(map(str, files)) == [str(project / "sizes.npy")]
