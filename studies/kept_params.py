"""params.yaml for the networks of one run in reports/kept/, to train them again.

    python -m studies.kept_params nad_sweep/patches

The run's run.json has the settings of its experiment and of its NADs; at scale
`overnight` all other experiments then have scale `smoke`'s few networks.
"""

import argparse
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pipeline.config.layout import training_keys
from pipeline.project.errors import InputError, one_sentence
from pipeline.report.run import read_descriptions

RUNS = Path("reports/kept")
PARAMS = Path("params.yaml")


def put(document: dict[str, Any], folder: Path) -> str:
    """Put the settings of a folder's run into the contents of params.yaml; returns the
    experiment.

    Raises InputError for a folder of no experiment.
    """
    runs = {
        path: about
        for path, about in read_descriptions(RUNS).items()
        if "plan" in about
    }
    if folder not in runs:
        named = ", ".join(path.relative_to(RUNS).as_posix() for path in runs)
        raise InputError(
            f"{folder} is not a run of an experiment; name one of {named}",
            "unknown-name",
            name=str(folder),
        )
    about = runs[folder]
    plan = about["plan"]
    name = plan["experiment"]
    members = plan["members"]
    scales = document["scales"]
    keys = training_keys()
    lines = {
        architecture: member["grid"]
        | {key: value for key, value in member["training"].items() if key in keys}
        | {"seeds": member["seeds"] or len(plan["seeds"])}
        for architecture, member in members.items()
    }
    sizes = {key: plan[key] for key in ("train_samples", "test_samples")}
    block = sizes | {"seeds": len(plan["seeds"]), "networks": lines}
    scales["overnight"] = scales["smoke"] | {
        "nads": scales["smoke"]["nads"] | about.get("nads", {}),
        name: block,
    }
    for key, value in plan["settings"].items():
        place = document[name] if key in document[name] else document
        place[key] = place[key] | value if isinstance(value, dict) else value
    (precision,) = {member["training"]["precision"] for member in members.values()}
    document["precision"] = precision
    document["scale"] = "overnight"
    document["seed"] = plan["seeds"][0]
    document["estimator"] |= {"compare": False} | about.get("estimator", {})
    return name


def main() -> None:
    """Rewrite params.yaml, and print the commands that train the networks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", help="of reports/kept/, for example fourier/lenet")
    given = parser.parse_args()
    yaml = YAML()
    document = yaml.load(PARAMS)
    name = put(document, RUNS / given.folder)
    yaml.dump(document, PARAMS)
    print("for stage in plan download estimate; do python -m pipeline.$stage; done")
    print(
        f"for stage in generate train evaluate; do python -m pipeline.$stage {name}; "
        "done"
    )
    print(f"{PARAMS} is of this run now; `git checkout {PARAMS}` brings it back")


if __name__ == "__main__":
    with one_sentence():
        main()
