"""`convergence` in the report: steps until D(v) is learned over v's frequency (paper 1,
fig. 2)."""

import math
import textwrap
from collections.abc import Mapping

import matplotlib.cm
import matplotlib.colors
import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.measures.ranks import spearman
from pipeline.report import fourier, style
from pipeline.report.fourier import DIRECTION
from pipeline.report.numbers import format_number
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Record, Report
from pipeline.training.loop import LEARNED, WINDOW

STEPS = "cividis_r"
"""Colour map of steps: few are as light as a high accuracy in `fourier`."""

Speed = pd.DataFrame
"""How fast a network learns D(v), and how well it generalises along v.

A row for each direction, with mean `steps` over seeds (inf if not learned) and the
columns of `fourier.average_by_direction` (nan if that experiment lacks the direction).
"""


def measure_speed(record: Record, architecture: str, accuracies: Record) -> Speed:
    """Measure how fast an architecture learns each direction.

    Args:
        record: The run of `convergence`.
        architecture: The architecture.
        accuracies: The run of `fourier`.
    """
    rows = fourier.keep_later_frequency(record.select_results(architecture))
    # A direction that one seed did not learn comes last: its mean is infinite.
    rows = rows.fillna({"steps": np.inf})
    steps = rows.groupby(DIRECTION, as_index=False)["steps"].mean()
    if architecture not in accuracies.labels:
        return steps.assign(mean=np.nan, fitted=np.nan)
    results = accuracies.select_results(architecture)
    return steps.merge(fourier.average_by_direction(results), "left", on=DIRECTION)


def select_learned(speed: Speed) -> Speed:
    """Select the directions that every seed learned, fastest first."""
    return speed[np.isfinite(speed["steps"])].sort_values("steps", kind="stable")


def correlate(speed: Speed) -> str:
    """Spearman's ρ of steps and accuracies as text, empty without accuracies.

    Directions that were not learned come last and are tied.
    """
    both = speed.dropna(subset="mean")
    if both.empty:
        return ""
    rho = spearman(both["steps"], both["mean"])
    text = "undefined" if np.isnan(rho) else f"= {format_number(rho, 2)}"
    return f"ρ {text} ({len(both)} directions)"


def count_steps(record: Record, architecture: str) -> int:
    """The number of steps of an architecture's whole training."""
    plan = record.plan
    return plan.members[architecture].count_steps(plan.train_samples)


def draw_maps(
    record: Record, speeds: Mapping[str, Speed], title: str, caption: str
) -> Figure:
    """Draw steps until D(v) is learned over the frequency of v (paper 1, fig. 2).

    All maps have the same colours. Directions that not every seed learned have a dot.

    Args:
        record: The run of `convergence`.
        speeds: Speeds by architecture.
        title: The title.
        caption: The caption.
    """
    columns = min(3, len(speeds))
    rows = math.ceil(len(speeds) / columns)
    width = max(5.4, 3.4 * columns + 1.1)
    figure, axes = style.new_figure(rows, columns, width, 3.7 * rows + 0.8)
    limits = {name: count_steps(record, name) for name in speeds}
    longest = max(limits.values())
    learned = pd.concat([select_learned(speed) for speed in speeds.values()])
    fastest = min(learned["steps"], default=longest / 10)
    norm = matplotlib.colors.LogNorm(fastest, longest)
    for panel in axes.flat[len(speeds) :]:
        panel.set_visible(False)
    for panel, (name, speed) in zip(axes.flat, speeds.items(), strict=False):
        whole = fourier.add_transposes(record, name, speed)
        steps = fourier.spread_over_plane(whole, "steps")
        never = np.isinf(steps)
        no_deviation = np.nan * steps
        style.draw_heat_map(
            panel, steps.mask(never), no_deviation, never, norm, cmap=STEPS, digits=0
        )
        label = textwrap.fill(record.labels[name], 30)
        panel.set_title(f"{label}\nat most {limits[name]:,}", fontsize=9)
    shades = matplotlib.cm.ScalarMappable(norm, STEPS)
    bar = figure.colorbar(shades, ax=axes, label="steps until learned", shrink=0.7)
    bar.ax.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    bar.ax.yaxis.set_major_formatter("{x:,.0f}")
    bar.ax.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    return style.finish(figure, title, caption, record.notice)


def make_table(record: Record, speeds: Mapping[str, Speed]) -> Rows:
    """The table of the steps that each network needs."""
    for name, speed in speeds.items():
        learned = select_learned(speed)
        row = {
            "network": record.labels[name],
            "directions learned": f"{len(learned)} of {len(speed)}",
            "within steps": f"{count_steps(record, name):,}",
        }
        if len(learned):
            row["median"] = format_number(learned["steps"].median(), 0)
        correlation = correlate(speed)
        if correlation:
            row["Spearman's ρ of steps and accuracy"] = correlation
        yield row


def make_finding(run: Report) -> Finding:
    """How many frequencies one network learns, and whether the fastest generalise."""
    record, name, label = run.choose_network("convergence")
    speed = measure_speed(record, name, run.experiments["fourier"])
    learned = len(select_learned(speed))
    text = f"{label} learns {learned} of {len(speed)} frequencies with every seed"
    basis = record.describe_seeds([name])
    correlation = correlate(speed)
    if correlation:
        rho = correlation.partition(" (")[0]
        text += f"; steps and accuracy: {rho}"
        known = speed["fitted"].dropna()
        basis += f"; accuracies: {int(known.sum())} of {len(known)} fitted"
    return Finding(name, text, basis)


def make_section(run: Report) -> Section:
    """The section of `convergence`."""
    record = run.experiments["convergence"]
    accuracies = run.experiments["fourier"]
    speeds = {name: measure_speed(record, name, accuracies) for name in record.labels}
    caption = (
        f"{record.describe_sizes(spread=False)} · {record.describe_problem()} · "
        f"learned: mean loss of {WINDOW} batches in a row at most {LEARNED:g}"
        f"{fourier.describe_transposes(record)}"
    )
    lines = f"{caption}\ndot: not learned with every seed"
    finding = make_finding(run)
    figure = draw_maps(record, speeds, finding.title, lines)
    picture = Picture("convergence_maps", figure)
    compared = [name for name, speed in speeds.items() if correlate(speed)]
    if compared:
        caption += (
            f" · accuracies: of the experiment fourier, {accuracies.describe_problem()}"
            f" · {accuracies.describe_seeds(compared)}"
            " · ρ: rank correlation (Spearman)"
        )
    rows = list(make_table(record, speeds))
    return Section(record, caption, rows, [picture], finding)
