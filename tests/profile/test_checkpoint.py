"""A trained network's response at images, against the closed form of a linear one."""

import dataclasses
import functools
import re

import numpy as np
import PIL.Image
import pytest
import safetensors.torch
import torch
from small_images import class_folders, pack
from test_profile_page import page_of, profile

from pipeline import networks
from pipeline.images import sources
from pipeline.profile import __main__ as command
from pipeline.profile import checkpoint, page
from pipeline.profile.checkpoint import UNTRAINED
from pipeline.project.errors import InputError

SHAPE = (1, 8, 8)
LINEAR = networks.specification({"network": "logreg", "side": 8})
of_file = functools.partial(checkpoint.of_file, device="cpu")


@pytest.fixture
def images(tmp_path):
    return class_folders(tmp_path / "mine", ("ape", "bee", "cat"), size=(8, 8))


@pytest.fixture
def weights(tmp_path):
    """The file of a linear network whose outputs are 0, 3x₀ and 6x₁."""
    network = networks.build(LINEAR, 1, 3, 0)
    torch.nn.init.zeros_(network[1].weight)
    network[1].weight.data[[1, 2], [0, 1]] = torch.tensor([3.0, 6.0])
    safetensors.torch.save_file(network.state_dict(), tmp_path / "net.safetensors")
    return str(tmp_path / "net.safetensors")


def test_of_a_linear_network_the_response_is_that_of_its_weights_less_their_mean(images, weights):
    """The rows are (−x₀ − 2x₁), (2x₀ − 2x₁) and (−x₀ + 4x₁): C = 6 along x₀, 24 along x₁ and −6
    between them."""
    found = of_file(LINEAR, SHAPE, weights, str(images))
    assert (found.images, found.tested, found.count) == ("mine", 9, 9)
    along = found.after.along(np.eye(64))
    expected = np.sqrt(np.array([6, 24, 0]) / (30 / 64))
    np.testing.assert_allclose(along[:3], expected, rtol=1e-6)
    values, vectors = np.linalg.eigh([[6, -6], [-6, 24]])
    for count, given in ((2, 2), (100, 27)):  # there are 3 rows for each of 9 images
        directions = found.directions(count)
        assert directions.shape == (given, 64)
        assert abs(directions[0, :2] @ vectors[:, 1]) == pytest.approx(1)
        along = found.after.along(directions[:2])
        np.testing.assert_allclose(along, np.sqrt(values[::-1] / (30 / 64)), rtol=1e-5)
    # Each of the 8 untrained networks has its own gradients, though 9 images do not divide by 8.
    # They prefer nothing: their mean square is even within chance.
    assert len(found.before.rows) == 3 * found.count and UNTRAINED == 8
    assert len(np.unique(found.before.rows, axis=0)) == 3 * UNTRAINED
    before = found.before.along(np.eye(64))
    assert (before**2).mean() == pytest.approx(1) and 0.4 < before.min() < before.max() < 1.8


def test_its_accuracy_is_of_the_test_images_as_the_pipelines_networks_get_them(images, weights):
    found = of_file(LINEAR, SHAPE, weights, str(pack(images, images.parent / "mine.zip")))
    whole = sources.read(images, (8, 8))
    mean, deviation = (np.array(each).reshape(3, 1, 1) for each in whole.statistics())
    x = ((whole.images["test"] / 255 - mean) / deviation).mean(1).reshape(-1, 64)
    outputs = np.stack([0 * x[:, 0], 3 * x[:, 0], 6 * x[:, 1]], 1)
    bias = safetensors.torch.load_file(weights)["1.bias"].numpy()
    right = (outputs + bias).argmax(1) == whole.labels["test"]
    assert found.accuracy == pytest.approx(right.mean())


def test_images_with_a_channel_that_is_0_everywhere_have_a_response(tmp_path, weights):
    grey = class_folders(tmp_path / "grey", ("ape", "bee", "cat"), size=(8, 8))
    for path in grey.rglob("*.png"):
        pixels = np.asarray(PIL.Image.open(path)) * np.array([1, 0, 0], np.uint8)
        PIL.Image.fromarray(pixels).save(path)
    found = of_file(LINEAR, SHAPE, weights, str(grey))
    assert np.isfinite(found.before.rows).all() and found.after.bands["fine"][1] > 0
    assert [each[:10] for each in found.notices] == ["green is 0", "blue is 0 "]


