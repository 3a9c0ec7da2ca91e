"""`image_pairs` against paper 2, §4: pictures of a binary problem ⊕ D(v)."""

import dataclasses

import numpy as np
import pytest
import torch
from small_grids import orthonormal, plan_of, separable

from pipeline import experiments
from pipeline.project.errors import InputError
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


def test_a_draw_is_pictures_with_the_labels_of_their_half_of_the_classes(
    images, normalised
):
    draw = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    for split, count in (("train", 40), ("test", 20)):
        rng = stream(2, "image_pairs", split)
        chosen, classes = pictures.chosen(rng, images, split, count)
        normal = rng.standard_normal((count, 1024), dtype=np.float32)
        labels = np.where(classes >= 2, 1, -1)
        for part, array in {
            "pictures": chosen,
            "labels": labels,
            "normal": normal,
        }.items():
            assert np.array_equal(draw[f"{split}_{part}"], array)
    assert all(draw[key].tolist() == images[key] for key in ("mean", "deviation"))
    # The plane is spanned by half the gap between the sides' mean images, and by v.
    x = normalised(draw["train_pictures"])
    y = draw["train_labels"]
    first, second = EXPERIMENT.boundary_plane(
        EXPERIMENT.cells(PLAN)[0], draw, [BASIS[5]]
    )
    half_gap = (x[y > 0].mean(0) - x[y < 0].mean(0)) / 2
    np.testing.assert_allclose(first[:3], half_gap, atol=1e-6)
    np.testing.assert_allclose(second[3], BASIS[5].reshape(32, 32))
    assert not first[3].any() and not second[:3].any()


def with_positive(*names):
    """The plan with these classes on the positive side."""
    return dataclasses.replace(
        PLAN, settings=EXPERIMENT.Settings(**SETTINGS, positive=names)
    )


def test_the_user_may_name_the_positive_classes(images):
    draw, plain = (
        EXPERIMENT.draw_base_noise(plan, 2, images)
        for plan in (with_positive("c", "a"), PLAN)
    )
    for split in ("train", "test"):
        classes = zip(draw[f"{split}_labels"], plain[f"{split}_labels"], strict=True)
        assert set(classes) == {(1, -1), (-1, -1), (1, 1), (-1, 1)}
        # Which pictures and which noise are drawn is no matter of the sides.
        for part in ("pictures", "normal"):
            assert np.array_equal(draw[f"{split}_{part}"], plain[f"{split}_{part}"])
    assert with_positive("e", "b").settings.sides(list("abcde")) == (
        ["a", "c", "d"],
        ["b", "e"],
    )
    for names in ("az", "cab", ""):
        with pytest.raises(InputError, match="some, not all, of the classes a, b, c"):
            with_positive(*names).settings.sides(list("abc"))


@pytest.mark.parametrize("split", ["train", "test"])
def test_three_channels_are_the_normalised_picture_and_the_fourth_is_linearly_separable(
    split, images, normalised
):
    draw = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    cell = EXPERIMENT.cells(PLAN)[4]
    x, classes = EXPERIMENT.dataset(cell, split, draw, [BASIS[5]])
    y = draw[f"{split}_labels"]
    assert x.shape == (len(y), 4, 32, 32) and classes.tolist() == [
        int(label == 1) for label in y
    ]
    assert x.dtype == torch.float32 and classes.dtype == torch.int64
    np.testing.assert_allclose(
        x[:, :3], normalised(draw[f"{split}_pictures"]), atol=1e-5
    )
    expected = separable(draw[f"{split}_normal"], y, BASIS[5], 0.7, 3.0)
    np.testing.assert_allclose(x[:, 3].flatten(1), expected, atol=2e-5)


def test_it_is_tested_with_all_channels_with_each_part_alone_and_in_conflict(images):
    draw = EXPERIMENT.draw_base_noise(PLAN, 2, images)
    cell = EXPERIMENT.cells(PLAN)[0]
    x, classes = EXPERIMENT.dataset(cell, "test", draw, [BASIS[5]])
    names, inputs, targets = zip(
        *EXPERIMENT.test_sets(cell, draw, [BASIS[5]]), strict=True
    )
    assert names == ("all", "images", "linear", "conflict")
    assert all(torch.equal(y, classes) for y in targets)
    *inputs, conflict = inputs
    for part, kept in zip(
        inputs, ((1, 1, 1, 1), (1, 1, 1, 0), (0, 0, 0, 1)), strict=True
    ):
        assert torch.equal(part, x * torch.tensor(kept).reshape(1, 4, 1, 1))
    assert torch.equal(conflict[:, 3], x[:, 3])
    seen = [picture.numpy().tobytes() for picture in x[:, :3]]
    for picture, y in zip(conflict[:, :3], classes, strict=True):
        assert classes[seen.index(picture.numpy().tobytes())] == 1 - y
    draw["test_labels"] = np.ones_like(draw["test_labels"])
    alone = [name for name, *_ in EXPERIMENT.test_sets(cell, draw, [BASIS[5]])]
    assert alone == ["all", "images", "linear"], "pictures of one side give no conflict"
