"""`image_pairs`: figure 3 of paper 2."""

from pipeline import architectures, artifacts, experiments, params
from pipeline.figures import image_pairs, report, style
from pipeline.sections import sizes, table


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen = params.load(experiment=experiments.find("image_pairs"))
    results, summary = table("image_pairs", "results"), table("image_pairs", "summary")
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
