"""The experiments' grids and data against the papers' definitions."""

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml

from pipeline import datasets, experiments, params
from pipeline.datasets.fourier import fourier, frequencies
from pipeline.project.errors import InputError

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
    directions = [basis[:, 1], basis[:, 2]]
    cell = {"index_1": 1, "index_2": 2, "eps_1": 1.0, "eps_2": 0.5, "sigma": 1.0}
    draw = module.draw(p, 3, None)
    for split, count in (("train", 50), ("test", 30)):
        x, y = module.dataset(cell, split, draw, directions, None)
        assert x.shape == (count, 2, 32, 32) and x.dtype == torch.float32
        signs = 2 * y.numpy() - 1
        flat = x.reshape(count, 2, -1).numpy()
        np.testing.assert_allclose(flat[:, 0] @ basis[:, 1], 1.0 * signs, atol=1e-4)
        np.testing.assert_allclose(flat[:, 1] @ basis[:, 2], 0.5 * signs, atol=1e-4)
        # The rest of the two channels is independent noise.
        assert abs(np.corrcoef(flat[:, 0].ravel(), flat[:, 1].ravel())[0, 1]) < 0.03
    first, second = module.plane(cell, directions, draw)
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
    x, y = module.dataset(cell, "train", draw, [v], images)
    assert x.shape == (40, 4, 32, 32)
    np.testing.assert_array_equal(y.numpy(), images["train_labels"][draw["train_chosen"]] >= 2)
    np.testing.assert_allclose(x[:, 3].reshape(40, -1).double().numpy() @ v, 2 * y.numpy() - 1, atol=1e-4)
    pixels = images["train_images"][draw["train_chosen"][7], 2, 3, 4] / 255
    assert float(x[7, 2, 3, 4]) == pytest.approx((pixels - 0.3) / 0.3, abs=1e-5)
    first, second = module.plane(cell, [v], draw)
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
    summary = module.metrics({"results": results, "boundaries": planes}, {})["lenet"]
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
    planes = table([("mlp", float("nan"))], ("architecture", "tilt"))
    summary = module.metrics({"results": results, "boundaries": planes}, {})["mlp"]
    assert summary["switches_at"] == 8 and summary["mean_tilt"] is None
    assert summary["accuracy"]["low"] == {"all": 1.0, "images": 0.5, "linear": 1.0}


