"""The report's sections, one file each: `section(folder, notice)` reads the tables of one part of the run, saves its figures into
`folder`, and returns (heading, lines of Markdown, figures: name → alternative text).

They belong to the stage `render`; the figures themselves, which read nothing, are in `pipeline.figures`. Here stands what the
sections share.
"""

import numpy as np
import pandas as pd

from pipeline import artifacts, experiments, params
from pipeline.report.labels import label


def table(name, file):
    """One table of reports/{name}."""
    return pd.read_csv(artifacts.present(artifacts.REPORTS / name / f"{file}.csv", f"evaluate {name}"))


def cross_sections(name):
    """The cross-sections of an experiment by cell."""
    with np.load(artifacts.REPORTS / name / "cross_sections.npz", allow_pickle=False) as file:
        return {key: file[key].astype(np.float64) for key in file}


def opened(name):
    """What an experiment's section starts from: its params, its results, the labels of its architectures in the results' order,
    and its caption line (`sizes`).
    """
    module = experiments.find(name)
    chosen, results = params.load(experiment=module), table(name, "results")
    labels = {found: label(chosen.architectures[found]) for found in results["architecture"].unique()}
    return chosen, results, labels, sizes(chosen, labels, module.NEEDS_IMAGES)


def sizes(chosen, names, of_images):
    """The caption line: scale, seeds, training samples (of images as many as there really are), epochs, precision."""
    samples = chosen.grid.train_samples
    if of_images:
        samples = min(samples, artifacts.about_images()["train"])
    seeds = f"{chosen.grid.seeds} seed" + ("s" if chosen.grid.seeds > 1 else "")
    epochs = [chosen.grid.networks[name].epochs for name in names]
    each = (
        f"{epochs[0]} epochs"
        if len(set(epochs)) == 1
        else "epochs "
        + ", ".join(f"{count} ({label(chosen.architectures[name])})" for name, count in zip(names, epochs))
    )
    precision = "" if chosen.precision == "float32" else f" · trained in {chosen.precision}"
    return f"scale {chosen.scale} · {seeds} · {samples:,} training samples · {each}{precision}"


def full_width(chosen, names, published):
    """Of published values by network, those of the architectures `names` that are those networks as the papers have them."""
    specifications = {name: chosen.architectures[name] for name in names}
    return {
        name: published[specification["network"]]
        for name, specification in specifications.items()
        if set(specification) == {"network"} and specification["network"] in published
    }
