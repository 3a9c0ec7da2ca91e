"""The stage `download`: where the images are looked for, and what it lays down."""

import functools
import hashlib
import http.server
import json
import threading

import numpy as np
import pytest
from hand_overs import lay_down_plans
from small_images import class_folders, official, pack
from torchvision.datasets import CIFAR10

from pipeline import download
from pipeline.images.sources import cache_folder, find
from pipeline.images.wanted import Wanted
from pipeline.project import artifacts
from pipeline.project.errors import InputError

NOWHERE = "http://127.0.0.1:9/cifar-10-python.tar.gz"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CIFAR10", raising=False)


def plan(**wanted):
    """Lay down a plan of these images."""
    lay_down_plans(images={"url": NOWHERE, "fallback": None} | wanted)


@pytest.fixture
def mirror(tmp_path):
    """The address of CIFAR-10's archive on a server of this machine, whose folder is mirror/."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "mirror")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{CIFAR10.filename}"
        server.shutdown()


def test_the_path_comes_before_the_variable(tmp_path, monkeypatch):
    one, two = class_folders(tmp_path / "one"), class_folders(tmp_path / "two")
    monkeypatch.setenv("CIFAR10", str(two))
    assert find(Wanted(str(one), NOWHERE, "digits")).name == "one"
    assert find(Wanted(None, NOWHERE, "digits")).name == "two"


def test_the_archive_is_fetched_once_and_only_with_its_checksum(tmp_path, monkeypatch, mirror):
    root = class_folders(tmp_path / "source")
    batches = official(root, tmp_path / "batches", monkeypatch)
    (tmp_path / "mirror").mkdir()
    archive = pack(batches, tmp_path / "mirror" / CIFAR10.filename, "cifar-10-batches-py")
    whole = archive.read_bytes()
    monkeypatch.setattr(CIFAR10, "tgz_md5", hashlib.md5(whole).hexdigest())
    archive.write_bytes(whole[:-100])
    with pytest.raises(InputError, match="File not found or corrupted.*; name a copy with images"):
        find(Wanted(None, mirror, None))
    archive.write_bytes(whole)
    images = find(Wanted(None, mirror, None))
    assert images.source == "official batches in cifar-10-python.tar.gz"
    assert [file.name for file in cache_folder().iterdir()] == [CIFAR10.filename]
    archive.unlink()
    assert find(Wanted(None, mirror, None)).digest() == images.digest()


def test_without_a_network_digits_stand_in_and_the_user_is_told(capsys):
    images = find(Wanted(None, NOWHERE, "digits"), (16, 24))
    assert images.name == "handwritten digits (not CIFAR-10)"
    assert images.images["train"].shape == (1497, 3, 16, 24)
    said = capsys.readouterr().err
    assert f"CIFAR-10 could not be fetched from {NOWHERE} (<urlopen error" in said
    assert "HANDWRITTEN DIGITS ARE USED INSTEAD OF CIFAR-10" in said
    with pytest.raises(InputError, match="could not be fetched from cifar.tar .unknown url type"):
        find(Wanted(None, "cifar.tar", None))


def test_what_is_laid_down_is_the_same_from_every_copy(tmp_path, capsys):
    root = class_folders(tmp_path / "mine", ("b", "a"), size=(48, 64))
    plan(path=str(root))
    download.main()
    output = capsys.readouterr()
    assert output.out == (
        "mine: 6 training and 6 test images of 2 classes, from class folders in mine/\n"
    )
    assert output.err == "notice: images of up to 64×48 pixels were resized to 32×32\n"
    first = {path.name: path.read_bytes() for path in artifacts.IMAGES.iterdir()}
    for file in list(root.rglob("*.png")):
        file.rename(file.with_name(f"other-{9 - int(file.stem)}.png"))
    download.main()
    assert first == {path.name: path.read_bytes() for path in artifacts.IMAGES.iterdir()}
    about, images = artifacts.about_images(), artifacts.images()
    np.testing.assert_allclose(about["mean"], (images["train_images"] / 255).mean((0, 2, 3)))
    np.testing.assert_allclose(about["deviation"], (images["train_images"] / 255).std((0, 2, 3)))
    assert images["train_labels"].dtype == np.int64 and images["test_labels"].shape == (6,)
    flat = [image.tobytes() for image in images["train_images"]]
    assert flat == sorted(flat), "in the order of their content"
    report = json.loads((artifacts.REPORTS / "images.json").read_text())
    shared = {key: about[key] for key in ("name", "classes", "train", "test", "digest")}
    assert report == shared | {
        "source": "class folders in mine/",
        "notices": ["images of up to 64×48 pixels were resized to 32×32"],
    }
