"""Stage `generate EXPERIMENT`: what determines every data set of the grid -> data/datasets/{experiment}/.

cells.csv (one row per data set and network), directions.npz (the vectors or bases they are made of), draw-{seed}.npz
(labels, standard-normal images, which images): together they fix each training set bit for bit; none is written out image by
image.
"""

import functools
import sys

import numpy as np
import pandas as pd

from pipeline import artifacts, experiments, params
from pipeline.project.errors import one_sentence


def nads_of(chosen):
    """The function from (architecture, estimand) to the arrays of its NADs; without an estimand, those of params.yaml's."""

    @functools.lru_cache(1)
    def nads(architecture, estimand=chosen.estimator.estimand):
        part = "" if estimand == chosen.estimator.estimand else f".{estimand}"
        return artifacts.nads(architecture, part)

    return nads


def main(name):
    """Write the data of the experiment `name`."""
    module = experiments.find(name)
    chosen = params.load(experiment=module)
    cells = module.cells(chosen)
    images = artifacts.images() if module.NEEDS_IMAGES else None
    directions = module.directions(chosen, nads_of(chosen))

    folder = artifacts.fresh(artifacts.DATASETS / name)
    pd.DataFrame(cells).to_csv(folder / "cells.csv", index=False)
    np.savez(folder / "directions.npz", **directions)
    for seed in sorted({cell["seed"] for cell in cells}):
        draw = module.draw(chosen, seed, images)
        np.savez(folder / f"draw-{seed}.npz", **draw)
        for split in ("train", "test"):
            wanted, made = getattr(chosen.grid, f"{split}_samples"), len(draw[f"{split}_labels"])
            if made < wanted:
                print(
                    f"notice: {name} has {made} {split} samples, not {wanted}: there are no more images",
                    file=sys.stderr,
                )
    print(f"{name}: {len(cells)} cells, {len(directions)} directions")


if __name__ == "__main__":
    with one_sentence():
        main(experiments.asked_for(sys.argv[1:]))
