"""`convergence` in the report: steps until D(v) is learned over v's frequency (paper 1, fig. 2)."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib.cm
import matplotlib.colors
import matplotlib.patches
import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from pipeline.cells.training import BATCH, LEARNED, WINDOW
from pipeline.measures.ranks import spearman
from pipeline.measures.speed import steps_over_seeds
from pipeline.report import frequencies, style
from pipeline.report.comparison import mean_text, number, p_text
from pipeline.report.frequencies import DIRECTION
from pipeline.report.page import Picture, Section, Table
from pipeline.report.run import Evaluated, Published, Run, not_fitted

STEPS = "cividis_r"  # colour map of steps: few are as light as a high accuracy in `fourier`
OURS = "fourier"  # label of the accuracies that `fourier` measured in this run
BEYOND = 1.25  # place of directions that were not learned, in units of the whole training


@dataclass(frozen=True)
class Speed:
    """How soon one network learns D(v) along each direction, and how well it generalises along it.

    label: the network's; limit: steps of the whole training; steps: `steps_over_seeds` with k_row
    and k_col; accuracies: by label, tables of test accuracies as of `frequencies.by_direction`;
    half: whether one of each direction and its transpose is trained.
    """

    label: str
    limit: int
    steps: pd.DataFrame
    accuracies: Mapping[str, pd.DataFrame]
    half: bool

    @property
    def learned(self) -> pd.DataFrame:
        """The directions that every seed learned, fastest first."""
        return self.steps[np.isfinite(self.steps["mean"])].sort_values("mean", kind="stable")

    def beside(self, called: str) -> pd.DataFrame:
        """Steps joined with one of the `accuracies` by direction: mean_steps, mean_accuracy, …"""
        suffixes = ("_steps", "_accuracy")
        return self.steps.merge(self.accuracies[called], on=DIRECTION, suffixes=suffixes)

    def correlation(self, called: str) -> tuple[float, float, int]:
        """Spearman's ρ of steps and one of the `accuracies`, its p, the number of directions.

        Directions that were not learned come last, all alike.
        """
        both = self.beside(called)
        return *spearman(both["mean_steps"], both["mean_accuracy"]), len(both)

    def correlation_text(self, called: str) -> str:
        """`correlation` as text, for example 'ρ = −0.83 (p < 0.001, 34 directions)'."""
        rho, p, count = self.correlation(called)
        value = "ρ undefined (" if np.isnan(rho) else f"ρ = {number(rho, 2)} ({p_text(p)}, "
        return f"{value}{count} directions)"


def maps(speeds: Sequence[Speed], caption: str, notice: str | None) -> Figure:
    """Steps until D(v) is learned over the frequency of v, and accuracy beside (paper 1, fig. 2).

    Each network has a row: its map of steps, with one scale of colours for all networks, and its
    accuracies against its steps. Values are means over seeds, bars standard deviations.
    """
    figure, axes = style.new(len(speeds), 2, 8.2, 3.6 * len(speeds) + 0.9)
    limit = max(speed.limit for speed in speeds)
    fastest = min((n for speed in speeds for n in speed.learned["mean"]), default=limit / 10)
    norm = matplotlib.colors.LogNorm(fastest, limit)
    for speed, (left, right) in zip(speeds, axes):
        _map(left, speed, norm)
        _scatter(right, speed, fastest) if speed.accuracies else right.set_axis_off()
    shades = matplotlib.cm.ScalarMappable(norm, STEPS)
    place = {"location": "left", "aspect": 18 * len(speeds)}
    bar = figure.colorbar(shades, ax=axes[:, 0], label="steps until learned", **place)
    _plain_ticks(bar.ax.yaxis)
    title = "Steps of training until D(v) is learned, over the frequency of v"
    return style.finish(figure, title, caption, notice)


def _plain_ticks(axis: Axis) -> None:
    ticks = [n * 10**power for power in range(7) for n in (1, 2, 3, 5)]
    axis.set_major_locator(matplotlib.ticker.FixedLocator(ticks))
    axis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def _map(panel: Axes, speed: Speed, norm: matplotlib.colors.LogNorm) -> None:
    rows = frequencies.with_transposes(speed.steps) if speed.half else speed.steps
    axis, steps = frequencies.plane(rows, "mean")
    learned = np.ma.masked_invalid(steps)
    panel.imshow(learned, cmap=STEPS, norm=norm, aspect="equal")
    hatched = {"fc": "white", "ec": "0.6", "linewidth": 0, "hatch": "/////"}
    for row, column in np.argwhere(np.isinf(steps)):
        corner = (column - 0.5, row - 0.5)
        panel.add_patch(matplotlib.patches.Rectangle(corner, 1, 1, **hatched))
    edges = frequencies.frame(panel, axis)
    if len(axis) <= frequencies.NUMBERED:
        frequencies.write(panel, edges, steps, norm(learned) < 0.5, np.full(steps.shape, np.nan))
    never = f"\nhatched: not within {speed.limit:,} steps" if np.isinf(steps).any() else ""
    panel.set_title(textwrap.fill(speed.label, 34) + never, fontsize=9)


def _scatter(panel: Axes, speed: Speed, fastest: float) -> None:
    panel.axhline(50, color="0.6", linewidth=0.8)
    panel.axvline(speed.limit, color="0.6", linewidth=0.8, linestyle=":")
    for called in speed.accuracies:
        both = speed.beside(called)
        marker, colour = ("o", "black") if called == OURS else ("x", style.PUBLISHED)
        look = {"linestyle": "none", "marker": marker, "color": colour, "markersize": 4.5}
        look |= {"elinewidth": 0.7, "label": f"{called}: {speed.correlation_text(called)}"}
        steps = both["mean_steps"].replace(np.inf, BEYOND * speed.limit)
        means, spread = 100 * both["mean_accuracy"], 100 * both["std_accuracy"]
        style.curve(panel, steps, means, both["fitted"], spread, both["std_steps"], **look)
    limits = fastest / 1.2, 1.2 * BEYOND * speed.limit
    xlabel = "steps until learned"
    if np.isinf(speed.steps["mean"]).any():
        xlabel += f"\n(right of the dotted line: not within {speed.limit:,})"
    panel.set(xscale="log", xlim=limits, ylim=(45, 102), xlabel=xlabel)
    _plain_ticks(panel.xaxis)
    panel.set_ylabel("test accuracy (%), fourier\n(grey: guessing)")
    # Above the panel, where no point can lie under it.
    panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def numbers(
    speeds: Sequence[Speed], data: str, noisier: str, seeds: str
) -> tuple[Table, list[str]]:
    """The table of the steps that each network needs, and sentences on them.

    data: ε and σ as text; noisier: the same of `fourier`; seeds: their number as text.
    """
    rows, soon, related = [], [], []
    for speed in speeds:
        learned, count, limit = speed.learned, len(speed.steps), f"{speed.limit:,}"
        if learned.empty:
            ends = ["–", "–", "–"]
            text = f"{speed.label} along none of {count} directions within {limit} steps"
        else:
            (early, first), (late, last) = (
                (mean_text(end["mean"], end["std"], 0), frequencies.pair(end))
                for end in (learned.iloc[0], learned.iloc[-1])
            )
            ends = [f"{early} at {first}", number(learned["mean"].median(), 0), f"{late} at {last}"]
            text = f"{speed.label} after {early} steps at {first} at the earliest, "
            text += f"{late} steps at {last} at the latest"
            if others := count - len(learned):
                text += f", and not within {limit} along {others} of {count} directions"
        soon.append(text)
        rhos = {called: speed.correlation_text(called) for called in speed.accuracies}
        if rhos:
            text = ", ".join(f"{rho} with {_named(called)}" for called, rho in rhos.items())
            related.append(f"{speed.label} {text}: {_meaning(speed)}")
        beside = "; ".join(f"{called}: {rho}" for called, rho in rhos.items()) or "–"
        rows.append([speed.label, f"{len(learned)} of {count}", limit, *ends, beside])
    start = f"D(v) along Fourier directions ({data}, {seeds}) is learned by"
    sentences = [f"{start} {'; by '.join(soon)}."]
    if related:
        start = "Rank correlation of these steps with the accuracy along the same directions"
        sentences.append(f"{start} ({noisier}): {'; '.join(related)}.")
    header = ["network", "directions learned", "within steps", "fewest steps, at (k_row, k_col)"]
    header += ["median", "most", "Spearman's ρ of steps and accuracy"]
    return Table(header, rows), sentences


def _named(called: str) -> str:
    if called == OURS:
        return "the accuracies of `fourier`"
    return "the published ones" + (" of full width" if "width" in called else "")


def _meaning(speed: Speed) -> str:
    correlations = map(speed.correlation, speed.accuracies)
    signs = {np.sign(rho) if p < 0.05 else 0 for rho, p, _ in correlations}
    if signs == {-1}:
        return "what is learned sooner generalises better"
    if signs == {1}:
        return "what is learned sooner generalises worse"
    return "no relation is established"


def speed_of(name: str, run: Evaluated, other: Evaluated, known: Published) -> Speed:
    """The `Speed` of an architecture in the run of `convergence`.

    other: the run of `fourier`, whose accuracies count if it trains the same network under the same
    name; known: published accuracies.
    """
    member, accuracies = run.plan.members[name], {}
    limit = member.training.epochs * -(-run.plan.train_samples // BATCH)
    if name in other.labels and other.plan.members[name].specification == member.specification:
        accuracies[OURS] = frequencies.by_direction(other.of(name))
    if name in known:
        called, accuracy = known[name]
        accuracies[called] = accuracy
    rows = frequencies.canonical(run.of(name))
    steps = steps_over_seeds(rows, DIRECTION).reset_index()
    return Speed(run.labels[name], limit, steps, accuracies, frequencies.is_half(run, name))


def section(whole: Run) -> Section:
    """The section of `convergence`."""
    run, other = whole.experiments["convergence"], whole.experiments["fourier"]
    known = frequencies.published_maps(run)
    speeds = {name: speed_of(name, run, other, known) for name in run.labels}
    data, noisier = frequencies.science(run), frequencies.science(other)
    learned = f"learned: mean loss of {WINDOW} batches in a row at most {LEARNED:g}"
    lines = [f"{run.sizes()} · {data}{run.deviations()} · {learned}"]
    lines[0] += frequencies.transposed_text(run)
    drawn = [
        frequencies.canonical(other.of(name)).merge(speed.beside(OURS)[DIRECTION])
        for name, speed in speeds.items()
        if OURS in speed.accuracies
    ]
    if drawn:
        both = pd.concat(drawn)
        marked = not_fitted(both, ["architecture", *DIRECTION], "hollow", "directions")
        seeds = other.seeds(both["architecture"].unique())
        lines.append(f"accuracies: of the experiment fourier, {noisier} · {seeds} · {marked}")
        lines.append("ρ: rank correlation (Spearman) of steps and accuracy")
    sees = (
        "Left: steps until D(v) is learned; hatched where they were not enough. Right: accuracy of "
        "the previous part against these steps, one point for every wave."
    )
    figure = maps([*speeds.values()], "\n".join(lines), run.notice)
    table, findings = numbers([*speeds.values()], data, noisier, run.seeds())
    return Section(
        "convergence: how soon D(v) is learned along Fourier directions",
        " · ".join(lines),
        table,
        [Picture("convergence_maps", figure, "steps until D(v) is learned", sees)],
        findings,
        "What is learned first",
        "With less noise, count the steps of training until the loss is gone. Are the waves that "
        "are learned soon those along which the network also does well on new samples?",
    )
