"""`image_pairs`: figure 3 of paper 2."""

from pipeline import artifacts
from pipeline.report import image_pairs, style, tables
from pipeline.report.sections import opened, table


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen, results, labels, caption = opened("image_pairs")
    caption = f"{caption} · ε = {chosen.settings.eps:g} · images: {artifacts.about_images()['name']}"
    style.save(
        image_pairs.images_or_linear_channel(results, labels, chosen.settings.sigma, caption, notice),
        folder,
        "images_or_linear_channel",
    )
    return (
        "image_pairs: images ⊕ D(v)",
        [caption, "", *tables.image_pairs(table("image_pairs", "summary"), labels)],
        {"images_or_linear_channel": "images or linear channel"},
    )
