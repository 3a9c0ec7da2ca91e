"""params.yaml for the networks of one folder of reports/overnight/, to train them again.

    python -m benchmarks.overnight nad_sweep_patches

The folder's run.json has the settings of its experiment; at scale `overnight` all others then have
scale `smoke`'s few networks. How its NADs are made stands in params.yaml, but for what is here.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pipeline.project.errors import InputError, one_sentence

RUNS, PARAMS = Path("reports/overnight"), Path("params.yaml")

NETWORKS = {"nad_sweep": {"lenet": 10_000}}
ESTIMATORS = {
    "nad_sweep": {"method": "plain", "symmetry": False},  # as the papers' NADs are made
    "nad_sweep_gradient": {"estimand": "gradient", "point": "many"},
}
"""What a folder's NADs have otherwise than `nads` of scale `overnight` and `estimator` say."""

OF_A_LINE = "epochs", "lr", "momentum", "weight_decay", "clip"
"""What of a network's training stands in its line."""


def put(document: dict[str, Any], folder: Path) -> str:
    """Put the settings of a folder's run into the contents of params.yaml; returns the experiment.

    Raises InputError for a folder that has no run.json.
    """
    path = folder / "run.json"
    if not path.is_file():
        named = ", ".join(sorted(each.parent.name for each in RUNS.glob("*/run.json")))
        raise InputError(f"{folder} has no run.json; these have one: {named}")
    plan = json.loads(path.read_text(encoding="utf-8"))["plan"]
    name, members, scales = plan["experiment"], plan["members"], document["scales"]
    lines = {
        architecture: member["grid"]
        | {key: member["training"][key] for key in OF_A_LINE}
        | {"seeds": member["seeds"] or len(plan["seeds"])}
        for architecture, member in members.items()
    }
    counts = scales["overnight"]["nads"] | NETWORKS.get(folder.name, {})
    nads = {each: counts[each] for each in members if each in counts}
    sizes = {key: plan[key] for key in ("train_samples", "test_samples")}
    block = sizes | {"seeds": len(plan["seeds"]), "networks": lines}
    scales["overnight"] = scales["smoke"] | {"nads": scales["smoke"]["nads"] | nads, name: block}
    for key, value in plan["settings"].items():
        place = document[name] if key in document[name] else document
        place[key] = place[key] | value if isinstance(value, dict) else value
    document["precision"], *_ = {member["training"]["precision"] for member in members.values()}
    document["scale"], document["seed"] = "overnight", plan["seeds"][0]
    document["estimator"] |= {"compare": False} | ESTIMATORS.get(folder.name, {})
    return name


def main() -> None:
    """Rewrite params.yaml, and print the commands that train the networks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", help="of reports/overnight/, by its name")
    given, yaml = parser.parse_args(), YAML()
    document = yaml.load(PARAMS)
    name = put(document, RUNS / given.folder)
    yaml.dump(document, PARAMS)
    print("for stage in plan download estimate; do python -m pipeline.$stage; done")
    print(f"for stage in generate train evaluate; do python -m pipeline.$stage {name}; done")
    print(f"{PARAMS} is of this run now; `git checkout {PARAMS}` brings it back")


if __name__ == "__main__":
    with one_sentence():
        main()
