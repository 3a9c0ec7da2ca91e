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
from pipeline.report.comparison import number
from pipeline.report.fourier import DIRECTION
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Evaluated, Report
from pipeline.training.loop import BATCH, LEARNED, WINDOW

STEPS = (
    "cividis_r"  # colour map of steps: few are as light as a high accuracy in `fourier`
)

# How soon one network learns D(v), and how well it generalises along v: a row for each
# direction with mean `steps` over seeds, inf if not learned, and what
# `fourier.by_direction` says, nan where that experiment did not train along it.
Speed = pd.DataFrame


def speed_of(experiment: Evaluated, name: str, other: Evaluated) -> Speed:
    """The `Speed` of an architecture in the run of `convergence`; other: the run of
    `fourier`."""
    # A direction that one seed did not learn comes last: its mean is infinite.
    rows = fourier.canonical(experiment.of(name)).fillna({"steps": np.inf})
    steps = rows.groupby(DIRECTION, as_index=False)["steps"].mean()
    if name not in other.labels:
        return steps.assign(mean=np.nan, fitted=np.nan)
    return steps.merge(fourier.by_direction(other.of(name)), "left", on=DIRECTION)


def learned(speed: Speed) -> Speed:
    """The directions that every seed learned, fastest first."""
    return speed[np.isfinite(speed["steps"])].sort_values("steps", kind="stable")


def correlation(speed: Speed) -> str:
    """Spearman's ρ of steps and accuracies as text, which is empty without any.

    Directions that were not learned come last, all alike.
    """
    both = speed.dropna(subset="mean")
    if both.empty:
        return ""
    rho = spearman(both["steps"], both["mean"])
    text = "undefined" if np.isnan(rho) else f"= {number(rho, 2)}"
    return f"ρ {text} ({len(both)} directions)"


def limit_of(experiment: Evaluated, name: str) -> int:
    """The steps of an architecture's whole training."""
    batches = -(-experiment.plan.train_samples // BATCH)
    return experiment.plan.members[name].training.epochs * batches


def maps(experiment: Evaluated, speeds: Mapping[str, Speed], caption: str) -> Figure:
    """Steps until D(v) is learned over the frequency of v (paper 1, fig. 2).

    Hatched are directions that not every seed learned. All maps have the same colours.
    """
    columns = min(3, len(speeds))
    rows = math.ceil(len(speeds) / columns)
    figure, axes = style.new(
        rows, columns, max(5.4, 3.4 * columns + 1.1), 3.7 * rows + 0.8
    )
    longest = max(limit_of(experiment, name) for name in speeds)
    fastest = min(
        pd.concat(map(learned, speeds.values()))["steps"], default=longest / 10
    )
    norm = matplotlib.colors.LogNorm(fastest, longest)
    for panel in axes.flat[len(speeds) :]:
        panel.set_visible(False)
    for panel, (name, speed) in zip(axes.flat, speeds.items(), strict=False):
        steps = fourier.plane(fourier.completed(experiment, name, speed), "steps")
        never = np.isinf(steps)
        style.heat_map(
            panel, steps.mask(never), np.nan * steps, never, norm, cmap=STEPS
        )
        title = textwrap.fill(experiment.labels[name], 30)
        panel.set_title(f"{title}\nat most {limit_of(experiment, name):,}", fontsize=9)
    shades = matplotlib.cm.ScalarMappable(norm, STEPS)
    bar = figure.colorbar(shades, ax=axes, label="steps until learned", shrink=0.7)
    bar.ax.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    bar.ax.yaxis.set_major_formatter("{x:,.0f}")
    bar.ax.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    title = "Steps until D(v) is learned, over the frequency of v"
    return style.finish(figure, title, caption, experiment.notice)


def table(experiment: Evaluated, speeds: Mapping[str, Speed]) -> Rows:
    """The table of the steps that each network needs."""
    for name, speed in speeds.items():
        soon = learned(speed)
        row = {"network": experiment.labels[name]}
        row["directions learned"] = f"{len(soon)} of {len(speed)}"
        row["within steps"] = f"{limit_of(experiment, name):,}"
        if len(soon):
            row["median"] = number(soon["steps"].median(), 0)
        if text := correlation(speed):
            row["Spearman's ρ of steps and accuracy"] = text
        yield row


def finding(run: Report) -> Finding:
    """How many waves one network learns, and whether the soonest generalise best."""
    experiment, name, label = run.shown("convergence")
    speed = speed_of(experiment, name, run.experiments["fourier"])
    count = len(learned(speed))
    basis = experiment.seeds([name])
    text = f"{label} learns {count} of {len(speed)} waves with every seed"
    if rho := correlation(speed):
        text += f"; steps and accuracy: {rho.partition(' (')[0]}"
        basis += f"; fitted in fourier along {int(speed['fitted'].sum())}"
    return Finding(name, text, basis)


def section(run: Report) -> Section:
    """The section of `convergence`."""
    experiment = run.experiments["convergence"]
    other = run.experiments["fourier"]
    speeds = {name: speed_of(experiment, name, other) for name in experiment.labels}
    done = f"learned: mean loss of {WINDOW} batches in a row at most {LEARNED:g}"
    science = f"{experiment.science()} · {done}{fourier.transposed_text(experiment)}"
    caption = f"{experiment.sizes()} · {science}"
    figure = maps(
        experiment, speeds, f"{caption}\nhatched: not learned with every seed"
    )
    if compared := [name for name, speed in speeds.items() if correlation(speed)]:
        caption += f" · accuracies: of the experiment fourier, {other.science()} · "
        caption += f"{other.seeds(compared)} · ρ: rank correlation (Spearman)"
    pictures = [Picture("convergence_maps", figure)]
    rows = [*table(experiment, speeds)]
    return Section(experiment, caption, rows, pictures, finding(run))