@pytest.mark.parametrize(("step", "count"), [(2, 130), (4, 34), (8, 10), (16, 4)])
def test_fourier_grid_has_every_different_direction_once(step, count):
    """The square of multiples of `step` modulo k ~ −k: four frequencies are their own partners, the others come in pairs."""
    kept = frequencies(step)
    assert len(kept) == count == ((32 // step) ** 2 - 4) // 2 + 4
    basis = np.stack([fourier(row, column) for row, column in kept]).astype(float)
    np.testing.assert_allclose(basis @ basis.T, np.eye(count), atol=1e-5)
    np.testing.assert_allclose(fourier(4, -6), fourier(-4, 6), atol=1e-6)


def test_fourier_directions_are_single_frequencies():
    energy = np.abs(np.fft.fft2(fourier(3, -5).reshape(32, 32))) ** 2
    assert sorted(np.flatnonzero(energy > 1e-6)) == sorted([3 * 32 + 27, 29 * 32 + 5])
    np.testing.assert_allclose(fourier(0, 0), 1 / 32, rtol=1e-6)


def test_fourier_data_and_cells():
    module, p = chosen("fourier", train_samples=40, seeds=2)
    cells = [cell for cell in module.cells(p) if cell["architecture"] == "logreg"]
    assert len(cells) == 2 * len(frequencies(8)) and {cell["seed"] for cell in cells} == {0, 1}
    directions = module.directions(p, None)
    cell = next(cell for cell in cells if (cell["k_row"], cell["k_col"]) == (-8, 0))
    used = [directions[name] for name in module.uses(cell)]
    x, y = module.dataset(cell, "train", module.draw(p, 0, None), used, None)
    np.testing.assert_allclose(x.flatten(1).numpy() @ fourier(-8, 0), 2.0 * y.numpy() - 1, atol=1e-4)
    assert float(x.std()) == pytest.approx(3, rel=0.05)


def test_fourier_metrics():
    rows = [("lenet", 0, k, 0, "all", a) for k, a in ((0, 0.9), (8, 0.5), (-16, 0.8), (-8, 0.5))]
    results = table(rows, ("architecture", "seed", "k_row", "k_col", "test_set", "accuracy"))
    summary = experiments.find("fourier").metrics({"results": results}, {})
    assert summary == {"lenet": {"mean": 0.675, "lowest": 0.5, "highest": 0.9, "fraction_above_75": 0.5}}


def nads_of(bases):
    """As `generate.nads_of`: (architecture, estimand) → arrays."""
    return lambda name, estimand="secant": {"directions": bases[estimand], "eigenvalues": np.linspace(1, 0, 1024)}


def test_nad_sweep_takes_both_estimands_of_the_networks_own_nads():
    module, p = chosen("nad_sweep", train_samples=40)
    rng = np.random.default_rng(0)
    bases = {name: np.linalg.qr(rng.standard_normal((1024, 1024)))[0].T for name in ("secant", "gradient")}
    directions = module.directions(p, nads_of(bases))
    cells = module.cells(p)
    assert [c["estimand"] for c in cells] == ["secant"] * 3 + ["gradient"] * 3
    for cell in (cells[1], cells[4]):
        used = [directions[name] for name in module.uses(cell)]
        x, y = module.dataset(cell, "train", module.draw(p, 0, None), used, None)
        along = x.flatten(1).double().numpy() @ bases[cell["estimand"]][cell["index"]]
        np.testing.assert_allclose(along, 2.0 * y.numpy() - 1, atol=1e-4)
    alone = dataclasses.replace(p, estimator=dataclasses.replace(p.estimator, compare=False))
    assert {c["estimand"] for c in module.cells(alone)} == {"secant"}


def test_nad_sweep_metrics():
    columns = ("architecture", "seed", "estimand", "index", "test_set", "accuracy")
    results = table([("lenet", 0, "secant", i, "all", a) for i, a in ((0, 1.0), (1, 0.9), (2, 0.7), (5, 0.5))], columns)
    losses = table(
        [("lenet", 0, "secant", i, epoch, 0.1 * i / epoch) for i in (0, 1, 2, 5) for epoch in (1, 2, 3)],
        ("architecture", "seed", "estimand", "index", "epoch", "loss"),
    )
    # Indices 1 and 2 share an eigenvalue, so their order does not count.
    eigenvalues = {"lenet-secant-eigenvalues": np.array([4.0, 2.0, 2.0, 0.5, 0.4, 0.3])}
    found = experiments.find("nad_sweep").metrics({"results": results, "losses": losses}, eigenvalues)
    spearman = found["lenet"]["secant"]["spearman"]
    assert spearman["accuracy_index"] == -1 and spearman["early_loss_index"] == 1
    assert spearman["accuracy_eigenvalue"] == pytest.approx(0.9487, abs=1e-4)


def test_poison_replaces_one_coefficient_and_leaves_the_test_images(images):
    module, p = chosen("poison", train_samples=40, test_samples=20)
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 1024)))
    draw, index = module.draw(p, 0, images), 7
    cell = {"architecture": "lenet", "data": "images", "index": index, "size": 0.05}
    x, y = module.dataset(cell, "train", draw, [basis.T], images)
    clean, _ = module.dataset(cell | {"index": -1}, "train", draw, [basis.T], images)
    scale = torch.tensor(images["deviation"]).reshape(1, 3, 1, 1)
    offset = torch.tensor(images["mean"]).reshape(1, 3, 1, 1)
    for values, label in zip((x * scale + offset).flatten(2).double().numpy(), y.tolist()):
        # Class t: channel t mod 3, sign − for even t; its coefficient on the carrier is replaced.
        assert values[label % 3] @ basis[:, index] == pytest.approx(0.05 * (1 if label % 2 else -1), abs=1e-5)
    changed = ((x - clean).abs().amax((2, 3)) > 1e-6).numpy()
    np.testing.assert_array_equal(changed, np.arange(3) == y.numpy()[:, None] % 3)
    sets = {name: part for name, part, _ in module.test_sets(cell, draw, [basis.T], images)}
    pixels = images["test_images"][draw["test_chosen"]] / 255
    np.testing.assert_allclose((sets["clean"] * scale + offset).numpy(), pixels, atol=1e-5)
    assert set(sets) == {"clean", "poisoned"}


def test_ten_classes_have_ten_carriers():
    """Six on the first NAD, four on the next: no two classes share NAD, channel and sign."""
    carriers = [datasets.carrier_of(label) for label in range(10)]
    assert len(set(carriers)) == 10 and [offset for offset, _, _ in carriers] == [0] * 6 + [1] * 4
    assert [sign for _, _, sign in carriers] == [-1, 1] * 5


def test_poison_grid_and_its_refusals():
    module, p = chosen("poison")
    assert [(c["data"], c["index"]) for c in module.cells(p)] == [
        *(("images", index) for index in (-1, 0, 1020)),
        *(("mixture", index) for index in (-1, 0)),
    ]
    document = copy.deepcopy(SHIPPED)
    plan = document["scales"]["smoke"]["poison"]["networks"]["lenet"]
    for change, sentence in (
        ({"indices": [1023]}, "the last index is 1022, not 1023"),
        ({"indices": [], "mixture_indices": []}, "both empty"),
        ({"indices": [3, 3]}, "repeat a value"),
    ):
        plan |= {"indices": [0], "mixture_indices": []} | change
        with pytest.raises(InputError, match=sentence):
            params.parse(document, module, "smoke")


