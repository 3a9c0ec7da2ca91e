"""The list of all kept runs, and every published value beside theirs."""

from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.report.run import read_descriptions
from pipeline.verify import runs
from studies.tables.markdown import format_table
from studies.tables.numbers import KEPT

COLUMNS = ["run", "what it says", "networks, seeds", "trained by", "code", "minutes"]


def make_runs() -> str:
    """Make the list of kept runs: a heading and a table for each experiment."""
    rows: dict[str, list[list[str]]] = {}
    for folder, about in read_descriptions(KEPT).items():
        experiment = folder.parent.name
        rows.setdefault(experiment, []).append(describe_run(folder, about))
    sections = []
    for experiment, of_experiment in rows.items():
        sections.append(f"## {experiment}\n\n{format_table(COLUMNS, of_experiment)}")
    return "\n".join(sections)


def describe_run(folder: Path, about: dict[str, Any]) -> list[str]:
    """Describe a run in one row.

    Args:
        folder: The run's folder.
        about: Its run.json.

    Returns:
        The cells of `COLUMNS`.
    """
    link = f"[{about['title']}]({folder.relative_to(KEPT).as_posix()}/)"
    if "plan" in about:
        size = describe_size(about["plan"])
        members = about["plan"]["members"].values()
        recipes = [describe_recipe(member["training"]) for member in members]
        recipe = "; ".join(dict.fromkeys(recipes))
    else:
        size = "–"
        recipe = f"`{about['command']}`"
    minutes = "–"
    if about["minutes"] is not None:
        minutes = f"{about['minutes']:g}, {about['processor']}"
    return [link, about["says"], size, recipe, about["code"], minutes]


def describe_size(plan: dict[str, Any]) -> str:
    """Describe the networks of a plan and their seeds: 'lenet, mlp; 1 and 3'."""
    counts = set()
    for member in plan["members"].values():
        counts.add(member["seeds"] or len(plan["seeds"]))
    return f"{', '.join(plan['members'])}; {' and '.join(map(str, sorted(counts)))}"


def describe_recipe(training: dict[str, Any]) -> str:
    """Describe a network's training in a few words: '20 epochs, SGD, rate 0.5'."""
    optimiser = training.get("optimiser", "sgd")
    words = [f"{training['epochs']} epochs"]
    if optimiser == "adamw":
        words.append("AdamW")
    else:
        words.append("SGD")
    words.append(f"rate {training['lr']:g}")
    if optimiser == "sgd" and training["momentum"]:
        words.append(f"momentum {training['momentum']:g}")
    if training["precision"] == "bfloat16":
        words.append("bfloat16")
    return ", ".join(words)


def compare_published_values() -> pd.DataFrame:
    """Compare every published value with the kept runs that have it.

    Returns:
        A row for each published value of a run. Columns: run, network, coordinates,
        test_set; published and ours, in per cent, means over repeated runs; networks,
        the number of ours.
    """
    keys = ["network", "coordinates", "test_set"]
    tables = []
    for folder, about in read_descriptions(KEPT).items():
        experiment = folder.parent.name
        if "plan" not in about or experiment not in runs.PUBLISHED:
            continue
        ours = runs.add_coordinates(
            runs.collect_results({folder: about["plan"]}), experiment, {}
        )
        published = runs.make_published_results(experiment, ours).groupby(keys)[
            "accuracy"
        ]
        table = ours.groupby(keys)["accuracy"].agg(ours="mean", networks="size")
        table["published"] = published.mean()
        table["run"] = f"{experiment}/{folder.name}"
        tables.append(table.dropna().reset_index())
    values = pd.concat(tables)
    values[["published", "ours"]] *= 100
    return values[["run", *keys, "published", "ours", "networks"]]


def list_published_values() -> str:
    """List the published values as CSV."""
    table = compare_published_values()
    return table.to_csv(index=False, float_format="%.1f", lineterminator="\n")
