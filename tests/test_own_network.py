"""A new user's network, partly linked from elsewhere, and folders of images of its
inputs' size, through DVC: what comes of them, and that every edit of the network is
seen."""

import contextlib
import json
import re

import numpy as np
import pandas as pd
import PIL.Image
import pytest
import yaml
from repository import Copy, ran, trained

from pipeline import experiments

pytestmark = pytest.mark.slow

NETWORK = '''"""A small network for inputs of any size."""
from pathlib import Path

import torch
from torch import nn

from parts import activation

FIELDS = float(Path(__file__).with_name("fields.txt").read_text())


def net(channels, outputs):
    """One convolution, the means of some fields, and state in types that NumPy does not
    have."""
    layers = nn.Conv2d(channels, 8, 3), activation(), nn.AdaptiveAvgPool2d(int(FIELDS))
    last = nn.Linear(8 * int(FIELDS) ** 2, outputs)
    network = nn.Sequential(*layers, nn.Flatten(), last)
    network.register_buffer("eighths", torch.ones(3).to(torch.float8_e5m2))
    network.fixed = nn.Parameter(torch.randn(2, 3).bfloat16().t(), requires_grad=False)
    return network
'''
PARTS = {
    "__init__.py": "try:\n    from parts.fast import activation\nexcept ImportError:\n"
    "    from parts.slow import activation\n",
    "slow.py": "from torch.nn import ReLU as activation\n",
}
NETWORKS = {
    "linear_pairs": {"mine": {"indices": [1151]}, "lenet": {"indices": [1]}},
    "image_pairs": {"mine": {"indices": [1, 1151]}},
    "learning": {"mine": {"indices": [1151]}},
    "poison": {"mine": {"indices": [0]}},
    "flip": {"mine": {}},
}
CLASSES = ("auk", "finch", "heron")
TARGET = "train@linear_pairs"


def write_folders(root):
    """Thirty training and ten test pictures of each class, every class with a colour of
    its own in noise."""
    rng = np.random.default_rng(0)
    for split, count in (("train", 30), ("test", 10)):
        for label, name in enumerate(CLASSES):
            (root / split / name).mkdir(parents=True)
            for number in range(count):
                pixels = rng.integers(0, 128, (48, 24, 3))
                pixels[..., label] += 127
                picture = PIL.Image.fromarray(pixels.astype(np.uint8))
                picture.save(root / split / name / f"{number}.png")


def prepare(copy):
    """The network in own/, links to its parts, and its lines in params.yaml."""
    research = copy.root.parent / "research/parts"
    research.mkdir(parents=True)
    (copy.root / "own/parts").mkdir()
    for name, text in PARTS.items():
        (research / name).write_text(text)
        (copy.root / "own/parts" / name).symlink_to(research / name)
    copy.write("own/own_net.py", NETWORK)
    copy.write("own/fields.txt", "4")
    document = yaml.safe_load(copy.read("params.yaml"))
    document["architectures"]["mine"] = {"network": "own_net:net", "input": [48, 24]}
    document["image_pairs"]["positive"] = ["heron"]
    document["estimator"]["compare"] = False
    smoke = document["scales"]["smoke"]
    smoke["nads"] = {"mine": 2, "lenet": 2}
    for name in experiments.names():
        one = smoke[name]["networks"]
        lenet = "lenet_colour" if name == "colours" else "lenet"
        smoke[name]["networks"] = NETWORKS.get(name, {lenet: one[lenet]})
    copy.write("params.yaml", yaml.safe_dump(document, sort_keys=False))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A copy of the repository in which the network has gone through these
    experiments."""
    write_folders(birds := tmp_path_factory.mktemp("elsewhere") / "birds")
    where = tmp_path_factory.mktemp("own") / "repository"
    targets = [TARGET, "evaluate@image_pairs"]
    return Copy(where, prepare, targets, environment={"CIFAR10": str(birds)})


def test_images_are_kept_in_the_size_of_the_networks_inputs(own):
    about = json.loads(own.read("reports/images.json"))
    found = [about[key] for key in ("name", "classes", "train", "notices")]
    assert found == ["birds", list(CLASSES), 90, []]
    images = np.load(own.root / "data/images/train_images.npy")
    assert images.shape == (90, 3, 48, 24)
    labels = np.load(own.root / "data/images/train_labels.npy")
    assert images[labels == 2, 2].min() >= 127, "no pixel was mixed with another"


def test_they_have_their_rows_beside_the_images(own):
    assert trained(own.output) == {"linear_pairs": 2, "image_pairs": 2}
    rows = pd.read_csv(own.root / "reports/image_pairs/results.csv")
    assert list(rows["test_set"].unique()) == ["all", "images", "linear", "conflict"]
    assert rows["accuracy"].between(0, 1).all() and set(rows["n"]) == {30}
    pictures, labels = (
        np.load(own.root / f"data/datasets/image_pairs/base_noise-0.train_{array}.npy")
        for array in ("pictures", "labels")
    )
    assert pictures.shape == (90, 3, 48, 24) and (labels > 0).sum() == 30


def test_every_edit_is_seen_and_trains_its_cells_and_no_others(own):
    """Of a file that the network reads, and of a linked module that it imports under
    `try`."""

    def files():
        return json.loads(own.read("data/plan/linear_pairs.json"))["members"]["mine"][
            "own"
        ]

    before = files()
    with contextlib.ExitStack() as edits:
        for edit in (
            ("own/fields.txt", "4", "2"),
            ("../research/parts/slow.py", "ReLU", "Tanh"),
        ):
            edits.enter_context(own.edited(*edit))
        assert re.search(r"modified: +own", own.dvc("status", "plan"))
        output = own.dvc("repro", TARGET)
        assert ran(output)[:2] == ["plan", "estimate"] and ran(output)[-1] == TARGET
        assert "linear_pairs: 1 cells trained, 1 reused" in output
        edited = {name for name, digest in files().items() if digest != before[name]}
        assert edited == {"own/fields.txt", "own/parts/slow.py"}
    # DVC keeps no past run of `estimate`, as reports/nads.json is in git; the store has
    # the NADs.
    assert ran(own.dvc("repro", TARGET)) == ["estimate"], "going back trains nothing"