def test_where_gradients_would_not_fit_its_accuracy_is_still_of_all_images(
    images, weights, monkeypatch
):
    monkeypatch.setattr(checkpoint, "VALUES", 4 * 3 * 64)
    monkeypatch.setattr(checkpoint, "UNTRAINED", 2)
    found = of_file(LINEAR, SHAPE, weights, str(images))
    assert (found.tested, found.count) == (9, 3) and len(found.after.rows) == 3 * 3


def test_the_page_has_what_training_did_to_the_response(images, weights):
    some = dataclasses.replace(profile(), checkpoint=of_file(LINEAR, SHAPE, weights, str(images)))
    seen = page_of(some)
    nads = some.nads.directions[:10]
    for run, text in ((some.checkpoint.after, ""), (some.checkpoint.before, "before training ")):
        share = np.square(run.rows @ nads.T).sum() / np.square(run.rows).sum()
        assert f"{text}{share:.1%}" in seen
    assert (
        "of 9 test images of mine. Of its squared response at 9 of them" in seen
        and "by chance 15.6%" in seen
    )
    assert "7 Words, and how" in seen and "6 Words, and how" in page_of(profile())


def test_of_a_network_with_one_answer_the_page_says_so(images, weights, tmp_path):
    stored = safetensors.torch.load_file(weights)
    safetensors.torch.save_file(stored | {"1.weight": 0 * stored["1.weight"]}, weights)
    found = of_file(LINEAR, SHAPE, weights, str(images))
    page.write([dead := dataclasses.replace(profile(), checkpoint=found)], tmp_path)
    words = "33.3% of 9 test images of mine, with one answer for all. At 9 of them it responds to n"
    assert words in page_of(dead)
    assert "A point for each NAD of the architecture" not in page_of(dead)
    for alike in (
        {"1.weight": stored["1.weight"][1:2].repeat(3, 1)},
        {"1.weight": 1e-8 * stored["1.weight"]},
        {"1.bias": stored["1.bias"] + 1e8},
    ):
        safetensors.torch.save_file(stored | alike, weights)
        rounded = of_file(LINEAR, SHAPE, weights, str(images))
        assert rounded.answers == 1 and not rounded.after.rows.any()
    bias = torch.tensor([0.0, 0.0, -1e3])
    safetensors.torch.save_file(stored | {"1.bias": bias}, weights)
    two = dataclasses.replace(profile(), checkpoint=of_file(LINEAR, SHAPE, weights, str(images)))
    assert "of 9 test images of mine, with 2 of 3 answers. Of its squared" in page_of(two)
    # The other way round, a trained network whose last layer starts at zero.
    born = dataclasses.replace(found, before=found.after, after=found.before, answers=3)
    page.write([born := dataclasses.replace(profile(), checkpoint=born)], tmp_path)
    assert "before training ×0." in page_of(born) and "nan" not in page_of(born)
    assert "Before training it responds to nothing." in page_of(born)


def test_weights_that_overflow_at_the_images_are_refused(images, weights):
    two = networks.specification({"network": "mlp", "hidden": [4], "side": 8})
    huge = {key: 1e30 * each for key, each in networks.build(two, 1, 3, 0).state_dict().items()}
    safetensors.torch.save_file(huge, weights)
    with pytest.raises(InputError, match="give gradients at these images that are not finite"):
        of_file(two, SHAPE, weights, str(images))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("logreg", "lenet"), "--weights are of one network, and 2 are named"),
        (("logreg", "side=8", "--input", "3x8x8"), "does not hold the weights of this network"),
        (("mlp", "hidden=[4]", "side=8", "--input", "1x8x8"), "with 3 outputs, one for each"),
    ],
)
def test_weights_of_another_network_are_refused_before_any_work(images, weights, words, sentence):
    given = [*words, "--weights", weights, "--images", str(images)]
    with pytest.raises(InputError, match=sentence):
        command.main(command.parsed(given))
    for alone in (given[-2:], given[-4:-2]):
        with pytest.raises(InputError, match="go together"):
            command.main(command.parsed(["lenet", *alone]))


