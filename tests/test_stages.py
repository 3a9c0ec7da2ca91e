"""The structure of the code and of dvc.yaml, drawn from the imports: what each stage
depends on, and which rooms import which."""

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
"""Rooms, and the verbs, from the ground up: each imports those of lower floors alone.
"""


def instances():
    """(verb, experiment or None, stage with the experiment's name in place) of every
    stage that DVC makes of dvc.yaml."""
    for verb, stage in DAG["stages"].items():
        for name in NAMES if "matrix" in stage else [None]:
            text = yaml.safe_dump(stage).replace("${item.experiment}", str(name))
            yield verb, name, yaml.safe_load(text)


def needs(verb, name):
    """Files of the package that a stage imports, as well as experiments, and the
    report's parts for render, which are found by name."""
    every = (
        experiments.names() if verb in ("plan", "render") else [name] if name else []
    )
    by_name = [f"pipeline/experiments/{one}.py" for one in every]
    by_name += files("report") if verb == "render" else []
    return closure(f"pipeline/{verb}.py", *by_name)


def test_download_alone_imports_torchvision_which_takes_seconds():
    of_verbs = {verb: closure(f"pipeline/{verb}.py") for verb in VERBS}
    assert [
        v for v, read in of_verbs.items() if "pipeline/images/datasets.py" in read
    ] == ["download"]


@pytest.mark.parametrize("verb", DAG["stages"])
def test_a_stage_depends_on_the_rooms_of_the_code_it_imports_and_on_no_other(verb):
    used = set()
    listed = set()
    for _, name, stage in (instance for instance in instances() if instance[0] == verb):
        assert stage["cmd"] == f"python -m pipeline.{verb}" + (
            f" {name}" if name else ""
        )
        dependencies = {path for path in stage["deps"] if path.startswith("pipeline")}
        cover = {
            path: [
                dep for dep in dependencies if path == dep or path.startswith(f"{dep}/")
            ]
            for path in needs(verb, name)
        }
        assert [path for path, found in cover.items() if not found] == []
        listed |= dependencies
        used |= {dep for found in cover.values() for dep in found}
    # The stages of a matrix share their list, so a room counts that one of the
    # experiments needs.
    assert listed == used


def test_every_experiment_has_its_stages_and_one_file_holds_the_metrics_of_all():
    assert sorted(NAMES) == experiments.names()
    assert sorted(TITLES) == sorted(["nads", *NAMES])
    metrics = [
        stage["metrics"] for stage in DAG["stages"].values() if "metrics" in stage
    ]
    assert (
        metrics == [[{"reports/metrics.json": {"cache": False}}]]
        and "metrics" not in DAG
    )
    assert {f"reports/{name}" for name in NAMES} <= set(DAG["stages"]["render"]["deps"])
    assert all(stage["desc"] for stage in DAG["stages"].values())


def test_params_are_read_by_the_plan_alone():
    assert [name for name, stage in DAG["stages"].items() if "params" in stage] == [
        "plan"
    ]
    readers = {room(path) for path in files() if "config" in map(room, imports(path))}
    assert readers - {"config"} == {"plan"}


def test_no_room_imports_from_above_or_beside():
    floors = {name: floor for floor, names in enumerate(FLOORS) for name in names}
    arrows = {
        (room(path), room(other), path)
        for path in files()
        for other in imports(path)
        if room(other) != room(path)
    }
    assert {one for one, *_ in arrows} <= set(floors)
    assert [
        arrow for arrow in sorted(arrows) if floors[arrow[1]] >= floors[arrow[0]]
    ] == []


def test_experiments_import_no_other_experiment():
    for name in NAMES:
        others = {
            f"pipeline/experiments/{other}.py" for other in NAMES if other != name
        }
        assert not closure(f"pipeline/experiments/{name}.py") & others
