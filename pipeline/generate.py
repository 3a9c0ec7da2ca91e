"""Stage `generate EXPERIMENT`: write what determines the experiment's training sets.

Writes to data/datasets/{experiment}/: cells.csv, with one row per cell; directions.npz,
with vectors or bases; base_noise-{seed}.{array}.npy, with labels, noise and images.
Together they determine each training set bit for bit, so no training set is written.
images.json has the name, classes and digest of the images; plan.json is a copy of the
plan.
"""

import functools

import numpy as np
import pandas as pd
import threadpoolctl

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.project import artifacts, command
from pipeline.project.errors import notice, one_sentence
from pipeline.project.progress import progress


def main(name: str) -> None:
    """Write the data of the experiment `name`."""
    experiment = experiments.find(name)
    plan = Plan.read(experiment)

    @functools.lru_cache(1)
    def read_nads(architecture, estimand=None):
        if estimand == plan.members[architecture].estimands[0]:
            estimand = None  # the chosen estimand, which file names leave out
        return artifacts.read_nads(architecture, estimand)

    if experiment.needs_nads:
        artifacts.check_plan("nads", artifacts.NADS, "estimate")
    cells = experiment.cells(plan)
    directions = experiment.directions(plan, read_nads)
    images = artifacts.read_images() if experiment.needs_images else None
    with (
        progress(f"generate {name}"),
        artifacts.output(artifacts.DATASETS / name) as folder,
    ):
        pd.DataFrame(cells).to_csv(folder / "cells.csv", index=False)
        artifacts.keep_plan(plan, folder)
        if images is not None:
            about = artifacts.read_about_images()
            artifacts.write_json(folder / "images.json", about)
        np.savez(folder / "directions.npz", **directions)
        for seed in plan.seeds:
            base_noise = experiment.draw_base_noise(plan, seed, images)
            artifacts.write_base_noise(folder, seed, base_noise)
    planned = {"train": plan.train_samples, "test": plan.test_samples}
    for split, count in planned.items():
        found = len(base_noise[f"{split}_labels"])
        if found < count:
            notice(
                f"{name} has only {found} {split} samples, not {count}, as there are "
                "no more images"
            )
    print(f"{name}: {_count(cells, 'cell')}, {_count(directions, 'direction')}")


def _count(items, noun):
    """Return the number of items as text, such as '2 cells'."""
    if len(items) == 1:
        return f"1 {noun}"
    return f"{len(items)} {noun}s"


if __name__ == "__main__":
    # The last bits of principal components depend on the number of threads.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        main(command.read_experiment(__doc__, "generate", experiments.names()))
