"""dvc.yaml against the code: what every stage depends on, how rooms may import each other, how long the file is."""

import re
import subprocess
import sys

import pytest
import yaml
from structure import ROOT, VERBS, closure, imports, room

from pipeline import experiments

DAG = yaml.safe_load((ROOT / "dvc.yaml").read_text())
NAMES = DAG["vars"][0]["experiments"]
FLOORS = (
    {"project"},
    {"datasets", "images", "machine", "measures", "networks", "training"},
    {"grid", "nads"},
    {"experiments"},
    {"report", "settings"},
)
"""Rooms from the ground up: each imports those below it, and of its own floor none but where `NEIGHBOURS` says so."""

NEIGHBOURS = set()


def instances():
    """(verb, experiment or None, stage with the experiment's name in place) of every stage that DVC makes of dvc.yaml."""
    for verb, stage in DAG["stages"].items():
        for name in NAMES if "matrix" in stage else [None]:
            yield verb, name, yaml.safe_load(yaml.safe_dump(stage).replace("${item.experiment}", str(name)))


def needs(verb, name):
    """Files of the package that a stage imports."""
    entries = [f"pipeline/{verb}.py"] + ([f"pipeline/experiments/{name}.py"] if name else [])
    if verb in ("plan", "render"):
        entries += [f"pipeline/experiments/{other}.py" for other in experiments.names()]
    return closure(*entries)


def inside(path, dependency):
    """Whether a file is a dependency of DVC's, or lies in one."""
    return path == dependency or path.startswith(f"{dependency}/")


@pytest.mark.parametrize("verb", DAG["stages"])
def test_a_stage_depends_on_the_rooms_of_the_code_it_imports_and_on_no_other(verb):
    used, every = set(), set()
    for name, stage in ((name, stage) for other, name, stage in instances() if other == verb):
        assert stage["cmd"].split() == ["python", "-m", f"pipeline.{verb}", *([name] if name else [])]
        listed = {path for path in stage["deps"] if path.startswith("pipeline")}
        needed = needs(verb, name)
        assert [path for path in sorted(needed) if not any(inside(path, dep) for dep in listed)] == []
        every |= listed
        used |= {dep for dep in listed if any(inside(path, dep) for path in needed)}
    # The stages of a matrix share their list, so a room counts that one of the experiments needs.
    assert every == used


def test_every_stage_says_what_it_makes_and_every_experiment_has_its_stages():
    assert all(stage["desc"] for stage in DAG["stages"].values())
    assert sorted(NAMES) == experiments.names()
    assert {name: stage["matrix"]["experiment"] for name, stage in DAG["stages"].items() if "matrix" in stage} == {
        verb: "${experiments}" for verb in ("generate", "train", "evaluate")
    }
    assert sorted(DAG["metrics"]) == [f"reports/{name}/metrics.json" for name in experiments.names()]
    render = DAG["stages"]["render"]["deps"]
    assert {f"reports/{name}" for name in NAMES} <= set(render)


def test_params_are_read_by_the_plan_alone():
    assert [name for name, stage in DAG["stages"].items() if "params" in stage] == ["plan"]
    readers = [
        path for path in (ROOT / "pipeline").glob("*.py") if "settings" in map(room, imports(f"pipeline/{path.name}"))
    ]
    assert [path.stem for path in readers] == ["plan"]


def test_only_verbs_stand_beside_the_rooms_and_nouns_never_import_them():
    assert {path.stem for path in (ROOT / "pipeline").glob("*.py")} == {"__init__", *VERBS}
    for path in (ROOT / "pipeline").rglob("*.py"):
        relative = path.relative_to(ROOT).as_posix()
        assert not imports(relative) & {f"pipeline/{verb}.py" for verb in VERBS}, relative


def test_no_room_imports_from_above():
    floors = {name: floor for floor, names in enumerate(FLOORS) for name in names}
    rooms = {path.name for path in (ROOT / "pipeline").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(floors)
    wrong = set()
    for path in (ROOT / "pipeline").rglob("*/*.py"):
        mine = room(path.relative_to(ROOT).as_posix())
        for other in imports(path.relative_to(ROOT).as_posix()):
            theirs = room(other)
            if mine != theirs and floors[theirs] >= floors[mine] and (mine, theirs) not in NEIGHBOURS:
                wrong.add((mine, theirs, path.name, other))
    assert not wrong


def test_experiments_import_no_other_experiment():
    for name in experiments.names():
        others = {f"pipeline/experiments/{other}.py" for other in experiments.names() if other != name}
        assert not closure(f"pipeline/experiments/{name}.py") & others


def test_dvc_yaml_is_short():
    assert len((ROOT / "dvc.yaml").read_text().splitlines()) <= 150


def test_the_picture_of_the_stages_is_that_of_dvc():
    printed = subprocess.run(
        [sys.executable, "-m", "dvc", "dag", "--md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    names = {node: name.split("@")[0] for node, name in re.findall(r'(node\d+)\["(.*?)"\]', printed)}
    expected = {(names[one], names[other]) for one, other in re.findall(r"(node\d+)-->(node\d+)", printed)}
    (picture,) = re.findall("```mermaid\n(.*?)```", (ROOT / "docs" / "experiments.md").read_text(), re.S)
    ends = [line.split("-->") for line in picture.splitlines() if "-->" in line]
    drawn = {
        (one.strip(), other.strip()) for left, right in ends for one in left.split("&") for other in right.split("&")
    }
    assert drawn == expected


@pytest.mark.slow
def test_what_editors_leave_beside_the_files_is_no_part_of_a_stage():
    """Of a link that leads nowhere, as some make of an open file, DVC would end; of the others it would run stages again."""
    left = [".#plan.py", "#plan.py#", "plan.py~", ".plan.py.swp", "training/.DS_Store", ".ipynb_checkpoints/plan.py"]
    paths = [f"pipeline/{name}" for name in left]
    command = [sys.executable, "-m", "dvc", "check-ignore", *paths, "pipeline/plan.py"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split() == paths
