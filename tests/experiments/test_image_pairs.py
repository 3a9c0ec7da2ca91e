"""`image_pairs` against paper 2, §4: pictures of a binary problem ⊕ D(v)."""

import dataclasses

import numpy as np
import pytest
import torch
from refusals import refused
from small_grids import orthonormal, plan_of, separable

from pipeline import experiments
from pipeline.training import pictures
from pipeline.training.seeds import stream

EXPERIMENT = experiments.find("image_pairs")
SETTINGS = {"eps": 0.7, "sigma": {"lenet": 1.0, "mlp": 3.0, "vgg11": 2.0}}
PLAN = plan_of(
    "image_pairs",
    SETTINGS,
    {"lenet": {"indices": (5, 32)}, "mlp": {"indices": (5,)}},
    samples=(40, 100),
)
BASIS = orthonormal()


def test_base_noise_has_pictures_with_the_labels_of_their_half_of_the_classes(images):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    for split, count in (("train", 40), ("test", 20)):
        rng = stream(2, "image_pairs", split)
        chosen, classes = pictures.choose(rng, images, split, count)
        normal = rng.standard_normal((count, 1024), dtype=np.float32)
        labels = np.where(classes >= 2, 1, -1)
        assert np.array_equal(base_noise[f"{split}_pictures"], chosen)
        assert np.array_equal(base_noise[f"{split}_labels"], labels)
        assert np.array_equal(base_noise[f"{split}_normal"], normal)
    assert base_noise["mean"].tolist() == images["mean"]
    assert base_noise["deviation"].tolist() == images["deviation"]


def test_half_the_gap_between_the_sides_mean_images_and_v_span_the_plane(
    images, normalised
):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    cell = EXPERIMENT.cells(PLAN)[0]
    first, second = EXPERIMENT.boundary_plane(cell, base_noise, [BASIS[5]])
    x = normalised(base_noise["train_pictures"])
    y = base_noise["train_labels"]
    half_gap = (x[y > 0].mean(0) - x[y < 0].mean(0)) / 2
    np.testing.assert_allclose(first[:3], half_gap, atol=1e-6)
    np.testing.assert_allclose(second[3], BASIS[5].reshape(32, 32))
    assert not first[3].any()
    assert not second[:3].any()


def with_positive(*names):
    """The plan with these classes on the positive side."""
    settings = EXPERIMENT.Settings(**SETTINGS, positive=names)
    return dataclasses.replace(PLAN, settings=settings)


def test_the_user_may_name_the_positive_classes(images):
    base_noise = EXPERIMENT.draw_base_noise(with_positive("c", "a"), 2, images)
    default = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    for split in ("train", "test"):
        labels = base_noise[f"{split}_labels"]
        pairs = zip(labels, default[f"{split}_labels"], strict=True)
        assert set(pairs) == {(1, -1), (-1, -1), (1, 1), (-1, 1)}
        # Pictures and noise do not depend on the sides.
        for part in ("pictures", "normal"):
            name = f"{split}_{part}"
            assert np.array_equal(base_noise[name], default[name])
    below, above = with_positive("e", "b").settings.sides(list("abcde"))
    assert below == ["a", "c", "d"]
    assert above == ["b", "e"]


@pytest.mark.parametrize("names", ["az", "cab", ""])
def test_a_side_without_classes_or_with_unknown_ones_is_refused(names):
    settings = with_positive(*names).settings
    with refused("unknown-name") as caught:
        settings.sides(list("abc"))
    assert "a, b, c" in str(caught.value)


@pytest.mark.parametrize("split", ["train", "test"])
def test_three_channels_are_the_normalised_picture_and_the_fourth_is_linearly_separable(
    split, images, normalised
):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    cell = EXPERIMENT.cells(PLAN)[4]
    x, classes = EXPERIMENT.dataset(cell, split, base_noise, [BASIS[5]])
    y = base_noise[f"{split}_labels"]
    assert x.shape == (len(y), 4, 32, 32)
    assert x.dtype == torch.float32
    assert classes.dtype == torch.int64
    assert np.array_equal(classes, y == 1)
    expected = normalised(base_noise[f"{split}_pictures"])
    np.testing.assert_allclose(x[:, :3], expected, atol=1e-5)
    expected = separable(base_noise[f"{split}_normal"], y, BASIS[5], 0.7, 3.0)
    np.testing.assert_allclose(x[:, 3].flatten(1), expected, atol=2e-5)


def test_it_is_tested_with_all_channels_with_each_group_and_in_conflict(images):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    cell = EXPERIMENT.cells(PLAN)[0]
    x, classes = EXPERIMENT.dataset(cell, "test", base_noise, [BASIS[5]])
    inputs = {}
    for name, found, y in EXPERIMENT.test_sets(cell, base_noise, [BASIS[5]]):
        inputs[name] = found
        assert torch.equal(y, classes)
    assert list(inputs) == ["all", "images", "linear", "conflict"]
    masks = {"all": (1, 1, 1, 1), "images": (1, 1, 1, 0), "linear": (0, 0, 0, 1)}
    for name, mask in masks.items():
        assert torch.equal(inputs[name], x * torch.tensor(mask).reshape(1, 4, 1, 1))
    assert torch.equal(inputs["conflict"][:, 3], x[:, 3])
    pictures_of_test = [picture.numpy().tobytes() for picture in x[:, :3]]
    for picture, y in zip(inputs["conflict"][:, :3], classes, strict=True):
        row = pictures_of_test.index(picture.numpy().tobytes())
        assert classes[row] == 1 - y


def test_pictures_of_one_side_give_no_conflict(images):
    base_noise = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    base_noise["test_labels"] = np.ones_like(base_noise["test_labels"])
    cell = EXPERIMENT.cells(PLAN)[0]
    sets = EXPERIMENT.test_sets(cell, base_noise, [BASIS[5]])
    assert [name for name, _, _ in sets] == ["all", "images", "linear"]
