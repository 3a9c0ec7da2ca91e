"""The structure of the code and of dvc.yaml, read from the imports: what each stage
depends on, and which folders import which."""

import pytest
import yaml
from structure import ROOT, VERBS, closure, files, imports, room

from pipeline import experiments
from pipeline.report.page import TITLES

DAG = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))
NAMES = DAG["vars"][0]["experiments"]
FLOORS = (
    {"project"},
    {"training"},
    {"images", "machine", "measures", "networks"},
    {"nads"},
    {"experiments"},
    {"grid"},
    {"config"},
    {"report"},
    {"profile", "verify", *VERBS},
)
"""Folders and stages from the ground up: a floor imports only lower floors."""


def instances():
    """Yield (verb, experiment or None, stage) of every stage that DVC makes."""
    for verb, stage in DAG["stages"].items():
        for name in NAMES if "matrix" in stage else [None]:
            text = yaml.safe_dump(stage).replace("${item.experiment}", str(name))
            yield verb, name, yaml.safe_load(text)


def files_used(verb, name):
    """Files of the package that a stage imports, also those that it finds by name."""
    found = [] if name is None else [name]
    if verb in ("plan", "render"):
        found = experiments.names()
    by_name = [f"pipeline/experiments/{experiment}.py" for experiment in found]
    if verb == "render":
        by_name += files("report")
    return closure(f"pipeline/{verb}.py", *by_name)


def test_only_download_imports_torchvision_which_takes_seconds():
    for verb in VERBS:
        imported = "pipeline/images/datasets.py" in closure(f"pipeline/{verb}.py")
        assert imported == (verb == "download")


@pytest.mark.parametrize("verb", DAG["stages"])
def test_a_stage_depends_on_the_folders_of_the_code_it_imports_and_on_no_other(verb):
    used = set()
    listed = set()
    for _, name, stage in (found for found in instances() if found[0] == verb):
        argument = "" if name is None else f" {name}"
        assert stage["cmd"] == f"python -m pipeline.{verb}{argument}"
        dependencies = [path for path in stage["deps"] if path.startswith("pipeline")]
        listed.update(dependencies)
        for file in files_used(verb, name):
            covering = [
                path
                for path in dependencies
                if file == path or file.startswith(f"{path}/")
            ]
            assert covering, file
            used.update(covering)
    # The stages of a matrix share their list, so a folder counts that one of the
    # experiments needs.
    assert listed == used


def test_every_experiment_has_its_stages_and_its_place_in_the_report():
    assert sorted(NAMES) == experiments.names()
    assert sorted(TITLES) == sorted(["nads", *NAMES])
    assert {f"reports/{name}" for name in NAMES} <= set(DAG["stages"]["render"]["deps"])
    running = (ROOT / "docs/running.md").read_text(encoding="utf-8")
    assert f"for X in {' '.join(NAMES)}; do" in running


def test_one_file_holds_the_metrics_of_all_and_every_stage_says_what_it_does():
    stages = DAG["stages"].values()
    found = [stage["metrics"] for stage in stages if "metrics" in stage]
    assert found == [[{"reports/metrics.json": {"cache": False}}]]
    assert "metrics" not in DAG
    assert all(stage["desc"] for stage in stages)


def test_params_are_read_by_the_plan_only():
    readers = [name for name, stage in DAG["stages"].items() if "params" in stage]
    assert readers == ["plan"]
    for path in files():
        if any(room(file) == "config" for file in imports(path)):
            assert room(path) in ("config", "plan")


def test_no_folder_imports_from_above_or_beside():
    floors = {}
    for floor, names in enumerate(FLOORS):
        floors.update(dict.fromkeys(names, floor))
    for path in files():
        for imported in imports(path):
            if room(imported) != room(path):
                assert floors[room(imported)] < floors[room(path)], (path, imported)


def test_experiments_import_no_other_experiment():
    own_files = {f"pipeline/experiments/{name}.py" for name in NAMES}
    for file in own_files:
        assert closure(file) & own_files == {file}
