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


def page(title, captions, sections):
    """The page: a title, caption lines, and per section its heading, lines and figures (name → alternative text)."""
    lines = [f"# {title}", "", *captions, ""]
    for heading, body, figures in sections:
        lines += [f"## {heading}", "", *body, ""]
        for name, text in figures.items():
            lines += [f"![{text}](figures/{name}.png)", ""]
    return "\n".join(lines)
