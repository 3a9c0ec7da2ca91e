"""The numbers that `dvc metrics diff` compares."""

import types

import numpy as np
import pandas as pd
from small_run import make_nads

from pipeline.report.metrics import collect_metrics
from pipeline.report.run import Report


def metrics_of(name, rows):
    """The metrics of a run of one experiment."""
    columns = ["architecture", "images", "test_set", "accuracy", "train_accuracy"]
    results = pd.DataFrame(rows, columns=columns)
    plan = types.SimpleNamespace(experiment=name)
    record = types.SimpleNamespace(plan=plan, results=results)
    return collect_metrics(Report(None, {}, {name: record}))


def test_accuracies_are_means_by_architecture_and_test_set():
    rows = [
        ("lenet", "-", "all", 0.9, 1.0),
        ("lenet", "-", "first", 0.5, 1.0),
        ("lenet", "-", "all", 0.7, 0.98),
        ("lenet", "-", "first", 0.6, 0.98),
        ("mlp", "-", "all", 1 / 3, 0.5),
    ]
    assert metrics_of("linear_pairs", rows) == {
        "linear_pairs": {
            "lenet": {"all": 0.8, "first": 0.55, "train": 0.99},
            "mlp": {"all": 0.3333, "train": 0.5},
        }
    }


def test_flip_is_named_by_its_maps():
    rows = [("lenet", "plain", "all", 0.7, 0.9), ("lenet", "signs", "all", 0.5, 0.7)]
    lenet = {"plain": 0.7, "signs": 0.5, "train": 0.8}
    assert metrics_of("flip", rows) == {"flip": {"lenet": lenet}}


def test_nads_from_a_file_have_no_numbers():
    nads = {
        "lenet": make_nads(np.eye(4), error=0.12345),
        "mine": make_nads(np.eye(4), networks=0),
    }
    lenet = {"first_singular_value": 200.0, "relative_error": 0.1235}
    assert collect_metrics(Report(None, nads, {})) == {"nads": {"lenet": lenet}}
