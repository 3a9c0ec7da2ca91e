"""Stage `generate EXPERIMENT`: what determines every data set of the grid -> data/datasets/{experiment}/.

cells.csv (one row per data set and network), directions.npz (the NADs it uses), draw-{seed}.npz (labels and
standard-normal images): together they fix each training set bit for bit; none is written out image by image.
"""

import sys

import numpy as np
import pandas as pd

from pipeline import artifacts, experiments, params
from pipeline.errors import one_sentence


def main(name):
    """Write the data of the experiment `name`."""
    module = experiments.find(name)
    chosen = params.load(experiment=module)
    cells = module.cells(chosen)
    images = artifacts.images() if module.NEEDS_IMAGES else None
    directions = {}
    for architecture, plan in chosen.grid.networks.items():
        nads = artifacts.nads(architecture)["directions"]
        for index in plan.indices:
            directions[f"{architecture}-{index}"] = nads[index]

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
