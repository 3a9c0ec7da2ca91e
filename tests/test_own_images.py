"""A new user's folder of images, three classes of 24×48 pixels, and a network that takes them:
through the experiments on images."""

import json

import numpy as np
import pandas as pd
import PIL.Image
import pytest
import yaml
from test_repro import Copy, trained

pytestmark = pytest.mark.slow

NETWORK = """from torch import nn


def net(channels, outputs):
    layers = nn.Conv2d(channels, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten()
    return nn.Sequential(*layers, nn.Linear(8 * 16, outputs))
"""
NETWORKS = {
    "image_pairs": {"mine": {"indices": [1, 1151]}},
    "poison": {"mine": {"indices": [0, 1150], "mixture_indices": [0]}},
    "flip": {"mine": {}},
}
TARGETS = [f"evaluate@{name}" for name in ("image_pairs", "poison", "flip")]
CLASSES = ("auk", "finch", "heron")


def write_folders(root):
    """Thirty training and ten test pictures of each class, every class with a colour of its own in
    noise."""
    rng = np.random.default_rng(0)
    for split, count in (("train", 30), ("test", 10)):
        for label, name in enumerate(CLASSES):
            (root / split / name).mkdir(parents=True)
            for number in range(count):
                pixels = rng.integers(0, 128, (48, 24, 3))
                pixels[..., label] += 127
                PIL.Image.fromarray(pixels.astype(np.uint8)).save(
                    root / split / name / f"{number}.png"
                )


def prepare(copy):
    """The network in own/, and its lines in params.yaml."""
    copy.write("own/own_net.py", NETWORK)
    document = yaml.safe_load(copy.read("params.yaml"))
    document["architectures"]["mine"] = {"network": "own_net:net", "input": [48, 24]}
    document["image_pairs"]["positive"] = ["heron"]
    document["image_pairs"]["sigma"]["mine"] = 1.0
    smoke = document["scales"]["smoke"]
    smoke["nads"] = {"mine": 4} | smoke["nads"]
    for name, networks in NETWORKS.items():
        smoke[name]["networks"] = networks
    copy.write("params.yaml", yaml.safe_dump(document, sort_keys=False))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A copy of the repository in which these have gone through the experiments on images."""
    birds = tmp_path_factory.mktemp("elsewhere") / "birds"
    write_folders(birds)
    where = tmp_path_factory.mktemp("own") / "repository"
    return Copy(where, prepare, TARGETS, environment={"CIFAR10": str(birds)})


def test_images_are_kept_in_the_size_of_the_networks_inputs(own):
    about = json.loads(own.read("reports/images.json"))
    assert (about["name"], about["classes"], about["train"], about["notices"]) == (
        "birds",
        list(CLASSES),
        90,
        [],
    )
    images = np.load(own.root / "data/images/train_images.npy")
    assert images.shape == (90, 3, 48, 24)
    labels = np.load(own.root / "data/images/train_labels.npy")
    assert images[labels == 2, 2].min() >= 127, "no pixel was mixed with another"


def test_they_have_their_rows_in_every_experiment_on_images(own):
    assert trained(own.output) == {"image_pairs": 2, "poison": 5, "flip": 2}
    for name, sets in {
        "image_pairs": ["all", "images", "linear", "conflict"],
        "poison": ["clean", "poisoned"],
        "flip": ["all"],
    }.items():
        rows = pd.read_csv(own.root / f"reports/{name}/results.csv")
        assert list(rows["test_set"].unique()) == sets and rows["accuracy"].between(0, 1).all()
        assert set(rows["n"]) == {30}
    changes = pd.read_csv(own.root / "reports/flip/changes.csv")
    assert (changes["first"].max(), changes["last"].max()) == (1024, 1151)
    with np.load(own.root / "data/datasets/image_pairs/draw-0.npz") as draw:
        assert (
            draw["train_pictures"].shape == (90, 3, 48, 24)
            and (draw["train_labels"] > 0).sum() == 30
        )
