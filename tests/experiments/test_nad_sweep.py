"""`nad_sweep` against paper 1, §4: D(uᵢ) along the network's own NADs, of both estimands."""

from small_grids import table

from pipeline import experiments

EXPERIMENT = experiments.find("nad_sweep")
COLUMNS = ("architecture", "seed", "estimand", "index", "accuracy", "train_accuracy")


def test_metrics():
    """The second of six epochs is early."""
    accuracies = {
        ("lenet", "secant"): {0: 1.01, 1: 0.91, 2: 0.71, 5: 0.51},
        ("lenet", "gradient"): {0: 0.5, 1: 0.5},
        ("densenet", "secant"): {0: 0.98764, 1: 1 / 3},
        ("vgg", "secant"): {0: 0.9, 1: 1.0, 2: 0.5, 5: 0.7},
    }
    rows = [
        (name, s, estimand, i, a + 0.02 * s - 0.01, 1 - 0.004 * i)
        for (name, estimand), found in accuracies.items()
        for s in (0, 1)
        for i, a in found.items()
    ]
    losses = [
        ("lenet", estimand, i, epoch, (0.1 * i if epoch == 2 else -i * epoch) * sign)
        for estimand, sign in (("secant", 1), ("gradient", -1))
        for i in (0, 1, 2, 5)
        for epoch in range(1, 7)
    ]
    tables = {
        "results": table(rows, COLUMNS),
        "losses": table(losses, ("architecture", "estimand", "index", "epoch", "loss")),
    }
    found = EXPERIMENT.metrics(tables, {})
    assert [(name, estimand) for name in found for estimand in found[name]] == [*accuracies]
    keys = ("accuracy_index", "early_loss_index")
    assert found["lenet"]["secant"] == {
        # All but those at index 5, with a training accuracy of 98 %.
        "cells": 8,
        "fitted": 6,
        "first": 1.01,
        "last": 0.51,
        "spearman": dict(zip(keys, (-1.0, 1.0))),
        # One order of 24 and its reverse are as far from none.
        "p_value": dict.fromkeys(keys, 0.083),
    }
    assert found["lenet"]["gradient"]["spearman"] == dict(zip(keys, (None, -1.0)))
    assert found["lenet"]["gradient"]["p_value"]["accuracy_index"] is None
    densenet, vgg = found["densenet"]["secant"], found["vgg"]["secant"]
    assert (densenet["first"], densenet["last"]) == (0.9876, 0.3333)
    assert densenet["p_value"]["accuracy_index"] == 1, "of two indices there are but two orders"
    # Ranks 3, 4, 1, 2 against 1, 2, 3, 4; with two degrees of freedom p = 1 − |ρ|.
    assert (vgg["spearman"]["accuracy_index"], vgg["p_value"]["accuracy_index"]) == (-0.6, 0.4)
