"""The page of a profile, one HTML file, and the tables behind it."""

import collections
import dataclasses
import functools
import itertools
import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.colors
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.experiments.plan import Plan
from pipeline.measures.fitted import fitted, summary
from pipeline.nads import NADs, controversial
from pipeline.nads.estimator import NADsPlan
from pipeline.nads.gallery import pictures
from pipeline.profile import words
from pipeline.profile.checkpoint import Checkpoint
from pipeline.profile.response import Response, wave
from pipeline.project import artifacts
from pipeline.report import nad_sweep, style
from pipeline.report import nads as nads_report
from pipeline.report.fourier import DIRECTION, format_frequency
from pipeline.report.run import Record, Report
from pipeline.report.site import document
from pipeline.training.shapes import dimension

HERE = Path(__file__).parent

CHAPTERS = ("sweep", "nads", "patterns", "trained", "trust")
"""The chapters in order; the first two are those of a run's page."""

TILES = 6  # pictures of directions in a row
LARGEST = 3072
"""Largest D of the directions on which two networks disagree; their time grows like
D³."""
RESPONSE = "response, relative to a random pattern"


@dataclasses.dataclass(frozen=True)
class Profile:
    """What was found of one network.

    Attributes:
        label: Its label.
        nads: Its NADs.
        response: Its response along any direction before training.
        rows: Results of networks trained along its NADs, as in results.csv.
    """

    label: str
    nads: NADs
    response: Response
    rows: pd.DataFrame

    @functools.cached_property
    def accuracies(self) -> pd.DataFrame:
        """Accuracies by NAD index: see `pipeline.measures.fitted.summary`."""
        return summary(self.rows, ["index"]).set_index("index")

    @property
    def fitted(self) -> int:
        """The number of trained networks that fit their training set."""
        return int(fitted(self.rows).sum())

    def tabulate(self) -> dict[str, Any]:
        """Return the results as values that JSON has."""
        accuracies = self.accuracies.reset_index().to_json(orient="records")
        return {
            "label": self.label,
            "trust": words.describe_trust(self),
            "relative_error": round(self.nads.error, 4),
            "untrained": self.nads.networks,
            "estimand": self.nads.estimand,
            "trained": len(self.rows),
            "fitted": self.fitted,
            "accuracies": json.loads(accuracies),
        }


def write(
    folder: Path,
    profiles: Mapping[str, Profile],
    nads_plan: NADsPlan,
    plan: Plan,
    checkpoint: Checkpoint | None,
    command: str,
    notices: Sequence[str],
) -> None:
    """Write index.html, its figures, and the tables behind it.

    Args:
        folder: An existing folder.
        profiles: The networks, by their names in the plans.
        nads_plan: The plan of the NADs.
        plan: The plan of the trained networks.
        checkpoint: A trained network of the first architecture, if any.
        command: The line of the shell that makes the page.
        notices: Sentences on the networks.
    """
    results = pd.concat([profile.rows for profile in profiles.values()])
    accuracies = summary(results, ["architecture", "estimand", "index", "test_set"])
    results.to_csv(folder / "results.csv", index=False)
    accuracies.to_csv(folder / "summary.csv", index=False)
    for name, profile in profiles.items():
        profile.nads.save(folder / f"nads-{name}.npz")
    record = Record("nad_sweep", plan, results, accuracies, {}, {})
    runs = make_sections(profiles, nads_plan, record)
    figures = draw_profiles(profiles)
    if checkpoint:
        figures |= draw_checkpoint(checkpoint, next(iter(profiles.values())))
    for sections in runs.values():
        for picture in sections[0].pictures:
            figures[picture.name] = picture.figure
    with artifacts.output(folder / "figures") as part:
        for name, figure in figures.items():
            style.save(figure, part, name)
    environment = document.prepare(runs, folder / "figures", HERE)
    environment.globals |= {
        "words": words,
        "profiles": profiles,
        "checkpoint": checkpoint,
        "command": command,
        "notices": notices,
    }
    text = document.compose(environment, "profile.html.j2", CHAPTERS)
    (folder / "index.html").write_text(text, encoding="utf-8")


def make_sections(
    profiles: Mapping[str, Profile], nads_plan: NADsPlan, record: Record
) -> document.Runs:
    """Make the sections of the NADs and of the trained networks.

    Args:
        profiles: The networks, by their names in the plans.
        nads_plan: The plan of the NADs.
        record: The trained networks of all profiles.
    """
    nads = {}
    shown = set(range(64))
    for name, profile in profiles.items():
        nads[name] = profile.nads
        last = len(profile.nads.directions) - 1
        shown.update(np.linspace(0, last, 256, dtype=int).tolist())
        shown.update(record.plan.members[name].grid.indices)
    report = Report(nads_plan, nads, {"nad_sweep": record})
    runs = collections.defaultdict(list)
    runs["nads"].append(nads_report.make_section(report, sorted(shown)))
    runs["nad_sweep"].append(nad_sweep.make_section(report, with_published=False))
    return runs


