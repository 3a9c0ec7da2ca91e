"""`learning`: D(v) and grey images, and where the response lies after some epochs."""

import numpy as np
import pytest
import torch
from small_grids import SQUARE, data_of, nads_of, orthonormal, plan_of, separable

from pipeline import experiments
from pipeline.grid import jobs
from pipeline.training import loop

EXPERIMENT = experiments.find("learning")
SETTINGS = {"eps": 2.0, "sigma": {"logreg": 0.5, "lenet": 0.5}}
BASIS = orthonormal()
LINEAR = {"data": "linear", "index": 4, "eps": 2.0, "sigma": 0.5} | SQUARE
IMAGES = LINEAR | {"data": "images", "index": -1}
GRIDS = {"logreg": {"indices": (4, 40)}}
HOW = loop.Training(epochs=3, lr=0.1, momentum=0.9, weight_decay=0.0)
PLAN = plan_of("learning", SETTINGS, GRIDS, seeds=(0,), samples=(60, 30), how=HOW)


@pytest.mark.parametrize("split", ["train", "test"])
def test_images_are_the_mean_of_normalised_channels_and_labels_the_halves_as_those_of_d_of_v(
    split, images, normalised
):
    draw = EXPERIMENT.draw_base_noise(PLAN, 0, images)
    x, y = EXPERIMENT.dataset(IMAGES, split, draw, [BASIS])
    expected = normalised(draw[f"{split}_pictures"]).mean(1, keepdims=True)
    np.testing.assert_allclose(x, expected, atol=1e-5)
    shown = zip(images[f"{split}_images"], images[f"{split}_labels"], strict=True)
    label_of = {picture.tobytes(): label for picture, label in shown}
    halves = [label_of[picture.tobytes()] >= 2 for picture in draw[f"{split}_pictures"]]
    assert y.tolist() == halves and len(set(halves)) == 2
    x, same = EXPERIMENT.dataset(LINEAR, split, draw, [BASIS])
    expected = separable(draw[f"{split}_normal"], 2 * y.numpy() - 1, BASIS[4], 2.0, 0.5)
    np.testing.assert_allclose(x.flatten(1), expected, atol=1e-4)
    assert torch.equal(same, y)


def test_a_course_holds_the_weights_after_0_1_2_4_and_all_epochs(images):
    vectors = EXPERIMENT.directions(PLAN, nads_of({"secant": BASIS}))
    data = data_of(
        "learning", {0: EXPERIMENT.draw_base_noise(PLAN, 0, images)}, vectors
    )
    job = next(jobs.of_cells(PLAN, data, EXPERIMENT.cells(PLAN), torch.device("cpu")))
    (result,) = jobs.train_group(data, [job])
    course = jobs.course(result.tensors)
    assert list(course) == [0, 1, 2, 3]
    # The weights after k epochs are those of the same training, of which each epoch is
    # seen.
    seen = {}
    place = (job.cell, job.specification)
    network = jobs.restored(data, *place, course[0], torch.device("cpu"))
    x, y = data.dataset(job.cell, "train")
    order = jobs.derive(*job.identity, "order")

    def note(epochs):
        return seen.update({epochs: network.state_dict()["1.weight"].clone()})

    loop.train(network, loop.channels_last(x, "cpu"), y, HOW, order, note)
    for epochs, weights in course.items():
        assert torch.equal(weights["1.weight"], seen[epochs])
    assert not torch.equal(seen[2], seen[3])
    assert jobs.noted(20) == {0, 1, 2, 4, 8, 16, 20} and jobs.noted(1) == {0, 1}
