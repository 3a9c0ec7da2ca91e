"""`convergence` in the report: steps until D(v) is learned, over the frequency of v (paper 1, fig. 2)."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import matplotlib.cm
import matplotlib.colors
import matplotlib.patches
import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from pipeline.measures.ranks import spearman
from pipeline.measures.speed import steps_over_seeds
from pipeline.report import style
from pipeline.report.comparison import number, p_text
from pipeline.report.evaluated import Evaluated, evaluated, not_fitted
from pipeline.report.fourier import LARGEST_WITH_NUMBERS, by_direction
from pipeline.report.frequencies import (
    DIRECTION,
    axes_of,
    canonical,
    inside,
    pair,
    plane,
    transposed_text,
    with_transposes,
)
from pipeline.report.page import Picture, Section, Table
from pipeline.report.published import table as published_table
from pipeline.training.single import BATCH, LEARNED, WINDOW

STEPS = "cividis_r"
"""Colour map of steps: what is learned soon is as light as a high accuracy in the maps of `fourier`."""

OURS = "fourier"
"""What a figure calls the accuracies that `fourier` found in this run."""

BEYOND = 1.25
"""Where directions that were not learned stand on the axis of steps, in units of the whole training."""


@dataclass(frozen=True)
class Speed:
    """How soon one network learns D(v) along each direction, and how well it generalises along it.

    label: its name; limit: steps of the whole training; steps: k_row, k_col, and what `steps_over_seeds` gives; accuracies: by
    what a figure calls them, test accuracies along Fourier directions as `by_direction` gives them; half: whether it is trained
    along one of each v and its transpose, and its map shows the steps of both at both.
    """

    label: str
    limit: int
    steps: pd.DataFrame
    accuracies: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    half: bool = False

    @property
    def learned(self) -> pd.DataFrame:
        """The directions that every seed learned, fastest first."""
        return self.steps[np.isfinite(self.steps["mean"])].sort_values("mean", kind="stable")

    def beside(self, called: str) -> pd.DataFrame:
        """The directions that have steps and one of the `accuracies`: k_row, k_col, mean and std of both, fitted.

        The columns are mean_steps, std_steps, mean_accuracy and std_accuracy.
        """
        return self.steps.merge(self.accuracies[called], on=DIRECTION, suffixes=("_steps", "_accuracy"))

    def correlation(self, called: str) -> tuple[float, float, int]:
        """Spearman's ρ of steps and one of the `accuracies`, its p-value, and the number of directions.

        Directions that were not learned come last, all alike.
        """
        both = self.beside(called)
        return *spearman(both["mean_steps"], both["mean_accuracy"]), len(both)


def maps(speeds: Sequence[Speed], caption: str, notice: str | None) -> Figure:
    """Steps until D(v) is learned over the frequency of v, and accuracy along the same directions (paper 1, fig. 2).

    One row for each network: its map of steps, on one logarithmic scale of colours, and beside it its accuracies against its
    steps. Both are means over seeds, and bars are standard deviations.
    """
    figure, axes = style.new(len(speeds), 2, 8.2, 3.6 * len(speeds) + 0.9)
    limit = max(speed.limit for speed in speeds)
    fastest = min((steps for speed in speeds for steps in speed.learned["mean"]), default=limit / 10)
    norm = matplotlib.colors.LogNorm(fastest, limit)
    for speed, (left, right) in zip(speeds, axes):
        _map(left, speed, norm)
        _scatter(right, speed, fastest)
    shades = matplotlib.cm.ScalarMappable(norm, STEPS)
    bar = figure.colorbar(shades, ax=axes[:, 0], label="steps until learned", location="left", aspect=18 * len(speeds))
    _plain_ticks(bar.ax.yaxis)
    return style.finish(figure, "Steps of training until D(v) is learned, over the frequency of v", caption, notice)


def _plain_ticks(axis: Axis) -> None:
    """Give a logarithmic axis of steps its ticks, as plain numbers: 1, 2, 3, 5, 10, …"""
    axis.set_major_locator(matplotlib.ticker.FixedLocator([n * 10**power for power in range(7) for n in (1, 2, 3, 5)]))
    axis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def _map(panel: Axes, speed: Speed, norm: matplotlib.colors.LogNorm) -> None:
    """Draw one map of steps; directions that were not learned are hatched."""
    axis, steps = plane(with_transposes(speed.steps) if speed.half else speed.steps, "mean")
    panel.imshow(np.ma.masked_invalid(steps), cmap=STEPS, norm=norm, aspect="equal")
    for row, column in np.argwhere(np.isinf(steps)):
        corner = (column - 0.5, row - 0.5)
        panel.add_patch(matplotlib.patches.Rectangle(corner, 1, 1, fc="white", ec="0.6", linewidth=0, hatch="/////"))
    if len(axis) <= LARGEST_WITH_NUMBERS:
        middle = sum(inside(axis)) / 2
        for (row, column), value in np.ndenumerate(steps):
            if np.isfinite(value):
                colour = "black" if norm(value) < 0.5 else "white"
                panel.text(
                    middle[column], middle[row], f"{value:.0f}", ha="center", va="center", fontsize=6, color=colour
                )
    axes_of(panel, axis)
    never = f"\nhatched: not within {speed.limit:,} steps" if np.isinf(steps).any() else ""
    panel.set_title(textwrap.fill(speed.label, 34) + never, fontsize=9)


def _scatter(panel: Axes, speed: Speed, fastest: float) -> None:
    """Draw accuracies against steps from the fastest on; directions that were not learned stand beyond the last step."""
    if not speed.accuracies:
        panel.set_axis_off()
        panel.text(0.5, 0.5, "no accuracies to compare with", ha="center", va="center", transform=panel.transAxes)
        return
    panel.axhline(50, color="0.6", linewidth=0.8)
    panel.axvline(speed.limit, color="0.6", linewidth=0.8, linestyle=":")
    for called in speed.accuracies:
        ours, both = called == OURS, speed.beside(called)
        curve = panel.errorbar(
            both["mean_steps"].replace(np.inf, BEYOND * speed.limit),
            100 * both["mean_accuracy"],
            yerr=_bars(100 * both["std_accuracy"]),
            xerr=_bars(both["std_steps"]),
            linestyle="none",
            marker="o" if ours else "x",
            color="black" if ours else style.PUBLISHED,
            markersize=4.5,
            elinewidth=0.7,
            label=f"{called}: {correlation_text(speed, called)}",
        )
        style.hollow(panel, curve, both["fitted"] == 0)
    panel.set(
        xscale="log", xlim=(fastest / 1.2, 1.2 * BEYOND * speed.limit), ylim=(45, 102), xlabel="steps until learned"
    )
    _plain_ticks(panel.xaxis)
    if np.isinf(speed.steps["mean"]).any():
        panel.set_xlabel(f"{panel.get_xlabel()}\n(right of the dotted line: not within {speed.limit:,})")
    panel.set_ylabel("test accuracy (%), fourier\n(grey: guessing)")
    # Above the panel, where no point can lie under it.
    panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _bars(deviations: pd.Series) -> pd.Series | None:
    """Lengths of error bars; None where there are none."""
    return None if deviations.isna().all() else deviations


def correlation_text(speed: Speed, called: str) -> str:
    """`Speed.correlation` as text, for example 'ρ = −0.83 (p < 0.001, 34 directions)'."""
    rho, p, count = speed.correlation(called)
    value = "ρ undefined (" if np.isnan(rho) else f"ρ = {number(rho, 2)} ({p_text(p)}, "
    return f"{value}{count} direction{'s' if count > 1 else ''})"


def steps_text(direction: pd.Series) -> str:
    """Steps of a direction as text: mean over seeds, and standard deviation where there are several."""
    return f"{direction['mean']:,.0f}" + ("" if np.isnan(direction["std"]) else f" ± {direction['std']:,.0f}")


def table(speeds: Sequence[Speed]) -> Table:
    """One row for each network: how many directions it learned, how soon, and how this goes with its accuracy."""
    rows = []
    for speed in speeds:
        learned, ends = speed.learned, ["–", "–", "–"]
        if len(learned):
            ends = [f"{steps_text(end)} at {pair(end)}" for _, end in learned.iloc[[0, -1]].iterrows()]
            ends.insert(1, f"{learned['mean'].median():,.0f}")
        compared = [f"{called}: {correlation_text(speed, called)}" for called in speed.accuracies]
        rows.append([speed.label, f"{len(learned)} of {len(speed.steps)}", f"{speed.limit:,}", *ends])
        rows[-1].append("; ".join(compared) or "–")
    header = ["network", "directions learned", "within steps", "fewest steps, at (k_row, k_col)", "median", "most"]
    return Table([*header, "Spearman's ρ of steps and accuracy"], rows)


def findings(speeds: Sequence[Speed], data: str, noisier: str, seeds: str) -> list[str]:
    """How soon each network learns D(v), and how that goes with the accuracy along the same directions: a sentence each.

    data: what D(v) is here; noisier: what it is in `fourier`; seeds: their number as text.
    """
    soon, related = [], []
    for speed in speeds:
        learned, count = speed.learned, len(speed.steps)
        if learned.empty:
            soon.append(f"{speed.label} along none of {count} directions within {speed.limit:,} steps")
            continue
        first, last = (f"{steps_text(end)} steps at {pair(end)}" for _, end in learned.iloc[[0, -1]].iterrows())
        others = count - len(learned)
        slower = f", and not within {speed.limit:,} along {others} of {count} directions" if others else ""
        soon.append(f"{speed.label} after {first} at the earliest, {last} at the latest{slower}")
    for speed in speeds:
        if known := [f"{correlation_text(speed, called)} with {_named(called)}" for called in speed.accuracies]:
            related.append(f"{speed.label} {', '.join(known)}{_meaning(speed)}")
    sentences = [f"D(v) along Fourier directions ({data}, {seeds}) is learned by {'; by '.join(soon)}."]
    if related:
        sentences.append(
            f"Rank correlation of these steps with the accuracy along the same directions ({noisier}): {'; '.join(related)}."
        )
    return sentences


def _named(called: str) -> str:
    """What a sentence calls accuracies."""
    if called == OURS:
        return "the accuracies of `fourier`"
    return "the published ones" + (" of full width" if "width" in called else "")


def _meaning(speed: Speed) -> str:
    """What a network's correlations say where they agree on it."""
    found = [speed.correlation(called) for called in speed.accuracies]
    if all(p < 0.05 and rho < 0 for rho, p, _ in found):
        return ": what is learned sooner generalises better"
    if all(p < 0.05 and rho > 0 for rho, p, _ in found):
        return ": what is learned sooner generalises worse"
    return ": no relation is established"


