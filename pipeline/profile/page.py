"""The page of a profile, one HTML file, and the tables behind it."""

import collections
import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.colors
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.experiments.plan import Plan
from pipeline.measures.fitted import fitted, summary
from pipeline.nads import NADs
from pipeline.nads.estimator import NADsPlan
from pipeline.nads.gallery import pictures
from pipeline.profile import words
from pipeline.profile.checkpoint import Checkpoint
from pipeline.profile.response import Response, wave
from pipeline.project import artifacts
from pipeline.report import nad_sweep, style
from pipeline.report import nads as nads_report
from pipeline.report.fourier import DIRECTION, pair
from pipeline.report.run import Evaluated, Report
from pipeline.report.site import document

HERE = Path(__file__).parent

CHAPTERS = ("sweep", "nads", "patterns", "trained", "trust")
"""The chapters in order; the first two are those of a run's page."""

TILES = 6  # pictures of directions in a row
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


def write(
    folder: Path,
    profiles: Mapping[str, Profile],
    nads_plan: NADsPlan,
    plan: Plan,
    **about: Any,
) -> None:
    """Write index.html, its figures, and the tables behind it.

    Args:
        folder: An existing folder.
        profiles: The networks, by their names in the plans.
        nads_plan: The plan of the NADs.
        plan: The plan of the trained networks.
        about: `checkpoint`, a trained network of the first architecture or None;
            `command`, the shell's line that makes the page; `notices`, sentences on the
            networks.
    """
    results = pd.concat([each.rows for each in profiles.values()])
    accuracies = summary(results, ["architecture", "estimand", "index", "test_set"])
    results.to_csv(folder / "results.csv", index=False)
    accuracies.to_csv(folder / "summary.csv", index=False)
    nads = {}
    shown = set(range(64))
    for name, each in profiles.items():
        each.nads.save(folder / f"nads-{name}.npz")
        nads[name] = vars(each.nads) | {"shape": np.array(each.nads.shape)}
        shown |= {
            *np.linspace(0, len(each.nads.directions) - 1, 256, dtype=int).tolist()
        }
        shown |= {*plan.members[name].grid.indices}
    experiment = Evaluated("nad_sweep", plan, results, accuracies, {}, {})
    report = Report(nads_plan, nads, {"nad_sweep": experiment})
    runs = collections.defaultdict(list)
    runs["nads"].append(nads_report.section(report, sorted(shown)))
    runs["nad_sweep"].append(nad_sweep.section(report, compared=False))
    figures = draw(profiles)
    if about["checkpoint"]:
        figures |= draw_checkpoint(about["checkpoint"], next(iter(profiles.values())))
    for sections in runs.values():
        figures |= {picture.name: picture.figure for picture in sections[0].pictures}
    with artifacts.output(folder / "figures") as place:
        for name, figure in figures.items():
            style.save(figure, place, name)
    environment = document.prepare(runs, folder / "figures", HERE)
    environment.globals |= {"words": words, "profiles": profiles, **about}
    text = document.compose(environment, "profile.html.j2", CHAPTERS)
    (folder / "index.html").write_text(text, encoding="utf-8")


def draw(profiles: Mapping[str, Profile]) -> dict[str, Figure]:
    """Draw the responses to plane waves, by the figures' names."""
    figures = {"waves": maps({each.label: each.response for each in profiles.values()})}
    for name, each in profiles.items():
        titles = []
        waves = []
        for _, row in each.response.frequencies[:TILES].iterrows():
            titles.append(f"{pair(row)}\n{words.times(row['response'])}")
            waves.append(wave(*row[DIRECTION].astype(int), each.response.shape))
        figures[f"weakest-{name}"] = pictures(waves, titles, each.response.shape)
    return figures


def draw_checkpoint(checkpoint: Checkpoint, profile: Profile) -> dict[str, Figure]:
    """Draw the figures of a trained network beside untrained ones, by name."""
    runs = {"before training": checkpoint.before, "trained": checkpoint.after}
    figure, ((panel,),) = style.new(1, 1, 5.4, 2.9)
    for (name, run), look in zip(runs.items(), style.CURVES, strict=False):
        along = words.floored(run.along(profile.nads.directions))
        look = look | {"linestyle": "none", "markersize": 2.5}
        panel.plot(np.arange(len(along)) + 1, along, label=name, **look)
    panel.legend(loc="lower left")
    style.index_axis(panel)
    panel.set(yscale="log", xlabel="index of the architecture's NAD", ylabel=RESPONSE)
    directions = checkpoint.directions(TILES)
    titles = [words.times(value) for value in checkpoint.after.along(directions)]
    return {
        "learned": figure,
        "learned_waves": maps(runs),
        "learned_directions": pictures(directions, titles, profile.response.shape),
    }


def maps(responses: Mapping[str, Response]) -> Figure:
    """Draw responses over spatial frequency by their titles, all on one logarithmic
    scale that spans a factor of 1000 at most."""
    waves = [words.floored(each.waves) for each in responses.values()]
    largest = max(each.max() for each in waves)
    smallest = min(each.min() for each in waves)
    # A scale of less than a factor of 2 would show differences that mean nothing.
    ends = np.clip(smallest, largest / 1000, largest / 2), largest
    norm = matplotlib.colors.LogNorm(*ends, clip=True)
    figure, (panels,) = style.new(1, len(waves), 3.1 * len(waves) + 0.9, 3.4)
    for panel, title, numbers in zip(panels, responses, waves, strict=False):
        height, width = numbers.shape
        left = -(width // 2) - 0.5
        top = -(height // 2) - 0.5
        extent = (left, left + width, top + height, top)
        image = panel.imshow(numbers, style.ACCURACY, norm, extent=extent)
        panel.set_title(title, fontsize=9)
    figure.supxlabel("periods across the width", fontsize=9)
    figure.supylabel("periods down the height", fontsize=9)
    ticks = {"ticks": np.geomspace(*ends, 5), "format": "×{x:.2g}"}
    bar = figure.colorbar(image, ax=panels, label=RESPONSE, shrink=0.9, **ticks)
    bar.minorticks_off()
    return figure