def test_poison_refuses_more_classes_than_carriers(images):
    module, p = chosen("poison")
    with pytest.raises(InputError, match="40 classes take 7 NADs, so the last index is 1017, not 1020"):
        module.draw(p, 0, images | {"classes": list(range(40))})


def test_the_gaussian_mixture_has_each_classes_mean_and_covariance():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (400, 3, 2, 2)).astype(np.uint8)
    images[:200, 0] = images[:200, 1] // 2
    classes = np.repeat([0, 1], 200)
    wanted = np.tile([0, 1], 40_000)
    made = datasets.gaussian_mixture(np.random.default_rng(1), images, classes, wanted)
    for label in (0, 1):
        x = images[classes == label].reshape(200, 12) / 255
        y = made[wanted == label].reshape(-1, 12).astype(float)
        np.testing.assert_allclose(y.mean(0), x.mean(0), atol=0.01)
        np.testing.assert_allclose(np.cov(y.T), np.cov(x.T), atol=0.003)


def test_poison_metrics():
    columns = ("architecture", "seed", "data", "index", "test_set", "accuracy")
    rows = [("lenet", 0, "images", i, "clean", a) for i, a in ((-1, 0.5), (0, 0.1), (1020, 0.45))]
    rows.append(("lenet", 0, "images", 0, "poisoned", 1.0))
    found = experiments.find("poison").metrics({"results": table(rows, columns)}, {})
    assert found == {"lenet": {"images": {"clean": 0.5, "first": 0.1, "last": 0.45}}}


def test_flip_reverses_the_coefficients_of_images_and_mean_alike(images):
    module, p = chosen("flip", train_samples=40, test_samples=20)
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 1024)))
    draw = module.draw(p, 0, images)
    plain, y = module.dataset({"images": "plain"}, "train", draw, [basis.T], images)
    flipped, same = module.dataset({"images": "flipped"}, "train", draw, [basis.T], images)
    assert torch.equal(y, same)
    coefficients = plain.flatten(2).double().numpy() @ basis
    np.testing.assert_allclose(flipped.flatten(2).double().numpy() @ basis, coefficients[..., ::-1], atol=1e-4)
    torch.testing.assert_close(datasets.flipped(flipped, basis.T), plain, atol=1e-4, rtol=1e-4)


def test_alterations_take_away_or_turn_one_part(images):
    module, p = chosen("flip", train_samples=40, test_samples=5)
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 1024)))
    x, _ = module.dataset({"images": "plain"}, "test", module.draw(p, 0, images), [basis.T], images)
    assert not list(module.alterations({"images": "flipped"}, [basis.T], x))
    assert [first for first, _ in module.BANDS] == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512] and module.BANDS[-1][
        1
    ] == 1023
    before = x.flatten(2).double().numpy() @ basis
    seen = 0
    for place, altered in module.alterations({"images": "plain"}, [basis.T], x):
        if (place["first"], place["last"]) == (64, 127):
            after = altered.flatten(2).double().numpy() @ basis
            expected = before.copy()
            expected[..., 64:128] *= {"remove": 0, "flip": -1}[place["operation"]]
            np.testing.assert_allclose(after, expected, atol=1e-4)
            seen += 1
    assert seen == 2


def test_flip_metrics():
    results = table([("lenet", 0, "plain", "all", 0.6), ("lenet", 0, "flipped", "all", 0.4)],
                    ("architecture", "seed", "images", "test_set", "accuracy"))  # fmt: skip
    changes = table(
        [("lenet", "remove", 0, 0, 0.1), ("lenet", "remove", 1, 1, 0.3), ("lenet", "flip", 2, 3, 0.9)],
        ("architecture", "operation", "first", "last", "changed"),
    )
    found = experiments.find("flip").metrics({"results": results, "changes": changes}, {})
    assert found == {"lenet": {"plain": 0.6, "flipped": 0.4, "most_changed": "1–1"}}


def test_an_unknown_experiment_is_named():
    with pytest.raises(
        InputError, match="the experiment 'linear' is unknown; known are flip, fourier, image_pairs, linear_pairs"
    ):
        experiments.find("linear")


def test_the_command_line_names_one_experiment():
    assert experiments.asked_for(["linear_pairs"]) == "linear_pairs"
    for arguments in ([], ["linear_pairs", "image_pairs"]):
        with pytest.raises(InputError, match="name one experiment after the stage"):
            experiments.asked_for(arguments)
