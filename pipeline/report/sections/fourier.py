"""`fourier`: figures 1 and 3 of paper 1."""

from pipeline.report import fourier, style, tables
from pipeline.report.sections import full_width, opened, table


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen, results, labels, caption = opened("fourier")
    caption = f"{caption} · ε = {chosen.settings.eps:g}, σ = {chosen.settings.sigma:g}"
    published = full_width(chosen, labels, fourier.PUBLISHED)
    style.save(fourier.maps(results, labels, published, caption, notice), folder, "fourier_maps")
    body = [caption, "", *tables.fourier(table("fourier", "summary"), labels, published)]
    return "fourier: D(v) along Fourier directions", body, {"fourier_maps": "accuracy over frequencies"}
