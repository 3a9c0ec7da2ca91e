"""The tables of docs/speed.md on a GPU: a training step, and what scale `paper`
takes."""

import collections
import dataclasses
import math
from collections.abc import Iterator

import pandas as pd

from pipeline import config, experiments, networks
from pipeline.experiments.plan import Member, Plan
from pipeline.grid.forecast import STEPS, read_rate
from pipeline.report.labels import label
from pipeline.training.loop import BATCH
from studies.tables.markdown import format_table
from studies.tables.numbers import read_run

ENGINES = ("eager", "recorded")

SECONDS_PER_HOUR = 3600


def make_forecast() -> str:
    """Make the table of the GPU hours of scale `paper`, by experiment."""
    plans = config.plans(config.read())["paper"].experiments
    rows = []
    totals = collections.Counter()
    for name, plan in plans.items():
        counts = collections.Counter()
        unmeasured = []
        for member, count, steps in _list_work(name, plan):
            counts["networks"] += count
            counts["steps"] += steps
            hours = _find_hours(member, steps)
            if hours is None:
                unmeasured.append(label(member.specification, member.input))
            else:
                counts.update(hours)
        totals.update(counts)
        rows.append([f"`{name}`", *_format(counts), ", ".join(unmeasured) or "–"])
    rows.append(["**all**", *_format(totals), ""])
    columns = ["experiment", "networks", "million steps"]
    columns += [f"hours, {engine}" for engine in ENGINES]
    return format_table([*columns, "not counted"], rows)


def make_lanes() -> str:
    """Make the table of networks that share a GPU."""
    table = read_run("devices/h200_recorded")
    columns = ["eager", "recorded", "4 lanes", "16 lanes", "4 processes"]
    rows = []
    for _, row in table.iterrows():
        times = [f"{row[column]:.2g}" for column in columns]
        difference = f"{row['difference']:.0e}" if row["difference"] else "0"
        rows.append([row["network"], row["precision"], difference, *times])
    return format_table(["network", "precision", "difference", *columns], rows)


def _format(counts: collections.Counter) -> list[str]:
    """Format the columns of one row with numbers."""
    hours = [f"{counts[engine]:.1f}" for engine in ENGINES]
    return [f"{counts['networks']:,}", f"{counts['steps'] / 1e6:.2f}", *hours]


def _list_work(name: str, plan: Plan) -> Iterator[tuple[Member, int, int]]:
    """Yield the architectures of an experiment with their networks and steps."""
    cells = experiments.find(name).cells(plan)
    for architecture, member in plan.members.items():
        count = sum(cell["architecture"] == architecture for cell in cells)
        yield member, count, count * member.count_steps(plan.train_samples)


def _find_hours(member: Member, steps: int) -> dict[str, float] | None:
    """Find the hours of steps by engine, in bfloat16 if that was measured.

    Args:
        member: The architecture.
        steps: Number of steps of 128 samples.

    Returns:
        The hours; None for an architecture that was not measured.
    """
    for precision in ("bfloat16", "float32"):
        training = dataclasses.replace(member.training, precision=precision)
        candidate = dataclasses.replace(member, training=training)
        hours = {}
        for engine in ENGINES:
            seconds = read_rate(candidate, engine) * BATCH * steps
            hours[engine] = seconds / SECONDS_PER_HOUR
        if not any(math.isnan(value) for value in hours.values()):
            return hours
    return None


def make_steps() -> str:
    """Make the table of the milliseconds of a training step."""
    rows = []
    for step in pd.read_csv(STEPS).to_dict("records"):
        name, *arguments = step["network"].split()
        architecture = {"network": name}
        for argument in arguments:
            key, _, value = argument.partition("=")
            architecture[key] = float(value)
        name = label(networks.specification(architecture))
        times = [f"{step[engine]:g}" for engine in ENGINES]
        rows.append([name, step["precision"], *times])
    return format_table(["", "precision", *ENGINES], rows)
