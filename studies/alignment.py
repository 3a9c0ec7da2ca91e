"""Does the second moment of mapped images say how well a network learns them?

    python -m studies.alignment

With the covariance C of a network's derivatives and the covariance S of images, tr(CS)
is the variance of the output to which images lead, to first order and on average over
untrained networks. A map A of the images turns S into A S Aᵀ. Its alignment with C is

    ρ = D · tr(C A S Aᵀ) / (tr C · tr S)

which is 1 for white images. Random signs of the coefficients on NADs leave ρ as it is,
so ρ cannot account for what they cost.

Reads data/images/, and the NADs of LeNet in the package. The maps and seeds are those
of the networks in reports/kept/flip/lenet_locality/. Writes results.csv, a row per map
and seed, into reports/kept/alignment/lenet_maps/.
"""

import dataclasses
from pathlib import Path

import pandas as pd
import torch

from pipeline import config, experiments
from pipeline.experiments.flip import Maps
from pipeline.experiments.plan import Plan
from pipeline.nads import NADs, load
from pipeline.project import artifacts
from pipeline.project.errors import one_sentence

FOLDER = Path("reports/kept/alignment/lenet_maps")
TRAINED = Path("reports/kept/flip/lenet_locality/results.csv")
NETWORK = "lenet"


def measure_alignment(x: torch.Tensor, nads: NADs) -> float:
    """Measure ρ of images.

    Args:
        x: Images, (N, C, H, W).
        nads: All D = H·W NADs of one channel, with their eigenvalues.
    """
    directions = torch.as_tensor(nads.directions, dtype=torch.float32)
    vectors = x.flatten(2).flatten(0, 1)
    variances = (vectors @ directions.T).var(0).numpy()
    weights = nads.eigenvalues / nads.eigenvalues.mean()
    return float(weights @ variances / variances.sum())


def make_plan(trained: pd.DataFrame) -> Plan:
    """Make a plan of `flip` with one network and all its maps.

    Args:
        trained: Rows of trained networks, with the columns images and seed.
    """
    maps = tuple(trained["images"].unique())
    # Python ints, like the seeds from which the stages derive random maps.
    seeds = tuple(trained["seed"].unique().tolist())
    plan = config.plans(config.read())["overnight"].experiments["flip"]
    member = dataclasses.replace(plan.members[NETWORK], grid=Maps(maps))
    return dataclasses.replace(plan, members={NETWORK: member}, seeds=seeds)


def main() -> None:
    """Measure the alignment after each map of the trained networks."""
    plan = make_plan(pd.read_csv(TRAINED))
    experiment = experiments.find("flip")
    images = artifacts.read_images()
    nads = load(NETWORK)
    rows = []
    for seed in plan.seeds:
        noise = experiment.draw_base_noise(plan, seed, images)
        for cell in experiment.cells(plan):
            if cell["seed"] == seed:
                x, _ = experiment.dataset(cell, "test", noise, [nads.directions])
                rho = measure_alignment(x, nads)
                row = {"images": cell["images"], "seed": seed, "alignment": rho}
                rows.append(row)
    FOLDER.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).round(5).to_csv(FOLDER / "results.csv", index=False)


if __name__ == "__main__":
    with one_sentence():
        main()
