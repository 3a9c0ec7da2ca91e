"""Stage `render`: the tables of reports/ as figures and a page -> reports/figures/, reports/report.md. Never a model."""

import numpy as np
import pandas as pd

from pipeline import architectures, artifacts, experiments, params
from pipeline.errors import one_sentence
from pipeline.figures import image_pairs, linear_pairs, report, style
from pipeline.figures import nads as figures_of_nads

GALLERY = 6
"""Number of NADs shown per network: of its grid's indices, evenly spread."""


def tables(name):
    """results.csv, summary.csv, boundaries.csv and the cross-sections (cell → array) of an experiment."""
    folder = artifacts.REPORTS / name
    results = pd.read_csv(artifacts.present(folder / "results.csv", f"evaluate {name}"))
    with np.load(folder / "cross_sections.npz", allow_pickle=False) as file:
        sections = {key: file[key].astype(np.float64) for key in file}
    return results, pd.read_csv(folder / "summary.csv"), pd.read_csv(folder / "boundaries.csv"), sections


def sizes(chosen, names, samples):
    """The caption line: scale, seeds, training samples (as many as there really were) and epochs."""
    seeds = f"{chosen.grid.seeds} seed" + ("s" if chosen.grid.seeds > 1 else "")
    epochs = [chosen.grid.networks[name].epochs for name in names]
    each = (
        f"{epochs[0]} epochs"
        if len(set(epochs)) == 1
        else "epochs "
        + ", ".join(
            f"{count} ({architectures.label(chosen.architectures[name])})" for name, count in zip(names, epochs)
        )
    )
    return f"scale {chosen.scale} · {seeds} · {samples:,} training samples · {each}"


def gaps_among(groups, count):
    """The indices after which the first `count` clear gaps of a spectrum lie, as text."""
    return ", ".join(f"{first - 1}" for first in np.unique(groups)[1 : count + 1]) or "none"


def render_nads(folder, notice):
    """Spectra, galleries and overlaps of the scale's networks; returns their section of the report."""
    chosen = params.load()
    estimator = chosen.estimator
    step = f", h = {estimator.step:g}" if estimator.estimand == "secant" else ""
    about = f"scale {chosen.scale} · {estimator.estimand}{step} · point: {estimator.point}"
    labels = {name: architectures.label(chosen.architectures[name]) for name in chosen.nads}
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
        # The published values are those of secants of the networks at full width.
        specification = chosen.architectures[name]
        network = specification["network"]
        if set(specification) == {"network"} and network in figures_of_nads.PUBLISHED and nads["estimand"] == "secant":
            published[name] = figures_of_nads.PUBLISHED[network]
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
    return "NADs", [about, "", *report.table(header, rows)], figures


def render_linear_pairs(folder, notice):
    """Figures 1, 2a, 2b and 4–8 of paper 2; returns their section of the report."""
    chosen = params.load(experiment=experiments.find("linear_pairs"))
    results, summary, planes, sections = tables("linear_pairs")
    names = list(results["architecture"].unique())
    labels = {name: architectures.label(chosen.architectures[name]) for name in names}
    separations = (chosen.eps1, chosen.eps2)
    science = f"ε₁ = {chosen.eps1:g}, ε₂ = {chosen.eps2:g}, σ = {chosen.sigma:g}"

    data = artifacts.Data("linear_pairs")
    gallery = {}
    for name in names:
        indices = sorted(chosen.grid.networks[name].indices)
        some = [indices[i] for i in np.unique(np.linspace(0, len(indices) - 1, GALLERY).round().astype(int))]
        gallery[name] = {i: data.vectors[f"{name}-{i}"].reshape(params.SIDE, params.SIDE) for i in some}
    classes = np.array([0, 1])
    points = np.outer(2 * classes - 1, separations)
    counts = {name: int(artifacts.nads(name)["networks"]) for name in names}
    origins = ", ".join(
        f"{counts[name]} untrained {labels[name]}" if counts[name] else f"{chosen.nads[name].file} ({labels[name]})"
        for name in names
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

    for name in names:
        caption = f"{sizes(chosen, [name], chosen.grid.train_samples)} · {science}"
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
        f"linear_{kind}_{name}": f"{kind} of {labels[name]}" for name in names for kind in ("accuracies", "boundaries")
    }
    style.save(
        linear_pairs.tilt_and_margins(
            {name: planes[planes["architecture"] == name] for name in names},
            labels,
            separations,
            f"{sizes(chosen, names, chosen.grid.train_samples)} · {science}",
            notice,
        ),
        folder,
        "linear_tilt_and_margins",
    )
    figures["linear_tilt_and_margins"] = "tilt and margins"
    tilts = planes.groupby(["architecture", "index_1", "index_2"])["tilt"].mean()
    body = [
        f"{sizes(chosen, names, chosen.grid.train_samples)} · {science} · mean ± standard deviation over seeds where there are several",
        "",
        *report.linear_pairs(summary, tilts, labels, "resnet18"),
    ]
    return "linear_pairs: D(v₁) ⊕ D(v₂)", body, figures


def render_image_pairs(folder, notice):
    """Figure 3 of paper 2; returns its section of the report."""
    chosen = params.load(experiment=experiments.find("image_pairs"))
    results, summary, _, _ = tables("image_pairs")
    names = list(results["architecture"].unique())
    labels = {name: architectures.label(chosen.architectures[name]) for name in names}
    about = artifacts.about_images()
    samples = min(chosen.grid.train_samples, about["train"])
    caption = f"{sizes(chosen, names, samples)} · ε = {chosen.settings.eps:g} · images: {about['name']}"
    style.save(
        image_pairs.images_or_linear_channel(results, labels, chosen.settings.sigma, caption, notice),
        folder,
        "images_or_linear_channel",
    )
    return (
        "image_pairs: images ⊕ D(v)",
        [caption, "", *report.image_pairs(summary, labels)],
        {"images_or_linear_channel": "images or linear channel"},
    )


def main():
    """Render every figure afresh."""
    about = artifacts.about_images()
    notice = None if about["name"] == "CIFAR-10" else f"images of this run: {about['name']}"
    folder = artifacts.fresh(artifacts.FIGURES)
    sections = [render(folder, notice) for render in (render_nads, render_linear_pairs, render_image_pairs)]
    captions = [
        "Written by the stage `render`; every number comes from the tables beside it.",
        *([f"**{notice}**"] if notice else []),
    ]
    (artifacts.REPORTS / "report.md").write_text(report.page("Report of this run", captions, sections))
    print(f"{len(list(folder.glob('*.png')))} figures in {folder}/")


if __name__ == "__main__":
    with one_sentence():
        main()
