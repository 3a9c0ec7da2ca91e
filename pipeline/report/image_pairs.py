"""`image_pairs` in the report: accuracy against the NAD index of the linear channel (paper 2, §4, fig. 3)."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.evaluated import evaluated
from pipeline.report.page import Picture, Section, Table, percent

NAMES = {"all": "both", "linear": "linear channel alone", "images": "images alone"}


def images_or_linear_channel(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    sigmas: Mapping[str, float],
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy with both, with the linear channel alone and with the images alone, against the NAD index of v (fig. 3).

    results: reports/image_pairs/results.csv; labels and sigmas: architecture → its name, its noise σ. Points are means
    over seeds, bars one standard deviation.
    """
    names = list(results["architecture"].unique())
    figure, axes = style.new(1, len(names), 2.9 * len(names) + 0.5, 3.6, sharey=True)
    for panel, name in zip(axes[0], names):
        rows = results[results["architecture"] == name]
        for test_set, look in style.CURVES.items():
            cells = rows[rows["test_set"] == test_set].groupby("index")["accuracy"]
            mean, spread = 100 * cells.mean(), 100 * cells.std(ddof=1)
            panel.errorbar(
                mean.index + 1,
                mean,
                None if spread.isna().all() else spread,
                label=NAMES[test_set],
                markersize=5,
                capsize=3,
                **look,
            )
        indices = sorted(rows["index"].unique())
        panel.axhline(50, color="0.6", linewidth=0.8)
        panel.set(
            xscale="log", title=f"{labels[name]}, σ = {sigmas[name]:g}", ylim=(45, 102), xlabel="NAD index of $v$"
        )
        panel.set_xticks([i + 1 for i in indices], [str(i) for i in indices], rotation=45)
        panel.minorticks_off()
    axes[0, 0].set_ylabel("test accuracy (%)")
    axes[0, -1].legend(loc="best")
    return style.finish(figure, "Images ⊕ D(v): what is used when both suffice", caption, notice)


def table(summary: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """One row per architecture and NAD index: accuracies with both, with the linear channel alone, with the images alone."""
    rows = []
    for (name, index), cell in summary.groupby(["architecture", "index"], sort=False):
        at = cell.set_index("test_set")
        rows.append([labels[name], index, *(percent(at.loc[test, "mean"], at.loc[test, "std"]) for test in NAMES)])
    return Table(["network", "NAD index of v", "both (%)", "linear alone (%)", "images alone (%)"], rows)


def section(notice: str | None) -> Section:
    """The section of `image_pairs`."""
    run = evaluated("image_pairs")
    caption = f"{run.sizes()} · ε = {run.plan.settings.eps:g} · images: {artifacts.about_images()['name']}"
    figure = images_or_linear_channel(run.results, run.labels, run.plan.settings.sigma, caption, notice)
    return Section(
        "image_pairs: images ⊕ D(v)",
        caption,
        table(run.table("summary"), run.labels),
        [Picture("images_or_linear_channel", figure, "images or linear channel")],
    )
