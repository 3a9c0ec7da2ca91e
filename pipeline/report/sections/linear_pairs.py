"""`linear_pairs`: figures 1, 2a, 2b and 4–8 of paper 2."""

import numpy as np

from pipeline import artifacts
from pipeline.project.shapes import SIDE
from pipeline.report import linear_pairs, style, tables
from pipeline.report.sections import cross_sections, opened, sizes, table

GALLERY = 6
"""Number of NADs shown per network: of its grid's indices, evenly spread."""


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen, results, labels, whole = opened("linear_pairs")
    summary, planes = table("linear_pairs", "summary"), table("linear_pairs", "boundaries")
    sections = cross_sections("linear_pairs")
    separations = (chosen.eps1, chosen.eps2)
    science = f"ε₁ = {chosen.eps1:g}, ε₂ = {chosen.eps2:g}, σ = {chosen.sigma:g}"

    data = artifacts.Data("linear_pairs")
    gallery = {}
    for name in labels:
        indices = sorted(chosen.grid.networks[name].indices)
        some = [indices[i] for i in np.unique(np.linspace(0, len(indices) - 1, GALLERY).round().astype(int))]
        gallery[name] = {i: data.vectors[f"{name}-{i}"].reshape(SIDE, SIDE) for i in some}
    classes = np.array([0, 1])
    points = np.outer(2 * classes - 1, separations)
    counts = {name: int(artifacts.nads(name)["networks"]) for name in labels}
    origins = ", ".join(
        f"{counts[name]} untrained {labels[name]}" if counts[name] else f"{chosen.nads[name].file} ({labels[name]})"
        for name in labels
    )
    style.save(
        linear_pairs.two_sufficient_channels(
            points,
            classes,
            separations,
            gallery,
            labels,
            f"scale {chosen.scale} · {science} · NADs from {origins}",
            notice,
        ),
        folder,
        "two_sufficient_channels",
    )
    figures = {"two_sufficient_channels": "the problem and the NADs"}

    for name in labels:
        caption = f"{sizes(chosen, [name], False)} · {science}"
        rows = results[results["architecture"] == name]
        style.save(linear_pairs.accuracies(rows, labels[name], caption, notice), folder, f"linear_accuracies_{name}")
        means, tilts = {}, {}
        for pair, cells in planes[planes["architecture"] == name].groupby(["index_1", "index_2"]):
            each = [sections[artifacts.cell_name(cell, ("index_1", "index_2"))] for cell in cells.to_dict("records")]
            means[pair], tilts[pair] = np.mean(each, 0), cells["tilt"].mean()
        style.save(
            linear_pairs.boundaries(means, tilts, separations, labels[name], caption, notice),
            folder,
            f"linear_boundaries_{name}",
        )
    figures |= {
        f"linear_{kind}_{name}": f"{kind} of {labels[name]}" for name in labels for kind in ("accuracies", "boundaries")
    }
    style.save(
        linear_pairs.tilt_and_margins(
            {name: planes[planes["architecture"] == name] for name in labels},
            labels,
            separations,
            f"{whole} · {science}",
            notice,
        ),
        folder,
        "linear_tilt_and_margins",
    )
    figures["linear_tilt_and_margins"] = "tilt and margins"
    tilts = planes.groupby(["architecture", "index_1", "index_2"])["tilt"].mean()
    body = [
        f"{whole} · {science} · mean ± standard deviation over seeds where there are several",
        "",
        *tables.linear_pairs(summary, tilts, labels, "resnet18"),
    ]
    return "linear_pairs: D(v₁) ⊕ D(v₂)", body, figures
