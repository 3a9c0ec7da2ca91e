"""The experiments' grids and data against paper 2's definitions."""

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml

from pipeline import experiments, params
from pipeline.errors import InputError

SHIPPED = yaml.safe_load(Path("params.yaml").read_text())


def chosen(name, **sizes):
    """The shipped smoke parameters of an experiment with other sizes."""
    module = experiments.find(name)
    loaded = params.parse(copy.deepcopy(SHIPPED), module, "smoke")
    return module, dataclasses.replace(loaded, grid=dataclasses.replace(loaded.grid, **sizes))


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    return {
        "classes": list("abcd"),
        "mean": [0.5, 0.4, 0.3],
        "deviation": [0.2, 0.2, 0.3],
        **{
            f"{s}_images": rng.integers(0, 256, (n, 3, 32, 32)).astype(np.uint8)
            for s, n in (("train", 60), ("test", 20))
        },
        **{f"{s}_labels": np.arange(n) % 4 for s, n in (("train", 60), ("test", 20))},
    }


def test_linear_pairs_data():
    module, p = chosen("linear_pairs", train_samples=50, test_samples=30, seeds=2)
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 4)))
    direction = lambda index: basis[:, index % 4]
    cell = {"index_1": 1, "index_2": 2, "eps_1": 1.0, "eps_2": 0.5, "sigma": 1.0}
    draw = module.draw(p, 3, None)
    for split, count in (("train", 50), ("test", 30)):
        x, y = module.dataset(cell, split, draw, direction, None)
        assert x.shape == (count, 2, 32, 32) and x.dtype == torch.float32
        signs = 2 * y.numpy() - 1
        flat = x.reshape(count, 2, -1).numpy()
        np.testing.assert_allclose(flat[:, 0] @ basis[:, 1], 1.0 * signs, atol=1e-4)
        np.testing.assert_allclose(flat[:, 1] @ basis[:, 2], 0.5 * signs, atol=1e-4)
        # The rest of the two channels is independent noise.
        assert abs(np.corrcoef(flat[:, 0].ravel(), flat[:, 1].ravel())[0, 1]) < 0.03
    first, second = module.plane(cell, direction, draw)
    assert float(first.norm()) == pytest.approx(1, abs=1e-5) and not first[1].any() and not second[0].any()
    again, other = module.draw(p, 3, None), module.draw(p, 4, None)
    assert all(np.array_equal(draw[k], again[k]) for k in draw)
    assert not np.array_equal(draw["train_normal"], other["train_normal"])
    assert not np.array_equal(draw["train_normal"][:30], draw["test_normal"])


def test_linear_pairs_grid_is_every_pair_and_seed():
    module, p = chosen("linear_pairs", seeds=2)
    cells = [c for c in module.cells(p) if c["architecture"] == "lenet"]
    assert sorted((c["seed"], c["index_1"], c["index_2"]) for c in cells) == sorted(
        (s, i, j) for s in (0, 1) for i in (1, 1000) for j in (1, 1000)
    )


def test_image_pairs_data(images):
    module, p = chosen("image_pairs", train_samples=40, test_samples=100)
    v = np.full(1024, 1 / 32)
    cell = {"architecture": "lenet", "index": 5, "eps": 1.0, "sigma": 3.0}
    draw = module.draw(p, 0, images)
    assert len(set(draw["train_chosen"])) == 40 and len(draw["test_chosen"]) == 20, "no more images than there are"
    x, y = module.dataset(cell, "train", draw, lambda index: v, images)
    assert x.shape == (40, 4, 32, 32)
    np.testing.assert_array_equal(y.numpy(), images["train_labels"][draw["train_chosen"]] >= 2)
    np.testing.assert_allclose(x[:, 3].reshape(40, -1).double().numpy() @ v, 2 * y.numpy() - 1, atol=1e-4)
    pixels = images["train_images"][draw["train_chosen"][7], 2, 3, 4] / 255
    assert float(x[7, 2, 3, 4]) == pytest.approx((pixels - 0.3) / 0.3, abs=1e-5)
    first, second = module.plane(cell, lambda index: v, draw)
    gap = x[y == 1][:, :3].mean(0) - x[y == 0][:, :3].mean(0)
    torch.testing.assert_close(2 * first[:3], gap, atol=1e-4, rtol=1e-4)
    assert not first[3].any() and not second[:3].any()


def table(values, columns):
    return pd.DataFrame([dict(zip(columns, row)) for row in values])


def test_linear_pairs_metrics():
    module = experiments.find("linear_pairs")
    accuracy = {(1, 1): (1, 1, 0.8), (1, 9): (1, 1, 0.5), (9, 1): (0.9, 0.5, 0.9), (9, 9): (0.5, 0.5, 0.5)}
    rows = [
        ("lenet", 0, i, j, s, a) for (i, j), each in accuracy.items() for s, a in zip(("all", "first", "second"), each)
    ]
    results = table(rows, ("architecture", "seed", "index_1", "index_2", "test_set", "accuracy"))
    planes = table([("lenet", 10.0), ("lenet", float("nan")), ("lenet", 30.0)], ("architecture", "tilt"))
    summary = module.metrics(results, planes)["lenet"]
    assert summary["accuracy"]["high_low"] == {"all": 0.9, "first": 0.5, "second": 0.9}
    assert (summary["switches_at"], summary["lowest_accuracy_all"], summary["mean_tilt"]) == (9, 0.5, 20.0)


def test_image_pairs_metrics():
    module = experiments.find("image_pairs")
    rows = [
        ("mlp", 0, i, s, a)
        for i, each in {1: (1, 0.5, 1), 8: (0.7, 0.7, 0.5)}.items()
        for s, a in zip(("all", "images", "linear"), each)
    ]
    results = table(rows, ("architecture", "seed", "index", "test_set", "accuracy"))
    summary = module.metrics(results, table([("mlp", float("nan"))], ("architecture", "tilt")))["mlp"]
    assert summary["switches_at"] == 8 and summary["mean_tilt"] is None
    assert summary["accuracy"]["low"] == {"all": 1.0, "images": 0.5, "linear": 1.0}


def test_an_unknown_experiment_is_named():
    with pytest.raises(InputError, match="the experiment 'linear' is unknown; known are image_pairs, linear_pairs"):
        experiments.find("linear")


def test_the_command_line_names_one_experiment():
    assert experiments.asked_for(["linear_pairs"]) == "linear_pairs"
    for arguments in ([], ["linear_pairs", "image_pairs"]):
        with pytest.raises(InputError, match="name one experiment after the stage"):
            experiments.asked_for(arguments)
