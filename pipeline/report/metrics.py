"""reports/metrics.json: the numbers that `dvc metrics diff` compares."""

from pipeline.report.run import Record, Report

COORDINATE = {"flip": "images", "learning": "data"}
"""The coordinate that names an experiment's numbers where the test set says less."""


def collect_metrics(report: Report) -> dict[str, dict[str, dict[str, float]]]:
    """Collect the numbers of a run.

    Args:
        report: The run.

    Returns:
        By experiment, architecture and test set, the accuracy (0 to 1) averaged over
        the grid and over seeds; `train` is the training accuracy. By 'nads' and
        architecture, √λ of the first NAD times 100 and the relative error of C, if they
        were estimated.
    """
    numbers = {}
    estimates = {}
    for name, nads in report.nads.items():
        if nads.networks:
            estimates[name] = {
                "first_singular_value": _round(100 * nads.eigenvalues[0] ** 0.5),
                "relative_error": _round(nads.error),
            }
    if estimates:
        numbers["nads"] = estimates
    for name, record in report.experiments.items():
        numbers[name] = _average_accuracies(record)
    return numbers


def _average_accuracies(record: Record) -> dict[str, dict[str, float]]:
    """Average accuracies by architecture and test set, or another coordinate."""
    column = COORDINATE.get(record.plan.experiment, "test_set")
    numbers = {}
    for architecture, rows in record.results.groupby("architecture", sort=False):
        means = rows.groupby(column, sort=False)["accuracy"].mean()
        values = {str(key): _round(mean) for key, mean in means.items()}
        values["train"] = _round(rows["train_accuracy"].mean())
        numbers[architecture] = values
    return numbers


def _round(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")
