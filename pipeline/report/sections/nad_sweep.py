"""`nad_sweep`: figure 6 of paper 1."""

import json

import pandas as pd

from pipeline import artifacts
from pipeline.report import nad_sweep, style, tables
from pipeline.report.sections import full_width, opened, table


def section(folder, notice):
    """The section's heading, lines and figures, as `pipeline.sections` describes them."""
    chosen, results, labels, caption = opened("nad_sweep")
    vectors = artifacts.Data("nad_sweep").vectors
    spectra = {
        (name, estimand): vectors[f"{name}-{estimand}-eigenvalues"]
        for name, estimand in results.groupby(["architecture", "estimand"]).groups
    }
    sigmas = ", ".join(f"{chosen.settings.sigma[name]:g} ({labels[name]})" for name in labels)
    caption = f"{caption} · ε = {chosen.settings.eps:g}, σ = {sigmas}"
    published = full_width(chosen, labels, nad_sweep.PUBLISHED)
    losses = pd.read_csv(artifacts.present(artifacts.MODELS / "nad_sweep" / "losses.csv", "train nad_sweep"))
    style.save(nad_sweep.sweep(results, losses, spectra, labels, published, caption, notice), folder, "nad_sweep")
    correlations = json.loads((artifacts.REPORTS / "nad_sweep" / "metrics.json").read_text())
    body = [caption, "", *tables.nad_sweep(table("nad_sweep", "summary"), correlations, labels, published)]
    return "nad_sweep: D(u) along the network's own NADs", body, {"nad_sweep": "accuracy against the NAD index"}
