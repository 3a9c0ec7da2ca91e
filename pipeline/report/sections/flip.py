"""`flip`: table 1 of paper 1 as bars, and what predictions rest on."""

from pipeline import artifacts
from pipeline.report import flip, style, tables
from pipeline.report.sections import full_width, opened, table


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen, results, labels, caption = opened("flip")
    about = artifacts.about_images()
    caption = f"{caption} · images: {about['name']}"
    published = full_width(chosen, labels, flip.PUBLISHED)
    chance = 100 / len(about["classes"])
    style.save(flip.bars(results, labels, published, chance, caption, notice), folder, "flip_bars")
    figures = {"flip_bars": "accuracy on plain and flipped images"}
    changes = table("flip", "changes")
    for name in labels:
        title = f"What the predictions of {labels[name]} rest on: test images with NAD components altered"
        mine = changes[changes["architecture"] == name]
        style.save(flip.components(mine, title, caption, notice), folder, f"flip_components_{name}")
        figures[f"flip_components_{name}"] = f"what predictions of {labels[name]} rest on"
    return (
        "flip: images in reverse order of NADs",
        [caption, "", *tables.flip(table("flip", "summary"), labels, published)],
        figures,
    )
