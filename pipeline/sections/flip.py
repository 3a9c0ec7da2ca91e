"""`flip`: table 1 of paper 1 as bars, and what predictions rest on."""

from pipeline import architectures, artifacts, experiments, params
from pipeline.figures import flip, report, style
from pipeline.sections import full_width, sizes, table


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen = params.load(experiment=experiments.find("flip"))
    results = table("flip", "results")
    names = list(results["architecture"].unique())
    labels = {name: architectures.label(chosen.architectures[name]) for name in names}
    about = artifacts.about_images()
    samples = min(chosen.grid.train_samples, about["train"])
    caption = f"{sizes(chosen, names, samples)} · images: {about['name']}"
    published = full_width(chosen, names, flip.PUBLISHED)
    chance = 100 / len(about["classes"])
    style.save(flip.bars(results, labels, published, chance, caption, notice), folder, "flip_bars")
    figures = {"flip_bars": "accuracy on plain and flipped images"}
    changes = table("flip", "changes")
    for name in names:
        title = f"What the predictions of {labels[name]} rest on: test images with NAD components altered"
        mine = changes[changes["architecture"] == name]
        style.save(flip.components(mine, title, caption, notice), folder, f"flip_components_{name}")
        figures[f"flip_components_{name}"] = f"what predictions of {labels[name]} rest on"
    return (
        "flip: images in reverse order of NADs",
        [caption, "", *report.flip(table("flip", "summary"), labels, published)],
        figures,
    )
