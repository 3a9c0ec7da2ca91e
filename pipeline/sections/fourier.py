"""`fourier`: figures 1 and 3 of paper 1."""

from pipeline import architectures, experiments, params
from pipeline.figures import fourier, report, style
from pipeline.sections import full_width, sizes, table


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen = params.load(experiment=experiments.find("fourier"))
    results = table("fourier", "results")
    names = list(results["architecture"].unique())
    labels = {name: architectures.label(chosen.architectures[name]) for name in names}
    caption = f"{sizes(chosen, names, chosen.grid.train_samples)} · ε = {chosen.settings.eps:g}, σ = {chosen.settings.sigma:g}"
    published = full_width(chosen, names, fourier.PUBLISHED)
    style.save(fourier.maps(results, labels, published, caption, notice), folder, "fourier_maps")
    body = [caption, "", *report.fourier(table("fourier", "summary"), labels, published)]
    return "fourier: D(v) along Fourier directions", body, {"fourier_maps": "accuracy over frequencies"}
