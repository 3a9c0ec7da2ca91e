"""How many networks a published spectrum was made from, told by its singular values and ours.

    python -m benchmarks.published_rows data/nads/resnet18.npz

The public files hold singular values of matrices with one secant per row; with n rows, s ≈ √(n λ)
for large eigenvalues and less for small ones, since n random rows in 1,024 dimensions spread their
own eigenvalues (Marchenko and Pastur). So head and tail of a spectrum fix n twice over: for the
right n the ratio of simulated to published values is 1 throughout. Simulated are n normal rows with
our eigenvalues; published are the values at some indices of the authors' table (columns eig_rn,
eig_vgg and eig_dn of docs/data/nads.csv in the repository LTS4/neural-anisotropy-directions).
"""

import argparse
from pathlib import Path

import numpy as np

PUBLISHED = {
    "resnet18": {
        0: 0.04282756,
        4: 0.037980035,
        8: 0.031814557,
        9: 0.013777613,
        20: 0.009916431,
        50: 0.007507143,
        100: 0.0027751322,
        181: 0.0017018949,
        981: 0.00031620052,
        1000: 0.0002957665,
        1022: 0.00023922806,
    },
    "vgg11": {
        0: 0.06381839,
        1: 0.02300547,
        3: 0.019750578,
        10: 0.015003147,
        20: 0.012358104,
        50: 0.00957457,
        100: 0.0077263005,
        180: 0.006428114,
        981: 0.0018995445,
        1000: 0.0017080471,
        1022: 0.0012777614,
    },
    "densenet121": {
        0: 0.002327036,
        1: 0.00034259594,
        3: 0.00023675321,
        10: 0.00014056024,
        20: 8.427897e-05,
        50: 2.776356e-05,
        100: 1.5664882e-05,
        180: 9.212487e-06,
        981: 1.8139106e-06,
        1000: 1.7081447e-06,
        1022: 1.4886468e-06,
    },
}
"""Singular values by architecture and index."""

ROWS = (2500, 4000, 5000, 6000, 8000, 10_000)
"""Numbers of rows that are tried."""


def ratios(
    eigenvalues: np.ndarray, published: dict[int, float], rows: int, rng: np.random.Generator
) -> np.ndarray:
    """The ratios of simulated to published singular values, for a matrix of `rows` rows.

    eigenvalues: (D,) of our C; published: index → singular value.
    """
    matrix = rng.standard_normal((rows, len(eigenvalues))) * np.sqrt(np.maximum(eigenvalues, 0))
    values = np.linalg.svd(matrix, compute_uv=False)
    return np.array([values[index] / value for index, value in published.items()])


def main(path: str) -> None:
    """Print the ratios for each number of rows, and the number for which they are nearest to 1."""
    name = Path(path).stem
    with np.load(path, allow_pickle=False) as file:
        eigenvalues, networks, error = (file[k] for k in ("eigenvalues", "networks", "error"))
    print(
        f"{name}: our C from {networks} networks, relative error {error:.3f}; simulated ÷ "
        "published singular values"
    )
    print(
        "rows    " + "".join(f"{f'[{index}]':>8s}" for index in PUBLISHED[name]) + "   rms of log"
    )
    distances = {}
    for rows in ROWS:
        found = ratios(eigenvalues, PUBLISHED[name], rows, np.random.default_rng(rows))
        distances[rows] = float(np.sqrt((np.log(found) ** 2).mean()))
        print(
            f"{rows:6d}  "
            + "".join(f"{ratio:8.3f}" for ratio in found)
            + f"{distances[rows]:13.3f}"
        )
    print(f"nearest: {min(distances, key=distances.get)} rows")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        "python -m benchmarks.published_rows", description=__doc__.partition("\n")[0]
    )
    reader.add_argument("path", help="data/nads/{architecture}.npz")
    main(reader.parse_args().path)