def test_a_file_of_another_kind_or_with_other_names_is_refused_with_what_to_do(images, weights):
    stored = safetensors.torch.load_file(weights)
    torch.save(stored, images.parent / "pickled.pt")
    with pytest.raises(InputError, match=r"is no safetensors file; `safetensors.torch.save_file\("):
        of_file(LINEAR, SHAPE, str(images.parent / "pickled.pt"), str(images))
    (images.parent / "lfs").write_bytes(b"version https://git-lfs.github.com/spec/v1\nsize 3\n")
    with pytest.raises(InputError, match="lfs is a Git-LFS pointer in the place of the file"):
        of_file(LINEAR, SHAPE, str(images.parent / "lfs"), str(images))
    ruined = stored | {"1.bias": stored["1.bias"] * torch.nan}
    safetensors.torch.save_file(ruined, images.parent / "ruined.safetensors")
    with pytest.raises(InputError, match="holds values that are not finite"):
        of_file(LINEAR, SHAPE, str(images.parent / "ruined.safetensors"), str(images))
    safetensors.torch.save_file({f"other.{key}": each for key, each in stored.items()}, weights)
    words = "it lacks 1.weight, 1.bias and has other.1.(weight|bias), other.1.* besides"
    with pytest.raises(InputError, match=words):
        of_file(LINEAR, SHAPE, weights, str(images))


TIED = """
from torch import nn

def net(channels, outputs):
    one, two, three = (nn.Linear(64, 64) for _ in range(3))
    two.weight, three.weight = one.weight, nn.Parameter(one.weight.t())
    return nn.Sequential(nn.Flatten(), one, nn.ReLU(), two, three, nn.Linear(64, outputs))

def parallel(channels, outputs):
    return nn.DataParallel(net(channels, outputs))
"""


@pytest.mark.parametrize("place", ["tied:net", "tied:parallel"])
@pytest.mark.parametrize("prefix", ["", "module.", "net.", "model._orig_mod."])
def test_tied_weights_are_taken_as_the_advised_command_stores_them_in_any_wrapper(
    images, repository, place, prefix
):
    (repository / "own/tied.py").write_text(TIED)
    tied, given = (networks.specification({"network": name}) for name in ("tied:net", place))
    with pytest.raises(InputError) as refused:
        of_file(tied, SHAPE, str(repository / "own/tied.py"), str(images))
    names = {"safetensors": safetensors, "network": networks.build(tied, 1, 3, 5)}
    exec(re.search("`(.*)`", str(refused.value))[1], names)
    whole = of_file(tied, SHAPE, "weights.safetensors", str(images))
    assert whole.notices == []
    stored = safetensors.torch.load_file("weights.safetensors")
    del stored["3.weight"], stored["4.weight"]  # as `safetensors.torch.save_model` does
    stored = {prefix + name: value for name, value in stored.items()}
    safetensors.torch.save_file(stored, "weights.safetensors")
    found = of_file(given, SHAPE, "weights.safetensors", str(images))
    np.testing.assert_array_equal(found.after.rows, whole.after.rows)
    own = "module." if place == "tied:parallel" else ""
    assert len(found.notices) == (prefix != own) and all(prefix in each for each in found.notices)
    inner = {name.replace("5.", "5._orig_mod."): value for name, value in stored.items()}
    safetensors.torch.save_file(inner, "weights.safetensors")
    assert len(of_file(given, SHAPE, "weights.safetensors", str(images)).notices) == 1
    other = {f"{prefix}3.weight": stored[f"{prefix}1.weight"] + 1}
    safetensors.torch.save_file(stored | other, "weights.safetensors")
    with pytest.raises(InputError, match=r"another value for (module\.)?1.weight than for what"):
        of_file(given, SHAPE, "weights.safetensors", str(images))
    del stored[f"{prefix}5.weight"]
    safetensors.torch.save_file(stored, "weights.safetensors")
    with pytest.raises(InputError, match="it lacks .*5.weight and has nothing besides"):
        of_file(given, SHAPE, "weights.safetensors", str(images))


def test_weights_that_are_not_there_are_named_first(images):
    with pytest.raises(InputError, match="--weights none.safetensors cannot be read: No such file"):
        of_file(LINEAR, SHAPE, "none.safetensors", str(images))
