"""Stage `generate EXPERIMENT`: cells, directions and draws ->
data/datasets/{experiment}/.

cells.csv (one row per cell), directions.npz (vectors or bases), draw-{seed}.{array}.npy
(labels, standard-normal images, pictures) together determine each training set bit for
bit, so that no training set is written. images.json: name, classes and digest of the
pictures' images.
"""

import functools

import numpy as np
import pandas as pd

from pipeline import experiments
from pipeline.experiments.plan import Plan
from pipeline.project import artifacts, command
from pipeline.project.errors import notice, one_sentence


def main(name: str) -> None:
    """Write the data of the experiment `name`."""
    experiment = experiments.find(name)
    plan = Plan.read(experiment)

    @functools.lru_cache(1)
    def nads(architecture, estimand=None):
        chosen = plan.members[architecture].estimands[0]
        return artifacts.nads(architecture, None if estimand == chosen else estimand)

    cells = experiment.cells(plan)
    directions = experiment.directions(plan, nads)
    images = artifacts.images() if experiment.needs_images else None
    with artifacts.output(artifacts.DATASETS / name) as folder:
        pd.DataFrame(cells).to_csv(folder / "cells.csv", index=False)
        if images is not None:
            artifacts.write_json(folder / "images.json", artifacts.about_images())
        np.savez(folder / "directions.npz", **directions)
        for seed in plan.seeds:
            draw = experiment.draw_base_noise(plan, seed, images)
            artifacts.write_draw(folder, seed, draw)
    for split in ("train", "test"):
        asked = getattr(plan, f"{split}_samples")
        made = len(draw[f"{split}_labels"])
        if made < asked:
            notice(
                f"{name} has {made} {split} samples, not {asked}: there are no more images"
            )
    counts = {"cell": len(cells), "direction": len(directions)}
    print(
        f"{name}: "
        + ", ".join(f"{n} {noun}{'s' * (n != 1)}" for noun, n in counts.items())
    )


if __name__ == "__main__":
    with one_sentence():
        main(command.experiment(__doc__, "generate", experiments.names()))
