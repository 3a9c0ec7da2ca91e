"""`learning`: D(v) and grey images, and where the response is after some epochs."""

import numpy as np
import pytest
import torch
from small_grids import SQUARE, data_of, nads_of, orthonormal, plan_of, separable

from pipeline import experiments
from pipeline.grid import jobs
from pipeline.training import loop, seeds

EXPERIMENT = experiments.find("learning")
SETTINGS = {"eps": 2.0, "sigma": {"logreg": 0.5, "lenet": 0.5}}
BASIS = orthonormal()
LINEAR = {"data": "linear", "index": 4, "eps": 2.0, "sigma": 0.5, **SQUARE}
IMAGES = LINEAR | {"data": "images", "index": -1}
GRIDS = {"logreg": {"indices": (4, 40)}}
HOW = loop.Training(epochs=3, lr=0.1, momentum=0.9, weight_decay=0.0)
PLAN = plan_of("learning", SETTINGS, GRIDS, seeds=(0,), samples=(60, 30), how=HOW)


@pytest.mark.parametrize("split", ["train", "test"])
def test_images_are_grey_and_have_the_labels_of_their_half_of_the_classes(
    split, images, normalised
):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 0, images)
    pictures = base_noise[f"{split}_pictures"]
    x, y = EXPERIMENT.dataset(IMAGES, split, base_noise, [BASIS])
    expected = normalised(pictures).mean(1, keepdims=True)
    np.testing.assert_allclose(x, expected, atol=1e-5)
    labels = {}
    for picture, label in zip(
        images[f"{split}_images"], images[f"{split}_labels"], strict=True
    ):
        labels[picture.tobytes()] = label
    assert y.tolist() == [labels[picture.tobytes()] >= 2 for picture in pictures]
    assert len(set(y.tolist())) == 2


@pytest.mark.parametrize("split", ["train", "test"])
def test_d_of_v_has_the_labels_of_the_images(split, images):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 0, images)
    _, y = EXPERIMENT.dataset(IMAGES, split, base_noise, [BASIS])
    x, same = EXPERIMENT.dataset(LINEAR, split, base_noise, [BASIS])
    assert torch.equal(same, y)
    normal = base_noise[f"{split}_normal"]
    expected = separable(normal, 2 * y.numpy() - 1, BASIS[4], 2.0, 0.5)
    np.testing.assert_allclose(x.flatten(1), expected, atol=1e-4)


def test_a_course_holds_the_weights_after_0_1_2_4_and_all_epochs(images):
    vectors = EXPERIMENT.directions(PLAN, nads_of({"secant": BASIS}))
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 0, images)
    data = data_of("learning", {0: base_noise}, vectors)
    cpu = torch.device("cpu")
    job = next(jobs.of_cells(PLAN, data, EXPERIMENT.cells(PLAN), cpu))
    result = jobs.train_cell(data, job)
    course = jobs.by_epoch(result.tensors)
    assert list(course) == [0, 1, 2, 3]
    # The same training again, with the weights after each of its epochs.
    network = jobs.restore(data, job.cell, job.specification, course[0], cpu)
    x, y = data.dataset(job.cell, "train")
    order = seeds.for_order(*job.identity)
    expected = {}

    def note(epochs):
        expected[epochs] = network.state_dict()["1.weight"].clone()

    loop.train(network, loop.channels_last(x, "cpu"), y, HOW, order, note)
    for epochs, weights in course.items():
        assert torch.equal(weights["1.weight"], expected[epochs])
    assert not torch.equal(expected[2], expected[3])
    assert loop.snapshot_epochs(20) == {0, 1, 2, 4, 8, 16, 20}
    assert loop.snapshot_epochs(1) == {0, 1}
