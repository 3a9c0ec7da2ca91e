"""The table of accuracies by optimiser, of two small runs."""

import json

import pandas as pd
import pytest

from studies import optimisers

LENET = {"network": "pipeline.networks.lenet:LeNet"}
SGD = {"optimiser": "sgd", "momentum": 0.0}


def test_an_optimiser_is_named_by_what_moves_the_weights():
    assert optimisers.optimiser({"momentum": 0.0}) == "SGD", "as runs of before the setting have it"
    assert optimisers.optimiser(SGD | {"momentum": 0.9}) == "SGD with momentum"
    assert optimisers.optimiser(SGD | {"optimiser": "adamw", "momentum": 0.9}) == "AdamW"


def test_accuracies_are_means_over_seeds_and_fitted_where_all_seeds_are(tmp_path, monkeypatch):
    monkeypatch.setattr(optimisers, "KEPT", tmp_path)
    monkeypatch.setattr(optimisers, "RUNS", {"lenet": ("one", "other")})
    for run, training, accuracies in (
        ("one", SGD, {0: (0.9, 1.0), 16: (0.5, 0.6)}),
        ("other", SGD | {"optimiser": "adamw"}, {16: (0.7, 0.8)}),
    ):
        rows = [
            {"architecture": "lenet", "seed": seed, "index": index, "accuracy": accuracy}
            for index, both in accuracies.items()
            for seed, accuracy in enumerate(both)
        ]
        fit = [0.98 if row["index"] and row["seed"] else 1.0 for row in rows]
        folder = tmp_path / "nad_sweep" / run
        folder.mkdir(parents=True)
        pd.DataFrame(rows).assign(train_accuracy=fit).to_csv(folder / "results.csv", index=False)
        member = {"specification": LENET, "training": training}
        (folder / "run.json").write_text(json.dumps({"plan": {"members": {"lenet": member}}}))
    table = optimisers.table()
    assert table["network"].eq("LeNet").all() and table["seeds"].eq(2).all()
    found = table.set_index(["optimiser", "index"])
    assert found["mean"].to_dict() == pytest.approx(
        {("SGD", 0): 95.0, ("SGD", 16): 55.0, ("AdamW", 16): 75.0}
    )
    assert found["fitted"].tolist() == [1, 0, 0]
    assert found["train_accuracy"].tolist() == pytest.approx([100, 99, 99])
