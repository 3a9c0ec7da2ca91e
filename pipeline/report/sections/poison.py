"""`poison`: figure 7 of paper 1, and what the carriers look like."""

import numpy as np

from pipeline import artifacts, experiments
from pipeline.report import poison, style, tables
from pipeline.report.sections import full_width, opened, table

POISONED = 3
"""Number of images shown with and without carriers: the first of as many classes, whose carriers are in different channels."""


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    module = experiments.find("poison")
    chosen, results, labels, caption = opened("poison")
    about = artifacts.about_images()
    caption = f"{caption} · coefficient ± {chosen.settings.size:g} · images: {about['name']}"
    published = full_width(chosen, labels, poison.PUBLISHED)
    chance = 100 / len(about["classes"])
    style.save(poison.curve(results, labels, published, chance, caption, notice), folder, "poison_curve")
    figures = {"poison_curve": "accuracy on clean images"}

    data = artifacts.Data("poison")
    for name in labels:
        cells = [c for c in artifacts.cells("poison") if c["architecture"] == name and c["data"] == "images"]
        cells = [c for c in cells if c["seed"] == chosen.seed and c["index"] != module.CLEAN]
        if not cells:
            continue
        some = [cells[i] for i in np.unique(np.linspace(0, len(cells) - 1, 3).round().astype(int))]
        draw = data.draw(chosen.seed)
        # The first image of each of the first classes, whose carriers are in one channel each.
        first = [
            int(np.flatnonzero(draw["train_labels"] == label)[0])
            for label in range(min(POISONED, len(about["classes"])))
        ]
        few = {key: draw[key][first] for key in ("train_chosen", "train_labels")}
        pairs = [module.clean(cell, "train", few, data.images) for cell in some]
        poisoned = [module.with_carriers(c, x, y, data.directions(c)).numpy() for c, (x, y) in zip(some, pairs)]
        pictures = [(clean, [each[i] for each in poisoned]) for i, clean in enumerate(pairs[0][0].numpy())]
        indices = [cell["index"] for cell in some]
        seen = f"NADs of {labels[name]} · coefficient ± {chosen.settings.size:g} · images: {about['name']}"
        style.save(poison.examples(pictures, indices, seen, notice), folder, f"poison_examples_{name}")
        figures[f"poison_examples_{name}"] = f"images with carriers along NADs of {labels[name]}"
    body = [caption, "", *tables.poison(table("poison", "summary"), labels, published)]
    return "poison: images with class carriers", body, figures
