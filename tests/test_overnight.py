"""What reports/overnight/ keeps of its runs suffices to plan them again."""

import dataclasses
import json

import pytest
from ruamel.yaml import YAML
from structure import ROOT

from benchmarks import overnight
from pipeline import settings
from pipeline.project.errors import InputError

FOLDERS = sorted(path.parent for path in (ROOT / overnight.RUNS).glob("*/run.json"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_kept_run_is_planned_again(folder):
    document = YAML(typ="safe").load(ROOT / overnight.PARAMS)
    name = overnight.put(document, folder)
    kept = json.loads((folder / "run.json").read_text(encoding="utf-8"))["plan"]
    again = json.loads(
        json.dumps(dataclasses.asdict(settings.plans(document)["overnight"].experiments[name]))
    )
    for key in ("seeds", "train_samples", "test_samples"):
        assert again[key] == kept[key]
    assert list(again["members"]) == list(kept["members"])
    for architecture, member in kept["members"].items():
        new = again["members"][architecture]
        assert new["training"] | member["training"] == new["training"]
        assert new["grid"] | member["grid"] == new["grid"]
        assert new["seeds"] == (member["seeds"] or len(kept["seeds"]))
    for key, value in kept["settings"].items():
        if isinstance(value, dict):
            value = {architecture: value[architecture] for architecture in kept["members"]}
        assert again["settings"][key] == value


def test_a_folder_that_is_no_run_is_named():
    with pytest.raises(InputError, match=r"nad_sweep_patch has no run\.json; these have one: col"):
        overnight.put({}, overnight.RUNS / "nad_sweep_patch")