def speed_of(name: str, run: Evaluated, other: Evaluated, published: Mapping[str, tuple[str, pd.DataFrame]]) -> Speed:
    """The `Speed` of an architecture in `convergence` (run), beside what `fourier` (other) has of the same network.

    published: architecture → what published accuracies are called, and their rows: k_row, k_col, accuracy.
    """
    member, accuracies = run.plan.members[name], {}
    rows = canonical(run.results[run.results["architecture"] == name])
    limit = member.training.epochs * -(-run.plan.train_samples // BATCH)
    if name in other.labels and other.plan.members[name].specification == member.specification:
        accuracies[OURS] = by_direction(other.results[other.results["architecture"] == name])
    if name in published:
        called, values = published[name]
        accuracies[called] = by_direction(values)
    steps = steps_over_seeds(rows, DIRECTION).reset_index()
    return Speed(run.labels[name], limit, steps, accuracies, not member.grid.transposes)


def section(notice: str | None) -> Section:
    """The section of `convergence`."""
    run, other = evaluated("convergence", "steps"), evaluated("fourier")
    values = published_table("fourier")
    networks = values.columns.drop(DIRECTION)
    published = run.beside({name: values[DIRECTION].assign(accuracy=values[name] / 100) for name in networks})
    speeds = [speed_of(name, run, other, published) for name in run.labels]
    data, noisier = (f"ε = {each.plan.settings.eps:g}, σ = {each.plan.settings.sigma:g}" for each in (run, other))
    learned = f"learned: mean loss of {WINDOW} batches in a row at most {LEARNED:g}"
    lines = [f"{run.sizes()} · {data}{run.deviations()} · {learned}{transposed_text(run.plan, run.labels)}"]
    if same := {name: speed.beside(OURS) for name, speed in zip(run.labels, speeds) if OURS in speed.accuracies}:
        drawn = pd.concat(same, names=["architecture"]).reset_index("architecture")[["architecture", *DIRECTION]]
        rows = canonical(other.results).merge(drawn)
        marked = not_fitted(rows, ["architecture", *DIRECTION], "hollow", "directions")
        lines.append(f"accuracies of fourier: {noisier} · {other.seeds(same)} · {marked}")
    return Section(
        "convergence: how soon D(v) is learned along Fourier directions",
        " · ".join(lines),
        table(speeds),
        [
            Picture(
                "convergence_maps",
                maps(speeds, "\n".join(lines), notice),
                "steps until D(v) is learned",
            )
        ],
        findings(speeds, data, noisier, run.seeds()),
    )