def draw_profiles(profiles: Mapping[str, Profile]) -> dict[str, Figure]:
    """Draw the responses to plane waves, by the figures' names."""
    responses = {profile.label: profile.response for profile in profiles.values()}
    figures = {"waves": draw_maps(responses)}
    for name, profile in profiles.items():
        response = profile.response
        titles = []
        waves = []
        for _, row in response.frequencies[:TILES].iterrows():
            text = words.format_response(row["response"])
            titles.append(f"{format_frequency(row)}\n{text}")
            waves.append(wave(*row[DIRECTION].astype(int), response.shape))
        figures[f"weakest-{name}"] = pictures(waves, titles, response.shape)
    for a, b in itertools.combinations(profiles, 2):
        if can_disagree(profiles[a]) and can_disagree(profiles[b]):
            figures[f"apart-{a}-{b}"] = draw_disagreement(profiles[a], profiles[b])
    return figures


def can_disagree(profile: Profile) -> bool:
    """Return whether all NADs of a network are known, and not too many."""
    size = dimension(profile.nads.shape)
    return len(profile.nads.directions) == size <= LARGEST


def draw_disagreement(a: Profile, b: Profile) -> Figure:
    """Draw the directions that one of two networks should learn and the other not.

    Args:
        a: A network.
        b: Another network, with inputs of the same shape.
    """
    directions = []
    titles = []
    for learner, rival in ((a, b), (b, a)):
        v = controversial(learner.nads, rival.nads)
        directions.append(v[0])
        responses = []
        for profile in (learner, rival):
            value = words.format_response(profile.response.along(v)[0])
            responses.append(textwrap.fill(f"{profile.label}: {value}", 24))
        titles.append("\n".join(responses))
    return pictures(np.array(directions), titles, a.nads.shape)


def draw_checkpoint(checkpoint: Checkpoint, profile: Profile) -> dict[str, Figure]:
    """Draw the figures of a trained network beside untrained ones, by name."""
    responses = {"before training": checkpoint.before, "trained": checkpoint.after}
    figure, ((panel,),) = style.new_figure(1, 1, 5.4, 2.9)
    for (name, response), look in zip(responses.items(), style.CURVES, strict=False):
        along = words.limit_below(response.along(profile.nads.directions))
        panel.plot(
            np.arange(len(along)) + 1,
            along,
            look["marker"],
            color=look["color"],
            markersize=2.5,
            label=name,
        )
    panel.legend(loc="lower left")
    style.set_index_axis(panel)
    panel.set(yscale="log", xlabel="index of the architecture's NAD", ylabel=RESPONSE)
    directions = checkpoint.directions(TILES)
    titles = [
        words.format_response(value) for value in checkpoint.after.along(directions)
    ]
    return {
        "learned": figure,
        "learned_waves": draw_maps(responses),
        "learned_directions": pictures(directions, titles, profile.response.shape),
    }


def draw_maps(responses: Mapping[str, Response]) -> Figure:
    """Draw responses over spatial frequency, on one logarithmic scale.

    The scale spans a factor of 1000 at most.

    Args:
        responses: Responses by title.
    """
    maps = [words.limit_below(response.waves) for response in responses.values()]
    largest = max(values.max() for values in maps)
    smallest = min(values.min() for values in maps)
    # A scale of less than a factor of 2 would show differences that mean nothing.
    smallest = np.clip(smallest, largest / 1000, largest / 2)
    norm = matplotlib.colors.LogNorm(smallest, largest, clip=True)
    figure, (panels,) = style.new_figure(1, len(maps), 3.1 * len(maps) + 0.9, 3.4)
    for panel, title, values in zip(panels, responses, maps, strict=True):
        height, width = values.shape
        left = -(width // 2) - 0.5
        top = -(height // 2) - 0.5
        extent = (left, left + width, top + height, top)
        image = panel.imshow(values, style.ACCURACY, norm, extent=extent)
        panel.set_title(title, fontsize=9)
    figure.supxlabel("periods across the width", fontsize=9)
    figure.supylabel("periods down the height", fontsize=9)
    bar = figure.colorbar(
        image,
        ax=panels,
        label=RESPONSE,
        shrink=0.9,
        ticks=np.geomspace(smallest, largest, 5),
        format="×{x:.2g}",
    )
    bar.minorticks_off()
    return figure
