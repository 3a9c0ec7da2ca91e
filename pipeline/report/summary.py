"""The few numbers to watch from run to run: reports/metrics.json, the table of `dvc exp show`."""

from collections.abc import Mapping
from types import ModuleType

import numpy as np

from pipeline.report.run import NETWORK, Report


def summary(run: Report, parts: Mapping[str, ModuleType]) -> dict[str, dict[str, float | None]]:
    """The `metrics` of the experiments that train `NETWORK`, and two numbers of its NADs.

    parts: the report's modules by the name of the experiment, of which one without `metrics` has
    no number to watch. nads.first_singular_value: √λ₀ × √10,000, as published;
    nads.relative_error: that of C.
    """
    numbers = {}
    if NETWORK in run.nads and np.isfinite(run.nads[NETWORK]["error"]):
        first = round(100 * float(run.nads[NETWORK]["eigenvalues"][0]) ** 0.5, 4)
        error = round(float(run.nads[NETWORK]["error"]), 3)
        numbers["nads"] = {"first_singular_value": first, "relative_error": error}
    for name, part in parts.items():
        experiment = run.experiments.get(name)
        if hasattr(part, "metrics") and experiment and NETWORK in experiment.labels:
            numbers[name] = {
                key: None if np.isnan(value) else round(float(value), 4)
                for key, value in part.metrics(experiment, NETWORK).items()
            }
    return numbers
