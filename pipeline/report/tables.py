"""The run as a page of Markdown: its figures, and its numbers beside the published ones.

Every number of the page is computed from the run's tables; the published ones are quoted from the papers.
"""

PUBLISHED = {  # paper 2, fig. 2: ResNet-18, (index of v₁, index of v₂) → accuracy (%) with both, first, second channel
    (1, 1): (100, 100, 80),
    (1, 1000): (100, 100, 50),
    (1000, 1): (98, 50, 98),
    (800, 800): (69, 65, 54),
}


def table(header, rows):
    """Lines of a Markdown table."""
    return ["| " + " | ".join(map(str, row)) + " |" for row in (header, ["---"] * len(header), *rows)]


def percent(mean, deviation):
    """An accuracy in per cent with its standard deviation over seeds, where there are several."""
    return f"{100 * mean:.1f}" + ("" if deviation != deviation else f" ± {100 * deviation:.1f}")


def linear_pairs(summary, tilts, labels, published_name):
    """Rows for the corners of each network's grid and the published pairs: accuracies and tilt.

    summary: reports/linear_pairs/summary.csv; tilts: (architecture, index_1, index_2) → mean tilt in degrees;
    published_name: the architecture that the published numbers belong to.
    """
    rows = []
    for name, cells in summary.groupby("architecture", sort=False):
        low, high = cells["index_1"].min(), cells["index_1"].max()
        chosen = {(low, low), (low, high), (high, low), (high, high)} | set(PUBLISHED)
        for (first, second), cell in cells.groupby(["index_1", "index_2"]):
            if (first, second) not in chosen:
                continue
            at = cell.set_index("test_set")
            published = PUBLISHED.get((first, second), ()) if name.startswith(published_name) else ()
            rows.append(
                [
                    labels[name],
                    f"({first}, {second})",
                    *(percent(at.loc[s, "mean"], at.loc[s, "std"]) for s in ("all", "first", "second")),
                    f"{tilts[name, first, second]:.1f}°",
                    " / ".join(map(str, published)) or "–",
                ]
            )
    return table(
        [
            "network",
            "NAD indices of v₁, v₂",
            "both (%)",
            "first alone (%)",
            "second alone (%)",
            "tilt",
            "published (ResNet-18, full width)",
        ],
        rows,
    )


def image_pairs(summary, labels):
    """One row per network and NAD index: accuracies with both, with the linear channel alone, with the images alone."""
    rows = []
    for (name, index), cell in summary.groupby(["architecture", "index"], sort=False):
        at = cell.set_index("test_set")
        rows.append(
            [labels[name], index, *(percent(at.loc[s, "mean"], at.loc[s, "std"]) for s in ("all", "linear", "images"))]
        )
    return table(["network", "NAD index of v", "both (%)", "linear alone (%)", "images alone (%)"], rows)


def fourier(summary, labels, published):
    """One row per network: the spread of its map, and the frequencies with published values beside them."""
    rows = []
    for name, cells in summary.groupby("architecture", sort=False):
        beside = []
        for row, column, value in published.get(name, ()):
            signs = ((row, column), (-row, -column))
            same = [r for r in cells.to_dict("records") if (r["k_row"], r["k_col"]) in signs]
            beside += [f"({row}, {column}): {percent(r['mean'], r['std'])} / {value}" for r in same]
        means = cells["mean"]
        rows.append(
            [labels[name], len(cells), *(f"{100 * value:.1f}" for value in (means.mean(), means.min(), means.max()))]
            + [f"{100 * (means > 0.75).mean():.0f}", ", ".join(beside) or "–"]
        )
    header = ["network", "directions", "mean accuracy (%)", "lowest", "highest", "directions above 75 % (%)"]
    return table([*header, "(k_row, k_col): ours / published"], rows)


def nad_sweep(summary, metrics, labels, published):
    """One row per network and estimand: accuracies at the published indices, and Spearman's correlations.

    metrics: reports/nad_sweep/metrics.json.
    """
    indices = [0, 10, 102, 302]
    rows = []
    for (name, estimand), cells in summary.groupby(["architecture", "estimand"], sort=False):
        at = cells.set_index("index")
        values = [percent(at.loc[i, "mean"], at.loc[i, "std"]) if i in at.index else "–" for i in indices]
        rho = metrics[name][estimand]["spearman"]
        beside = (
            " / ".join(f"{published[name][i]}" for i in indices) if name in published and estimand == "secant" else "–"
        )
        correlations = [rho[key] for key in ("accuracy_index", "accuracy_eigenvalue", "early_loss_index")]
        rows.append(
            [labels[name], estimand, *values, beside, *("–" if r is None else f"{r:.3f}" for r in correlations)]
        )
    header = ["network", "estimand", *(f"index {i} (%)" for i in indices), "published at these"]
    return table([*header, "ρ(accuracy, index)", "ρ(accuracy, eigenvalue)", "ρ(early loss, index)"], rows)


def poison(summary, labels, published):
    """One row per network, data and index of the carriers: accuracy on clean data, and on data with carriers."""
    rows = []
    for (name, data, index), cell in summary.groupby(["architecture", "data", "index"], sort=False):
        at = cell.set_index("test_set")
        values = [percent(at.loc[s, "mean"], at.loc[s, "std"]) if s in at.index else "–" for s in ("clean", "poisoned")]
        known = published.get(name, ()) if data == "images" else ()
        beside = [f"about {value}" for first, last, value in known if first <= index <= last]
        rows.append([labels[name], data, "none" if index < 0 else index, *values, ", ".join(beside) or "–"])
    return table(
        ["network", "data", "carriers from NAD", "clean test data (%)", "with carriers (%)", "published"], rows
    )


def flip(summary, labels, published):
    """One row per network: accuracy on images as they are and on flipped ones."""
    rows = []
    for name, cells in summary.groupby("architecture", sort=False):
        at = cells.set_index("images")
        values = [percent(at.loc[i, "mean"], at.loc[i, "std"]) for i in ("plain", "flipped")]
        rows.append([labels[name], *values, " / ".join(map(str, published[name])) if name in published else "–"])
    return table(["network", "plain (%)", "flipped (%)", "published"], rows)


def page(title, captions, sections):
    """The page: a title, caption lines, and per section its heading, lines and figures (name → alternative text)."""
    lines = [f"# {title}", "", *captions, ""]
    for heading, body, figures in sections:
        lines += [f"## {heading}", "", *body, ""]
        for name, text in figures.items():
            lines += [f"![{text}](figures/{name}.png)", ""]
    return "\n".join(lines)
