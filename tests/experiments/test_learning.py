"""`learning`: D(v) and grey images, and where the response lies after some epochs."""

import numpy as np
import pytest
import torch
from small_grids import SQUARE, data_of, nads_of, orthonormal, plan_of, separable, table

from pipeline import experiments
from pipeline.cells import training
from pipeline.grid import jobs

EXPERIMENT = experiments.find("learning")
SETTINGS = {"eps": 2.0, "sigma": {"logreg": 0.5, "lenet": 0.5}}
BASIS = orthonormal()
LINEAR = {"data": "linear", "index": 4, "eps": 2.0, "sigma": 0.5} | SQUARE
IMAGES = LINEAR | {"data": "images", "index": -1}


GRIDS = {"logreg": {"indices": (4, 40)}}
HOW = training.Training(epochs=3, lr=0.1, momentum=0.9, weight_decay=0.0)
PLAN = plan_of("learning", SETTINGS, GRIDS, seeds=(0,), samples=(60, 30), how=HOW)


@pytest.mark.parametrize("split", ["train", "test"])
def test_images_are_the_mean_of_normalised_channels_and_labels_the_halves(
    split, images, normalised
):
    draw = EXPERIMENT.draw(PLAN, 0, images)
    x, y = EXPERIMENT.dataset(IMAGES, split, draw, [BASIS])
    expected = normalised(draw[f"{split}_pictures"]).mean(1, keepdims=True)
    np.testing.assert_allclose(x, expected, atol=1e-5)
    shown = zip(images[f"{split}_images"], images[f"{split}_labels"])
    label_of = {picture.tobytes(): label for picture, label in shown}
    halves = [label_of[picture.tobytes()] >= 2 for picture in draw[f"{split}_pictures"]]
    assert y.tolist() == halves and len(set(halves)) == 2


def test_the_linear_channel_is_d_of_v(images):
    draw = EXPERIMENT.draw(PLAN, 0, images)
    x, y = EXPERIMENT.dataset(LINEAR, "train", draw, [BASIS])
    expected = separable(draw["train_normal"], draw["train_labels"], BASIS[4], 2.0, 0.5)
    np.testing.assert_allclose(x.flatten(1), expected, atol=1e-4)
    assert torch.equal(y, torch.as_tensor(draw["train_labels"] > 0).long())


def test_the_parts_of_the_response():
    """Half of the response along v = NAD 4, and of the rest 3/4 in the other nine of the first."""
    values = np.zeros(1024)
    values[4], values[[0, 9]], values[[10, 500]] = 8, 3, 1
    covariance = BASIS.T @ np.diag(values) @ BASIS
    x = torch.randn(50, 1, 32, 32)
    found = EXPERIMENT.course(LINEAR, [BASIS], x, covariance)
    assert found == pytest.approx({"v": 8 / 16, "nads": 6 / 8})
    found = EXPERIMENT.course(LINEAR | {"index": 500}, [BASIS], x, covariance)
    assert found == pytest.approx({"v": 1 / 16, "nads": 14 / 15})
    x[:, 0].flatten(1)[:] = torch.randn(50, 1) * torch.as_tensor(BASIS[500]).float()
    found = EXPERIMENT.course(IMAGES, [BASIS], x, covariance)
    assert found["nads"] == pytest.approx(14 / 16) and found["components"] >= 1 / 16 - 1e-9


def test_a_course_holds_the_weights_after_0_1_2_4_and_all_epochs(images):
    vectors = EXPERIMENT.directions(PLAN, nads_of({"secant": BASIS}))
    data = data_of("learning", {0: EXPERIMENT.draw(PLAN, 0, images)}, vectors)
    job = next(jobs.of_cells(PLAN, data, EXPERIMENT.cells(PLAN), torch.device("cpu")))
    (result,) = jobs.train_group(data, [job])
    course = jobs.course({name: torch.as_tensor(a) for name, a in result.arrays.items()})
    assert list(course) == [0, 1, 2, 3]
    # The weights after k epochs are those of the same training, of which each epoch is seen.
    seen, place = {}, (job.cell, job.specification)
    network = jobs.restored(data, *place, course[0], torch.device("cpu"))
    x, y = data.dataset(job.cell, "train")
    order = jobs.derive(*job.identity, "order")
    note = lambda epochs: seen.update({epochs: network.state_dict()["1.weight"].clone()})
    training.train(network, training.arranged(x, "cpu"), y, HOW, order, note)
    for epochs, weights in course.items():
        assert torch.equal(weights["1.weight"], seen[epochs])
    assert not torch.equal(seen[2], seen[3])
    assert jobs.noted(20) == {0, 1, 2, 4, 8, 16, 20} and jobs.noted(1) == {0, 1}


def test_metrics():
    course = [
        ("lenet", data, epoch, v, components, nads + s / 10)
        for s in (0, 1)
        for data, epoch, v, components, nads in (
            ("linear", 0, 0.1, np.nan, 0.2),
            ("linear", 4, 0.9, np.nan, 0.3),
            ("images", 0, np.nan, 0.4, 0.5),
            ("images", 4, np.nan, 0.6, 0.7),
        )
    ]
    results = [("lenet", "linear", 1.0), ("lenet", "images", 0.0)] * 2
    results[-1] = ("lenet", "images", 1.0)
    tables = {
        "results": table(results, ("architecture", "data", "train_accuracy")),
        "course": table(course, ("architecture", "data", "epoch", "v", "components", "nads")),
    }
    found = EXPERIMENT.metrics(tables, {})["lenet"]
    ends = {"before": {"v": 0.1, "nads": 0.25}, "after": {"v": 0.9, "nads": 0.35}}
    assert found["linear"] == {"cells": 2, "fitted": 2} | ends
    ends = {"components": 0.4, "nads": 0.55}, {"components": 0.6, "nads": 0.75}
    assert found["images"] == {"cells": 2, "fitted": 1, "before": ends[0], "after": ends[1]}
