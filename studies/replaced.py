"""Does accuracy in figure 7 follow the NAD index, or how much of a photograph the
carriers replace?

    python -m studies.replaced THEIRS.npy

THEIRS.npy has the authors' NADs of ResNet-18, rows (K, 1024), of their repository. The
carriers of figure 7 replace coefficients of photographs along NADs i and i + 1. For
each published index i, the table has the root mean square distance between photographs
with and without carriers, of pixels in [0, 1], and the published accuracy on clean
images. Nothing is trained.

Prints rank correlations. A partial rank correlation is that of what remains of both
ranks after a linear fit to the ranks of the third column.

Reads data/images/. Writes results.csv into reports/kept/carriers/published/.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from pipeline.experiments.poison import count_carrier_nads
from pipeline.measures.ranks import spearman
from pipeline.nads.directions import from_file
from pipeline.project import artifacts
from pipeline.project.errors import one_sentence
from pipeline.report.published import read_published
from pipeline.training import pictures
from pipeline.training.seeds import stream
from pipeline.training.shapes import INPUT

FOLDER = Path("reports/kept/carriers/published")

PHOTOGRAPHS = 5_000
SIZE = 0.05
"""The coefficient on the carrier (paper 1)."""


def measure_distance(
    x: torch.Tensor, y: torch.Tensor, nads: np.ndarray, size: float
) -> float:
    """Measure the root mean square distance that carriers move images.

    Args:
        x: Images, (N, 3, H, W), in [0, 1].
        y: Class numbers, (N,).
        nads: The carriers' NADs, (K, D).
        size: Magnitude of the coefficient on the carrier.
    """
    change = pictures.poison(x, y, nads, size) - x
    return float(change.square().sum((1, 2, 3)).mean().sqrt())


def partial_spearman(a: pd.Series, b: pd.Series, fixed: pd.Series) -> float:
    """Correlate the ranks of a and b at fixed ranks of a third column."""
    ranks = fixed.rank()
    rest = [
        x.rank() - np.polyval(np.polyfit(ranks, x.rank(), 1), ranks) for x in (a, b)
    ]
    return float(np.corrcoef(*rest)[0, 1])


def main() -> None:
    """Write the table and print the correlations."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("nads", help=".npy file of the authors' NADs of ResNet-18")
    directions = from_file(parser.parse_args().nads, INPUT).directions
    images = artifacts.read_images()
    chosen, labels = pictures.choose(
        stream(0, "replaced"), images, "train", PHOTOGRAPHS
    )
    x, y = pictures.in_unit_range(chosen), torch.as_tensor(labels)
    table = read_published("poison").rename(columns={"resnet18": "accuracy"})
    count = count_carrier_nads(len(images["classes"]), INPUT)
    table["distance"] = [
        measure_distance(x, y, directions[index : index + count], SIZE)
        for index in table["index"]
    ]
    FOLDER.mkdir(parents=True, exist_ok=True)
    table.round(4).to_csv(FOLDER / "results.csv", index=False)
    index, accuracy, distance = (
        table[name] for name in ("index", "accuracy", "distance")
    )
    print(f"{len(table)} indices; Spearman's correlation of the published accuracy")
    print(f"with the distance {spearman(accuracy, distance):.2f}")
    print(f"with the index {spearman(accuracy, index):.2f}")
    partial = partial_spearman(accuracy, distance, index)
    print(f"with the distance at fixed index {partial:.2f}")
    partial = partial_spearman(accuracy, index, distance)
    print(f"with the index at fixed distance {partial:.2f}")


if __name__ == "__main__":
    with one_sentence():
        main()
