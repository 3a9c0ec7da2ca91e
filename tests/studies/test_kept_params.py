"""What reports/kept/ keeps of its runs suffices to plan them again."""

import dataclasses
import json

import pytest
from structure import ROOT

from pipeline import config
from pipeline.project.errors import InputError
from pipeline.report.run import read_descriptions
from studies import kept_params

RUNS = {
    path: about["plan"]
    for path, about in read_descriptions(ROOT / kept_params.RUNS).items()
    if "plan" in about
}


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: "/".join(folder.parts[-2:]))
def test_a_kept_run_is_planned_again(folder, monkeypatch, shipped):
    monkeypatch.setattr(kept_params, "RUNS", ROOT / kept_params.RUNS)
    name = kept_params.put(shipped, folder)
    kept = RUNS[folder]
    shipped["scales"] = {"overnight": shipped["scales"]["overnight"]}
    plan = config.plans(shipped)["overnight"].experiments[name]
    again = json.loads(json.dumps(dataclasses.asdict(plan)))
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
            value = {
                architecture: value[architecture] for architecture in kept["members"]
            }
        assert again["settings"][key] == value


def test_a_folder_that_is_no_run_is_named():
    folder = kept_params.RUNS / "nad_sweep/patch"
    with pytest.raises(InputError) as caught:
        kept_params.put({}, folder)
    assert caught.value.kind == "unknown-name"
    assert caught.value.fields == {"name": str(folder)}
