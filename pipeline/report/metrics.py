"""reports/metrics.json: the numbers that `dvc metrics diff` and `dvc exp show` compare."""

from pipeline.report.run import Evaluated, Report

NAMED_BY_COORDINATE = {"flip": "images", "learning": "data"}
"""The coordinate that names an experiment's numbers where the test set says less."""


def metrics(report: Report) -> dict[str, dict[str, dict[str, float]]]:
    """The numbers of a run.

    Args:
        report: The run.

    Returns:
        By experiment, architecture and test set, the accuracy (0 to 1) averaged over
        the grid and over seeds, and the training accuracy by the name `train`. By
        'nads' and architecture, √λ of the first NAD times 100 and the relative error of
        C, if they were estimated.
    """
    numbers = {}
    estimates = {}
    for name, nads in report.nads.items():
        if nads["networks"]:
            estimates[name] = {
                "first_singular_value": _rounded(100 * nads["eigenvalues"][0] ** 0.5),
                "relative_error": _rounded(nads["error"]),
            }
    if estimates:
        numbers["nads"] = estimates
    for name, experiment in report.experiments.items():
        numbers[name] = _accuracies(experiment)
    return numbers


def _accuracies(experiment: Evaluated) -> dict[str, dict[str, float]]:
    column = NAMED_BY_COORDINATE.get(experiment.plan.experiment, "test_set")
    numbers = {}
    for architecture, rows in experiment.results.groupby("architecture", sort=False):
        means = rows.groupby(column, sort=False)["accuracy"].mean()
        numbers[architecture] = {
            str(key): _rounded(mean) for key, mean in means.items()
        }
        numbers[architecture]["train"] = _rounded(rows["train_accuracy"].mean())
    return numbers


def _rounded(value: float) -> float:
    """A number with four significant digits."""
    return float(f"{value:.4g}")
