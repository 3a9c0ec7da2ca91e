"""A trained network's response at images, against the closed form of a linear one, and
the files in which people bring weights."""

import functools

import numpy as np
import pytest
import safetensors.torch
import torch
from refusals import refused
from small_images import class_folders, pack

from pipeline import networks
from pipeline.images import sources
from pipeline.nads import gallery
from pipeline.profile import checkpoint

SHAPE = (1, 8, 8)
LINEAR = networks.specification({"network": "logreg", "side": 8})
measure = functools.partial(checkpoint.measure, device=torch.device("cpu"))


@pytest.fixture
def images(tmp_path):
    return class_folders(tmp_path / "mine", ("ape", "bee", "cat"), size=(8, 8))


@pytest.fixture
def network():
    """A linear network whose outputs are 0, 3x₀ and 6x₁."""
    network = networks.build(LINEAR, 1, 3, 0)
    torch.nn.init.zeros_(network[1].weight)
    network[1].weight.data[[1, 2], [0, 1]] = torch.tensor([3.0, 6.0])
    return network


@pytest.fixture
def weights(network, tmp_path):
    """The file of its weights."""
    safetensors.torch.save_file(network.state_dict(), tmp_path / "net.safetensors")
    return str(tmp_path / "net.safetensors")


def test_the_response_of_a_linear_network_is_that_of_its_weights_less_their_mean(
    images, weights
):
    """The rows are (−x₀ − 2x₁), (2x₀ − 2x₁) and (−x₀ + 4x₁): C = 6 along x₀, 24 along
    x₁ and −6 between them."""
    trained = measure(LINEAR, SHAPE, weights, str(images))
    assert trained.images == "mine"
    assert trained.tested == trained.count == 9
    mean = 30 / 64
    response = trained.after.along(np.eye(64))[:3]
    np.testing.assert_allclose(response**2 * mean, [6, 24, 0], rtol=1e-6)
    values, vectors = np.linalg.eigh([[6, -6], [-6, 24]])
    directions = trained.directions(2)
    assert abs(directions[0, :2] @ vectors[:, 1]) == pytest.approx(1)
    response = trained.after.along(directions)
    np.testing.assert_allclose(response**2 * mean, values[::-1], rtol=1e-5)
    # Each of 8 untrained networks has its own gradients, and prefers nothing.
    assert len(np.unique(trained.before.rows, axis=0)) == 3 * checkpoint.UNTRAINED
    assert (trained.before.along(np.eye(64)) ** 2).mean() == pytest.approx(1)


def test_its_accuracy_is_of_the_test_images_as_the_pipelines_networks_get_them(
    images, weights
):
    archive = pack(images, images.parent / "mine.zip")
    trained = measure(LINEAR, SHAPE, weights, str(archive))
    source = sources.read(images, (8, 8))
    mean, deviation = source.statistics()
    x = source.images["test"] / 255 - np.reshape(mean, (3, 1, 1))
    x = (x / np.reshape(deviation, (3, 1, 1))).mean(1).reshape(-1, 64)
    state = safetensors.torch.load_file(weights)
    outputs = x @ state["1.weight"].numpy().T + state["1.bias"].numpy()
    correct = outputs.argmax(1) == source.labels["test"]
    assert trained.accuracy == pytest.approx(correct.mean())


def save_multiple(network, factor, weights):
    """Save the weights of a network, times a factor."""
    state = {name: factor * value for name, value in network.state_dict().items()}
    safetensors.torch.save_file(state, weights)


def test_weights_of_zero_have_no_response(images, network, weights):
    save_multiple(network, 0.0, weights)
    trained = measure(LINEAR, SHAPE, weights, str(images))
    assert trained.answers == 1
    assert trained.after.mean == 0
    directions = trained.directions(2)
    np.testing.assert_array_equal(directions, np.zeros((2, 64)))
    for shape in (SHAPE, (3, 2, 2)):
        zeros = directions[:, : np.prod(shape)]
        assert gallery.pictures(zeros, ["×0", "×0"], shape).axes


@pytest.mark.parametrize("name", ["1.weight", "1.bias"])
def test_weights_that_are_nan_are_refused(name, images, network, weights):
    network.state_dict()[name].fill_(np.nan)
    save_multiple(network, 1.0, weights)
    with refused("not-finite"):
        measure(LINEAR, SHAPE, weights, str(images))


@pytest.mark.parametrize("prefix", ["", "module.", "backbone.", "model._orig_mod."])
def test_weights_are_read_without_a_common_prefix(network, tmp_path, prefix):
    stored = {prefix + name: value for name, value in network.state_dict().items()}
    file = str(tmp_path / "weights")
    safetensors.torch.save_file(stored, file)
    other = networks.build(LINEAR, 1, 3, 1)
    notices = checkpoint.load(other, checkpoint.read_weights(file), file)
    if prefix:
        assert prefix in notices[0]
    else:
        assert notices == []
    for name, value in other.state_dict().items():
        assert torch.equal(value, stored[prefix + name])


def test_a_pickle_is_refused_and_never_read(tmp_path):
    class Code:
        def __reduce__(self):
            return (tmp_path / "ran").touch, ()

    torch.save({"weight": Code()}, tmp_path / "code.pt")
    (tmp_path / "text.pt").write_text("version https://git-lfs.github.com/spec/v1")
    torch.save({"weight": torch.ones(1)}, tmp_path / "weights.pt")
    for name in ("code.pt", "text.pt", "none.pt", "weights.pt"):
        path = str(tmp_path / name)
        with refused("unreadable-file", path=path):
            checkpoint.read_weights(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("change", ["outputs", "channels", "names"])
def test_weights_of_another_network_are_refused_with_what_to_do(network, change):
    sizes = {"outputs": (1, 5), "channels": (3, 3), "names": (1, 3)}[change]
    stored = networks.build(LINEAR, *sizes, 0).state_dict()
    if change == "names":
        stored["other.scale"] = torch.ones(1)
    with refused("wrong-shape", path="file"):
        checkpoint.load(network, stored, "file")


def test_weights_that_are_integers_are_refused(network):
    stored = network.state_dict()
    stored["1.weight"] = stored["1.weight"].to(torch.int8)
    with refused("wrong-type", name="1.weight"):
        checkpoint.load(network, stored, "file")


def test_weights_that_layers_share_are_read_from_one_name(tmp_path):
    network = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    network[1].weight = network[0].weight
    file = str(tmp_path / "tied.safetensors")
    safetensors.torch.save_model(network, file)
    expected = network[0].weight.clone()
    torch.nn.init.zeros_(network[0].weight)
    assert checkpoint.load(network, checkpoint.read_weights(file), file) == []
    assert torch.equal(network[1].weight, expected)


def test_an_average_of_weights_may_count_its_batches_in_floats():
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.BatchNorm1d(4))
    stored = network.state_dict()
    stored["1.num_batches_tracked"] = torch.tensor(2.5)
    assert checkpoint.load(network, stored, "file") == []
    assert stored["1.num_batches_tracked"] == 2.5
