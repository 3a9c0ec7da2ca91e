"""The table of accuracies by optimiser, of two small runs."""

import json

import pytest

from studies import optimisers

LENET = {"network": "pipeline.networks.lenet:LeNet"}
SGD = {"optimiser": "sgd", "momentum": 0.0, "epochs": 20}


def test_an_optimiser_is_named_by_what_moves_the_weights():
    assert optimisers.optimiser({"momentum": 0.0}) == "SGD", (
        "as runs of before the setting have it"
    )
    assert optimisers.optimiser(SGD | {"momentum": 0.9}) == "SGD with momentum"
    assert (
        optimisers.optimiser(SGD | {"optimiser": "adamw", "momentum": 0.9}) == "AdamW"
    )


def test_accuracies_are_means_over_seeds_and_fitted_where_all_seeds_are(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(optimisers, "KEPT", tmp_path)
    monkeypatch.setattr(optimisers, "RUNS", {"lenet": ("one", "replaced", "other")})
    first = (
        "lenet,0,0,0.9,1",
        "lenet,1,0,1,1",
        "lenet,0,16,0.5,1",
        "lenet,1,16,0.6,0.98",
    )
    second = "lenet,0,16,0.7,1", "lenet,1,16,0.8,0.98"
    adamw = SGD | {"optimiser": "adamw"}
    runs = ("one", SGD, first), ("replaced", adamw, first[2:]), ("other", adamw, second)
    for run, training, lines in runs:
        folder = tmp_path / "nad_sweep" / run
        folder.mkdir(parents=True)
        header = "architecture,seed,index,accuracy,train_accuracy"
        (folder / "results.csv").write_text("\n".join((header, *lines)))
        member = {"specification": LENET, "training": training}
        (folder / "run.json").write_text(
            json.dumps({"plan": {"members": {"lenet": member}}})
        )
    table = optimisers.table()
    assert table["network"].eq("LeNet").all() and table["seeds"].eq(2).all()
    found = table.set_index(["optimiser", "index"])
    assert found["mean"].to_dict() == pytest.approx(
        {("SGD", 0): 95.0, ("SGD", 16): 55.0, ("AdamW", 16): 75.0}
    )
    assert found["fitted"].tolist() == [1, 0, 0]
    assert found["train_accuracy"].tolist() == pytest.approx([100, 99, 99])
