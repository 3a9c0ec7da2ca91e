"""Which derivative predicts the Fourier directions that a network learns, secant or
gradient?

    python -m studies.definitions

The frequencies of a kept Fourier map are ranked by the untrained network's response
along them, √(vᵀCv), with C of either estimand. Two controls need no estimate: low
frequencies first, and for three networks a rule that follows from their strides or
patches. These rules were written after the results were known. The area under the ROC
curve says how well a ranking separates the frequencies learned to 60 % or 75 % from the
others: 1 for a perfect separation, 0.5 by chance. It needs no fitted network, as long
as the map's networks were all trained alike.

Writes reports/kept/definitions/waves/results.csv.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import threadpoolctl
from sklearn.metrics import roc_auc_score

from pipeline.measures.ranks import spearman
from pipeline.nads import NADs
from pipeline.report.labels import label
from pipeline.report.run import read_descriptions
from pipeline.training.fourier import fourier
from studies.untrained import energy, estimate_nads

KEPT = Path("reports/kept")
FOLDER = KEPT / "definitions/waves"

RUNS = {
    "lenet": 256,
    "vgg11_quarter": 96,
    "resnet18_quarter": 40,
    "vit_small": 64,
    "convmixer": 64,
}
"""Runs of `fourier`, each of one network, and the untrained networks of each estimate.
"""


def count_even_halves(frequencies: np.ndarray) -> np.ndarray:
    """Count the even ones among k_row/2 and k_col/2.

    Args:
        frequencies: Even numbers (k_row, k_col), (K, 2).
    """
    return (frequencies // 2 % 2 == 0).sum(axis=1)


def repeats_in_patches(frequencies: np.ndarray) -> np.ndarray:
    """Return whether cosines repeat in each patch of 4×4 of 32×32 pixels.

    Args:
        frequencies: (k_row, k_col), (K, 2).
    """
    return (frequencies % 8 == 0).all(axis=1).astype(int)


RULES = {
    "resnet18_quarter": count_even_halves,
    "vit_small": repeats_in_patches,
    "convmixer": repeats_in_patches,
}
"""Rules from strides or patches, by run: the frequencies with large values come first.
"""

THRESHOLDS = (0.60, 0.75)
"""Accuracies from which on a frequency counts as learned."""


def accuracies(name: str) -> tuple[dict, pd.Series]:
    """A run's specification of its network, and the mean accuracies by (k_row,
    k_col)."""
    folder = KEPT / "fourier" / name
    plan = read_descriptions(KEPT)[folder]["plan"]
    (member,) = plan["members"].values()
    rows = pd.read_csv(folder / "results.csv")
    return member["specification"], rows.groupby(["k_row", "k_col"])["accuracy"].mean()


def of_waves(
    specification: dict, waves: Iterable[tuple[int, int]], count: int, **estimator: str
) -> tuple[NADs, np.ndarray]:
    """The NADs of so many untrained networks, and vᵀCv along each wave (k_row,
    k_col)."""
    nads = estimate_nads(specification, count, symmetry="none", **estimator)
    vectors = np.stack([fourier(row, column) for row, column in waves])
    return nads, energy(nads, vectors)


def ranking_row(response: np.ndarray, accuracy: pd.Series) -> dict[str, float]:
    """How well a ranking predicts accuracies: Spearman's ρ, and the area under the ROC
    curve.

    Args:
        response: What ranks the frequencies, the largest first, (K,).
        accuracy: Accuracies by frequency, (K,).

    Returns:
        Columns of the table. An area is NaN where all or none of the frequencies are
        learned.
    """
    row = {"rank_correlation": spearman(response, accuracy)}
    for threshold in THRESHOLDS:
        learned = np.asarray(accuracy >= threshold)
        percent = f"{100 * threshold:.0f}"
        row[f"learned_{percent}"] = int(learned.sum())
        mixed = 0 < learned.sum() < len(learned)
        row[f"auc_{percent}"] = roc_auc_score(learned, response) if mixed else np.nan
    return row


def main() -> None:
    """Estimate, rank and write the table."""
    rows = []
    for name, count in RUNS.items():
        specification, accuracy = accuracies(name)
        about = {"network": label(specification), "waves": len(accuracy)}
        frequencies = accuracy.index.to_frame().to_numpy()
        controls = {"low frequency first": -np.square(frequencies).sum(axis=1)}
        if name in RULES:
            controls["strides or patches"] = RULES[name](frequencies)
        for control, order in controls.items():
            rows.append(about | {"ranking": control} | ranking_row(order, accuracy))
        for estimand in ("secant", "gradient"):
            nads, response = of_waves(
                specification, accuracy.index, count, estimand=estimand
            )
            row = about | {"ranking": estimand, "networks": count, "error": nads.error}
            rows.append(row | ranking_row(response, accuracy))
            print(rows[-1], flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(FOLDER / "results.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    with threadpoolctl.threadpool_limits(1):
        main()
