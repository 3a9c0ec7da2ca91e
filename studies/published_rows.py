"""From how many networks was a published spectrum made?

    python -m studies.published_rows pipeline/named_nads/resnet18.npz
    python -m studies.published_rows ResNet18_NADs.npy ResNet18_eigenvals.npy

Each row of the authors' matrices is the secant of one network. Their files have the
right singular vectors and the singular values s of these matrices. The number n of rows
is estimated in two ways.

The first command draws n normal rows with our eigenvalues λ and compares their singular
values with s. At the head of a spectrum s ≈ √(nλ). Towards the tail s is smaller,
because n rows in 1,024 dimensions spread the eigenvalues (Marchenko and Pastur). A
common factor of all published values looks much like another n, so the ratios are
evidence and no proof.

The second command uses only the authors' files. If transposing the image does not
change the distribution of a network's weights, it does not change C either. So the part
of the authors' C that changes is the sampling error of n rows. The files are in the
folder NADs/ of the repository LTS4/neural-anisotropy-directions. The values below are
the columns eig_rn, eig_vgg and eig_dn of its docs/data/nads.csv.
"""

import argparse
from pathlib import Path

import numpy as np

from pipeline.nads import NADs
from pipeline.nads.symmetry import symmetrise
from pipeline.training.shapes import INPUT

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
    eigenvalues: np.ndarray,
    published: dict[int, float],
    rows: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Compute the ratios of simulated to published singular values.

    Args:
        eigenvalues: Eigenvalues of our C, (D,).
        published: Singular values by index.
        rows: Number of rows of the simulated matrix.
        rng: Source of randomness.
    """
    matrix = rng.standard_normal((rows, len(eigenvalues))) * np.sqrt(
        np.maximum(eigenvalues, 0)
    )
    values = np.linalg.svd(matrix, compute_uv=False)
    return np.array([values[index] / value for index, value in published.items()])


def odd_part(matrix: np.ndarray, shape: tuple[int, ...]) -> float:
    """Compute the relative size of the part of C that changes sign under transposition.

    It is ‖C − PCPᵀ‖ / 2‖C‖, where P transposes the pixels of an input.

    Args:
        matrix: C, (D, D).
        shape: (C, H, W) of one input, H = W.
    """
    odd = matrix - symmetrise("transposition", matrix, shape)
    return float(np.linalg.norm(odd) / np.linalg.norm(matrix))


def expected_odd_part(matrix: np.ndarray, shape: tuple[int, ...], rows: int) -> float:
    """Compute the `odd_part` that sampling gives an estimate C whose truth has none.

    For n independent normal rows it is √(((tr C)² − (tr PC)²) / 2n) / ‖C‖. The odd part
    of r rᵀ for one row r is A = (r rᵀ − P r rᵀ Pᵀ)/2, with ‖A‖² = (‖r‖⁴ − ⟨r, Pr⟩²)/2.
    The mean of A is 0, so the odd part of n rows has the mean square E‖A‖²/n. A normal
    r is the sum of an even part e and an odd part o, which are independent. So
    E[‖r‖⁴ − ⟨r, Pr⟩²] = 4 E‖e‖² E‖o‖² = (tr C)² − (tr PC)². The traces of the estimate
    replace those of the true C without bias.

    Args:
        matrix: The estimate, (D, D).
        shape: (C, H, W) of one input, H = W.
        rows: Number n of rows.
    """
    trace = np.trace(matrix)
    with_transpose = np.einsum("chwcwh->", matrix.reshape(*shape, *shape))
    square = (trace**2 - with_transpose**2) / (2 * rows)
    return float(np.sqrt(square) / np.linalg.norm(matrix))


def print_by_transposition(directions: np.ndarray, values: np.ndarray) -> None:
    """Print the odd part of a published C, and the one expected for each number of
    rows.

    directions: (K, 1024), right singular vectors as rows; values: (K,), singular
    values.
    """
    matrix = (directions.T * values.astype(np.float64) ** 2) @ directions
    print(
        "part of C that changes sign under transposition: "
        f"{odd_part(matrix, INPUT):.4f}"
    )
    for rows in ROWS:
        print(
            f"expected of {rows:6d} rows: {expected_odd_part(matrix, INPUT, rows):.4f}"
        )


def print_by_spectrum(path: Path) -> None:
    """Print the `ratios` for each number of rows, and the number for which they are
    nearest to 1.

    path: the NADs of an architecture of `PUBLISHED`, which names the file.
    """
    name = path.stem
    nads = NADs.load(path)
    print(
        f"{name}: our C from {nads.networks} networks, relative error "
        f"{nads.error:.3f}; "
        "simulated ÷ published singular values"
    )
    header = "".join(f"{f'[{index}]':>8s}" for index in PUBLISHED[name])
    print(f"rows    {header}   rms of log")
    distances = {}
    for rows in ROWS:
        values = ratios(
            nads.eigenvalues, PUBLISHED[name], rows, np.random.default_rng(rows)
        )
        distances[rows] = float(np.sqrt((np.log(values) ** 2).mean()))
        columns = "".join(f"{ratio:8.3f}" for ratio in values)
        print(f"{rows:6d}  {columns}{distances[rows]:13.3f}")
    print(f"nearest: {min(distances, key=distances.get)} rows")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        "python -m studies.published_rows", description=__doc__.partition("\n")[0]
    )
    reader.add_argument("nads", type=Path, help="our NADs, .npz, or the authors', .npy")
    reader.add_argument("values", nargs="?", help="the authors' singular values, .npy")
    asked = reader.parse_args()
    if asked.values:
        print_by_transposition(np.load(asked.nads), np.load(asked.values))
    else:
        print_by_spectrum(asked.nads)
