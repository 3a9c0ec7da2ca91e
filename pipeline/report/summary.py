"""The few numbers to watch from run to run: reports/metrics.json, the table of `dvc exp show`."""

import numpy as np

from pipeline.project import artifacts
from pipeline.report.run import Run

NETWORK = "lenet"  # the architecture whose numbers are shown

NUMBERS = {
    "nad_sweep": lambda part: {"spearman": [*part.values()][0]["spearman"]["accuracy_index"]},
    "fourier": lambda part: {"highest": part["highest"]},
    "convergence": lambda part: {"learned": round(part["learned"] / part["directions"], 4)},
    "learning": lambda part: {"along_v": part["linear"]["after"]["v"]},
    "linear_pairs": lambda part: {
        "fitted": round(part["fitted"] / part["cells"], 4),
        "second_late_early": part["accuracy"]["high_low"]["second"],
    },
    "image_pairs": lambda part: {
        "linear_early": part["accuracy"]["low"]["linear"],
        "images_late": part["accuracy"]["high"]["images"],
    },
    "poison": lambda part: {"poisoned_early": part["first"]},
    "flip": lambda part: {"flipped": part["flipped"]},
}
"""From one network's part of metrics.json to its numbers, by experiment.

learned: share of the directions that every seed learned; along_v: part of the response along v
after training on D(v), mean over the grid; second_late_early: accuracy with the second channel
alone where the first channel's NAD is the grid's latest and the second's its earliest;
linear_early: accuracy with the linear channel alone along the earliest NAD; images_late: accuracy
with the images alone beside the latest NAD. Of several estimands the first counts.
"""


def summary(run: Run) -> dict[str, dict[str, float | None]]:
    """The `NUMBERS` of the experiments that train `NETWORK`, and two numbers of its NADs.

    nads.first_singular_value: √λ₀ × √10,000, as published; nads.relative_error: that of C.
    """
    numbers = {}
    if NETWORK in run.nads and np.isfinite(run.nads[NETWORK]["error"]):
        first = round(100 * float(run.nads[NETWORK]["eigenvalues"][0]) ** 0.5, 4)
        error = round(float(run.nads[NETWORK]["error"]), 3)
        numbers["nads"] = {"first_singular_value": first, "relative_error": error}
    for name, chosen in NUMBERS.items():
        metrics = artifacts.evaluated(name, "metrics.json") if name in run.experiments else {}
        if NETWORK in metrics:
            numbers[name] = chosen(metrics[NETWORK])
    return numbers
