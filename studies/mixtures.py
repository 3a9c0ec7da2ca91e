"""The eigenvalue along NADs of a noisy estimate beside what a network learns along them.

    python -m studies.mixtures data/nads/lenet.npz reports/nad_sweep/results.csv noisy/lenet.npz
    noisy/results.csv

A direction of a noisy estimate of C mixes many true NADs whose eigenvalues lie close together. For
every index that both runs of `nad_sweep` have, a row: the variance uᵀCu of the derivative along the
noisy direction u in the good estimate of C, relative to the good estimate's eigenvalue of that
index; how many of the good NADs u mixes, 1 / Σ_j ⟨u, u_j⟩⁴; and the accuracies along the good
direction and along the noisy one.
"""

import argparse

import numpy as np
import pandas as pd


def mixture(directions: np.ndarray, eigenvalues: np.ndarray, u: np.ndarray) -> tuple[float, float]:
    """uᵀCu, and the number of eigenvectors of C (rows) that the unit vector u (D,) mixes."""
    shares = (directions @ u) ** 2
    return float(shares @ eigenvalues), float(1 / (shares**2).sum())


def accuracies(results: pd.DataFrame) -> pd.Series:
    """Mean accuracy in per cent along LeNet's secant NADs, by index."""
    rows = results[(results["architecture"] == "lenet") & (results["estimand"] == "secant")]
    return 100 * rows.groupby("index")["accuracy"].mean()


def main(good: str, good_results: str, noisy: str, noisy_results: str) -> None:
    """Print the table."""
    with np.load(good, allow_pickle=False) as file:
        directions, eigenvalues = file["directions"], file["eigenvalues"]
    with np.load(noisy, allow_pickle=False) as file:
        vectors = file["directions"]
    along = pd.concat(
        [accuracies(pd.read_csv(path)) for path in (good_results, noisy_results)],
        axis=1,
        join="inner",
    )
    columns = "uᵀCu ÷ eigenvalue | NADs mixed | along the good one (%) | along the noisy one (%)"
    print(f"| NAD index | {columns} |")
    print("|---|---|---|---|---|")
    for index, (ours, theirs) in zip(along.index, along.to_numpy()):
        variance, number = mixture(directions, eigenvalues, vectors[index])
        relative = variance / eigenvalues[index]
        print(f"| {index} | {relative:.3f} | {number:.1f} | {ours:.1f} | {theirs:.1f} |")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        "python -m studies.mixtures", description=__doc__.partition("\n")[0]
    )
    reader.add_argument("good", help="NADs of a good estimate, .npz")
    reader.add_argument("good_results", help="results.csv of nad_sweep along them")
    reader.add_argument("noisy", help="NADs of a noisy estimate, .npz")
    reader.add_argument("noisy_results", help="results.csv of nad_sweep along them")
    asked = reader.parse_args()
    main(asked.good, asked.good_results, asked.noisy, asked.noisy_results)
