"""The few numbers to watch from run to run: reports/metrics.json, which `dvc exp show` shows."""

from typing import Any

import numpy as np

from pipeline.project import artifacts
from pipeline.report.run import Run

NETWORK = "lenet"
"""The architecture whose numbers they are."""


def _first(parts: dict[str, Any]) -> Any:
    return next(iter(parts.values()))


NUMBERS = {
    "nad_sweep": lambda one: {"spearman": _first(one)["spearman"]["accuracy_index"]},
    "fourier": lambda one: {"highest": one["highest"]},
    "convergence": lambda one: {"learned": round(one["learned"] / one["directions"], 4)},
    "linear_pairs": lambda one: {
        "fitted": round(one["fitted"] / one["cells"], 4),
        "second_late_early": one["accuracy"]["high_low"]["second"],
    },
    "image_pairs": lambda one: {
        "linear_early": one["accuracy"]["low"]["linear"],
        "images_late": one["accuracy"]["high"]["images"],
    },
    "poison": lambda one: {"poisoned_early": _first(one)["first"]},
    "flip": lambda one: {"flipped": one["flipped"]},
}
"""By experiment, the numbers to watch of one network's metrics.

learned: share of the directions that every seed learned; second_late_early: accuracy with the
second channel alone where the first channel's NAD is the grid's latest and the second's its
earliest; linear_early: with the linear channel alone along the earliest NAD; images_late: with the
images alone beside the latest one. The first kind of data or estimand counts.
"""


def summary(run: Run) -> dict[str, dict[str, float | None]]:
    """`NUMBERS` of the experiments that train `NETWORK`, and of its NADs.

    nads.first_singular_value: √λ₀ × √10,000, as published; nads.relative_error: of C.
    """
    numbers = {}
    if NETWORK in run.nads and np.isfinite(run.nads[NETWORK]["error"]):
        first, error = run.nads[NETWORK]["eigenvalues"][0], run.nads[NETWORK]["error"]
        numbers["nads"] = {
            "first_singular_value": round(100 * float(first) ** 0.5, 4),
            "relative_error": round(float(error), 3),
        }
    metrics = {name: artifacts.metrics(name) for name in NUMBERS if name in run.experiments}
    return numbers | {
        name: NUMBERS[name](every[NETWORK]) for name, every in metrics.items() if NETWORK in every
    }
