"""`convergence` in the report: steps until D(v) is learned over v's frequency (paper 1, fig. 2)."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import matplotlib.cm
import matplotlib.colors
import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from pipeline.cells.training import BATCH, LEARNED, WINDOW
from pipeline.measures.ranks import spearman
from pipeline.report import fourier, style
from pipeline.report.comparison import mean_text, number
from pipeline.report.fourier import DIRECTION
from pipeline.report.page import Picture, Rows, Section
from pipeline.report.run import Evaluated, Report, not_fitted

STEPS = "cividis_r"  # colour map of steps: few are as light as a high accuracy in `fourier`
BEYOND = 1.25  # place of directions that were not learned, in units of the whole training
OURS = "fourier"  # label of the accuracies that `fourier` measured in this run


@dataclass(frozen=True)
class Speed:
    """How soon one network learns D(v) along each direction, and how well it generalises along it.

    limit: steps of the whole training; steps: a row for each direction with mean and deviation over
    seeds, `steps` (inf if not learned) and `std_x`; beside: by label of the accuracies, the rows of
    `fourier.by_direction` to which steps are joined.
    """

    limit: int
    steps: pd.DataFrame
    beside: Mapping[str, pd.DataFrame]

    @property
    def learned(self) -> pd.DataFrame:
        """The directions that every seed learned, fastest first."""
        return self.steps[np.isfinite(self.steps["steps"])].sort_values("steps", kind="stable")

    @property
    def correlations(self) -> dict[str, str]:
        """Spearman's ρ of steps and accuracies as text, by label.

        Directions that were not learned come last, all alike.
        """
        found = {}
        for called, both in self.beside.items():
            rho, _ = spearman(both["steps"], both["mean"])
            text = "undefined" if np.isnan(rho) else f"= {number(rho, 2)}"
            found[called] = f"ρ {text} ({len(both)} directions)"
        return found


def metrics(experiment: Evaluated, name: str) -> dict[str, float]:
    """The share of directions that a network learns with every seed."""
    rows = experiment.of(name)
    return {"learned": rows["steps"].notna().groupby([rows[k] for k in DIRECTION]).all().mean()}


def maps(experiment: Evaluated, speeds: Mapping[str, Speed], caption: str) -> Figure:
    """Steps until D(v) is learned over the frequency of v, and accuracy beside (paper 1, fig. 2).

    Each network has a row; its map has the colours of all networks' maps.
    """
    figure, axes = style.new(len(speeds), 2, 8.2, 3.6 * len(speeds) + 0.9)
    limit = max(speed.limit for speed in speeds.values())
    learned = pd.concat(speed.learned["steps"] for speed in speeds.values())
    fastest = min(learned, default=limit / 10)
    norm = matplotlib.colors.LogNorm(fastest, limit)
    for (name, speed), (left, right) in zip(speeds.items(), axes):
        steps = fourier.plane(fourier.completed(experiment, name, speed.steps), "steps")
        never = np.isinf(steps)
        style.heat_map(left, steps.mask(never), np.nan * steps, never, norm, cmap=STEPS)
        hatched = f"\nhatched: not by every seed within {speed.limit:,} steps"
        hatched = hatched if never.any(axis=None) else ""
        left.set_title(textwrap.fill(experiment.labels[name], 34) + hatched, fontsize=9)
        _scatter(right, speed, fastest) if speed.beside else right.set_axis_off()
    shades = matplotlib.cm.ScalarMappable(norm, STEPS)
    place = {"location": "left", "aspect": 18 * len(speeds)}
    bar = figure.colorbar(shades, ax=axes[:, 0], label="steps until learned", **place)
    _plain_ticks(bar.ax.yaxis)
    title = "Steps of training until D(v) is learned, over the frequency of v"
    return style.finish(figure, title, caption, experiment.notice)


def _plain_ticks(axis: Axis, most: float = np.inf) -> None:
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 3, 5)))
    axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x <= most else "")
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def _scatter(panel: Axes, speed: Speed, fastest: float) -> None:
    panel.axhline(50, color="0.6", linewidth=0.8)
    panel.axvline(speed.limit, color="0.6", linewidth=0.8, linestyle=":")
    for called, text in speed.correlations.items():
        both = speed.beside[called]
        marker, colour = ("o", "black") if called == OURS else ("x", style.PUBLISHED)
        look = {"linestyle": "none", "marker": marker, "color": colour, "markersize": 4.5}
        look |= {"elinewidth": 0.7, "label": f"{called}: {text}"}
        x = both["steps"].replace(np.inf, BEYOND * speed.limit)
        style.curve(panel, x, both.assign(**100 * both[["mean", "std"]]), **look)
    xlabel = "steps until learned"
    if np.isinf(speed.steps["steps"]).any():
        xlabel += f"\n(right of the dotted line:\nnot by every seed within {speed.limit:,})"
    panel.set(xscale="log", ylim=(45, 102), xlabel=xlabel)
    panel.set_xlim(fastest / 1.2, 1.2 * BEYOND * speed.limit)
    _plain_ticks(panel.xaxis, speed.limit)
    panel.set_ylabel("test accuracy (%), fourier\n(grey: guessing)")
    panel.legend(**style.ABOVE)


def table(experiment: Evaluated, speeds: Mapping[str, Speed]) -> Rows:
    """The table of the steps that each network needs."""
    for name, speed in speeds.items():
        learned = speed.learned
        row = {"network": experiment.labels[name]}
        row["directions learned"] = f"{len(learned)} of {len(speed.steps)}"
        row["within steps"] = f"{speed.limit:,}"
        if len(learned):
            first, last = (
                f"{mean_text(end['steps'], end['std_x'], 0)} at {fourier.pair(end)}"
                for end in (learned.iloc[0], learned.iloc[-1])
            )
            row["fewest steps, at (k_row, k_col)"] = first
            row["median"] = number(learned["steps"].median(), 0)
            row["most"] = last
        if speed.beside:
            texts = [f"{called}: {rho}" for called, rho in speed.correlations.items()]
            row["Spearman's ρ of steps and accuracy"] = "; ".join(texts)
        yield row


def finding(run: Report, speeds: Mapping[str, Speed]) -> str:
    """How many waves one network learns, and whether the soonest generalise best."""
    experiment, name, label = run.shown("convergence")
    speed = speeds[name]
    text = f"{label} learns {len(speed.learned)} of {len(speed.steps)} waves with every seed"
    text += f" ({experiment.seeds([name])})"
    if OURS in speed.beside:
        fitted = int(speed.beside[OURS]["fitted"].sum())
        text += f"; steps and accuracy: {speed.correlations[OURS]}, fitted along {fitted}"
    return f"{text}."


def speed_of(name: str, experiment: Evaluated, other: Evaluated) -> Speed:
    """The `Speed` of an architecture in the run of `convergence`; other: the run of `fourier`."""
    member, accuracies = experiment.plan.members[name], {}
    if name in other.labels:
        accuracies[OURS] = fourier.by_direction(other.of(name))
    if name in (published := fourier.published_maps(experiment)):
        accuracies |= dict([published[name]])
    limit = member.training.epochs * -(-experiment.plan.train_samples // BATCH)
    # A direction that one seed did not learn comes last: its mean is infinite, its deviation nan.
    rows = fourier.canonical(experiment.of(name)).fillna({"steps": np.inf})
    rows = rows.groupby(DIRECTION, as_index=False)
    steps = rows.agg(steps=("steps", "mean"), std_x=("steps", "std"))
    beside = {called: steps.merge(table, on=DIRECTION) for called, table in accuracies.items()}
    return Speed(limit, steps, beside)


def section(run: Report) -> Section:
    """The section of `convergence`."""
    experiment, other = run.experiments["convergence"], run.experiments["fourier"]
    speeds = {name: speed_of(name, experiment, other) for name in experiment.labels}
    learned = f"learned: mean loss of {WINDOW} batches in a row at most {LEARNED:g}"
    science = f"{experiment.science()} · {learned}{fourier.transposed_text(experiment)}"
    lines = [f"{experiment.sizes()} · {science}"]
    if drawn := [name for name, speed in speeds.items() if OURS in speed.beside]:
        noisier = f"of the experiment fourier, {other.science()} · {other.seeds(drawn)}"
        lines.append(f"accuracies: {noisier} · {not_fitted('hollow')}")
        lines.append("ρ: rank correlation (Spearman) of steps and accuracy")
    figure, alt = maps(experiment, speeds, "\n".join(lines)), "steps until D(v) is learned"
    caption, pictures = " · ".join(lines), [Picture("convergence_maps", figure, alt, "maps")]
    rows = [*table(experiment, speeds)]
    return Section(experiment, caption, rows, pictures, finding(run, speeds))
