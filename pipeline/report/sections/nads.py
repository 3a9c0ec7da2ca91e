"""The NADs of the scale's networks: spectra, galleries, overlap of the two estimands."""

import numpy as np

from pipeline import artifacts, params
from pipeline.report import nads as figures_of_nads
from pipeline.report import style, tables
from pipeline.report.labels import label
from pipeline.report.sections import full_width


def gaps_among(groups, count):
    """The indices after which the first `count` clear gaps of a spectrum lie, as text."""
    return ", ".join(f"{first - 1}" for first in np.unique(groups)[1 : count + 1]) or "none"


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen = params.load()
    estimator = chosen.estimator
    step = f", h = {estimator.step:g}" if estimator.estimand == "secant" else ""
    about = f"scale {chosen.scale} · {estimator.estimand}{step} · point: {estimator.point}"
    labels = {name: label(chosen.architectures[name]) for name in chosen.nads}
    estimates, published, pairs, rows, figures = {}, {}, {}, [], {}
    for name, source in chosen.nads.items():
        nads = artifacts.nads(name)
        shape, networks = tuple(nads["shape"]), int(nads["networks"])
        origin = (
            f"{networks} untrained networks · ≈: indices whose eigenvalues are equal within the errors"
            if networks
            else f"from {source.file}"
        )
        style.save(
            figures_of_nads.gallery(
                nads["directions"],
                shape,
                nads["nearby"] if networks else None,
                f"NADs of {labels[name]}",
                f"{about} · {origin}",
                notice,
            ),
            folder,
            f"nad_gallery_{name}",
        )
        figures[f"nad_gallery_{name}"] = f"NADs of {labels[name]}"
        if not networks:
            rows.append([labels[name], source.file, *["–"] * 7])
            continue
        estimates[name] = nads["eigenvalues"], nads["deviations"]
        if nads["estimand"] == "secant":  # as the published ones are
            published |= full_width(chosen, [name], figures_of_nads.PUBLISHED)
        first, *halves = 100 * np.sqrt([nads["eigenvalues"][0], *nads["halves"][:, 0]])
        ten = min(10, len(nads["overlap"]))
        rows.append(
            [
                labels[name],
                networks,
                nads["method"],
                nads["symmetry"],
                f"{float(nads['error']):.3f}",
                f"{nads['overlap'][ten - 1]:.2f} ({ten / np.prod(shape):.2f})",
                gaps_among(nads["groups"], 4),
                f"{first:.3g} ({halves[0]:.3g}, {halves[1]:.3g})",
                f"{100 * published[name][0] / published[name][1] ** 0.5:.3g}" if name in published else "–",
            ]
        )
        other = estimator.other().estimand
        # Where all eigenvalues are equal, as in logistic regression, there are no directions to compare.
        if estimator.compare and source.first is None and nads["eigenvalues"][0] > 1.01 * nads["eigenvalues"][-1]:
            compared = artifacts.nads(name, f".{other}")
            pairs[name] = nads["directions"], compared["directions"]
            labels[f"{name}.{other}"] = (
                f"{labels[name]}\nerrors of C: {float(nads['error']):.2f}, {float(compared['error']):.2f}"
            )
    if estimates:
        figures = {"nad_spectra": "spectra"} | figures
        style.save(
            figures_of_nads.spectra(estimates, labels, published, f"{about} · bands: ± 2 standard errors", notice),
            folder,
            "nad_spectra",
        )
    if pairs:
        figures["nad_overlaps"] = "overlap of the two estimands' NADs"
        style.save(
            figures_of_nads.overlaps(
                pairs,
                {name: labels[f"{name}.{other}"] for name in pairs},
                (estimator.estimand, other),
                f"{about} · {other}: {compared['point']}, averaged over {compared['symmetry']}",
                notice,
            ),
            folder,
            "nad_overlaps",
        )
    header = [
        "network",
        "untrained networks",
        "method",
        "averaged over",
        "relative error of C",
        "overlap of the halves' first ten (chance)",
        "first clear gaps after index",
        "first singular value × √10,000 (the two halves)",
        "published",
    ]
    return "NADs", [about, "", *tables.table(header, rows)], figures
