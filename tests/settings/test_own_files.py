"""What is the user's own and decides results: `plan` finds its files, links them where DVC looks, and tells the stages their digests."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline import plan
from pipeline.machine import closure
from pipeline.settings import own

NETWORK = '''"""A linear network whose bias a helper draws."""
from torch import nn

from parts.helper import bias


def net(channels, outputs):
    """One layer."""
    layer = nn.Linear(channels * 1024, outputs)
    nn.init.constant_(layer.bias, bias())
    return nn.Sequential(nn.Flatten(), layer)
'''
HELPER = '''"""Helps."""


def bias():
    """The bias."""
    return 0.25


def other():
    return 1
'''


@pytest.fixture
def folder(tmp_path, monkeypatch, shipped):
    """A repository with a network of one's own in three experiments and NADs from a file, its modules in a folder elsewhere."""
    root, elsewhere = tmp_path / "repository", tmp_path / "elsewhere"
    (elsewhere / "parts").mkdir(parents=True)
    root.mkdir()
    (elsewhere / "own_net.py").write_text(NETWORK)
    (elsewhere / "parts/helper.py").write_text(HELPER)
    np.save(root / "my.npy", np.eye(1024)[:4])
    monkeypatch.chdir(root)
    monkeypatch.setenv("DVC_ROOT", str(root))
    monkeypatch.syspath_prepend(elsewhere)
    for name in ("own_net", "parts", "parts.helper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    smoke = shipped["scales"]["smoke"]
    document = shipped | {"scale": "smoke", "scales": {"smoke": smoke}}
    document["architectures"]["mine"] = {"network": "own_net:net"}
    smoke["nads"] |= {"mine": 2, "lenet": {"file": "my.npy"}}
    smoke["linear_pairs"]["networks"]["mine"] = {"indices": [1]}
    smoke["fourier"]["networks"]["mine"] = {"step": 16}
    (root / "params.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return root


def planned():
    """What `plan` writes now, by the file's name; each time the code is read anew, as by a new process."""
    closure._loaded_code.cache_clear()
    closure._digest.cache_clear()
    plan.main()
    return {path.stem: json.loads(path.read_text()) for path in Path("data/plan").iterdir()}


def links():
    """The links that DVC sees, by the names of the files they lead to, with their contents."""
    return {path.name: path.read_bytes() for path in own.LINKS.rglob("*") if path.is_symlink()}


def differing(one, two):
    """The names of the files in which two plans differ."""
    return {name for name in one | two if one.get(name) != two.get(name)}


def test_the_modules_that_a_network_imports_and_files_of_nads_are_linked_and_no_others(folder):
    planned()
    assert set(links()) == {"own_net.py", "helper.py", "my.npy"}
    assert (own.LINKS / "my.npy").is_symlink(), "by their paths in the repository, which a copy of it has too"
    assert (own.LINKS / "elsewhere" / Path(*(folder.parent / "elsewhere/own_net.py").parts[1:])).is_symlink()


def test_an_edit_of_a_helper_is_seen_and_changes_the_plans_that_use_the_network_and_no_others(folder):
    before, seen = planned(), links()
    helper = folder.parent / "elsewhere/parts/helper.py"
    helper.write_text(HELPER.replace("0.25", "0.5"))
    assert links() != seen, "DVC runs `plan` for it"
    after = planned()
    assert differing(before, after) == {"nads", "linear_pairs", "fourier"}
    for name in ("nads", "linear_pairs", "fourier"):
        members = before[name]["members"]
        assert {key for key in members if members[key] != after[name]["members"][key]} == {"mine"}
    helper.write_text(HELPER)
    assert planned() == before, "going back is a run of the past"


def test_an_edit_of_a_docstring_or_of_what_the_network_does_not_use_changes_no_plan(folder):
    before = planned()
    (folder.parent / "elsewhere/parts/helper.py").write_text(HELPER.replace("The bias", "It").replace("1\n", "2\n"))
    assert planned() == before


def test_other_nads_in_the_same_file_are_seen_and_change_what_is_asked_of_the_estimate(folder):
    before, seen = planned(), links()
    np.save("my.npy", np.eye(1024)[1:5])
    assert links() != seen
    assert differing(before, planned()) == {"nads"}


def test_networks_that_are_built_in_have_no_digest_and_no_links(folder):
    planned()
    document = yaml.safe_load(Path("params.yaml").read_text())
    smoke = document["scales"]["smoke"]
    for block in (smoke["nads"], smoke["linear_pairs"]["networks"], smoke["fourier"]["networks"]):
        del block["mine"]
    smoke["nads"]["lenet"] = 16
    Path("params.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    found = planned()
    assert not own.LINKS.exists(), "DVC sees the folder that git has"
    members = [member for asked in found.values() for member in asked.get("members", {}).values()]
    assert members and {member["digest"] for member in members} == {None}


def test_a_module_that_was_moved_leaves_no_link_behind(folder):
    planned()
    elsewhere = folder.parent / "elsewhere"
    (elsewhere / "parts/helper.py").rename(elsewhere / "parts/mended.py")
    (elsewhere / "own_net.py").write_text(NETWORK.replace("parts.helper", "parts.mended"))
    for name in ("own_net", "parts", "parts.helper"):
        sys.modules.pop(name, None)
    planned()
    assert set(links()) == {"own_net.py", "mended.py", "my.npy"}
