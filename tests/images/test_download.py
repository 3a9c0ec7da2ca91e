"""The stage `download`: where it looks for images, and what it writes."""

import functools
import hashlib
import http.server
import json
import threading

import numpy as np
import pytest
from hand_overs import lay_down_plans
from refusals import refused
from small_images import class_folders, official, pack
from torchvision.datasets import CIFAR10

from pipeline import download
from pipeline.images.settings import ImageSettings
from pipeline.images.sources import cache_folder, find
from pipeline.project import artifacts
from pipeline.project.errors import InputError

NOWHERE = "http://127.0.0.1:9/cifar-10-python.tar.gz"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CIFAR10", raising=False)


@pytest.fixture
def mirror(tmp_path):
    """Serve the folder mirror/ and return the address of CIFAR-10's archive there."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{CIFAR10.filename}"
        server.shutdown()


def test_the_path_comes_before_the_variable(tmp_path, monkeypatch):
    birds = class_folders(tmp_path / "birds")
    fish = class_folders(tmp_path / "fish")
    monkeypatch.setenv("CIFAR10", str(fish))
    assert find(ImageSettings(str(birds), NOWHERE, "digits")).name == "birds"
    assert find(ImageSettings(None, NOWHERE, "digits")).name == "fish"


def test_a_wrong_path_is_refused_and_no_reason_for_digits(tmp_path, monkeypatch):
    missing = str(tmp_path / "missing")
    monkeypatch.setenv("CIFAR10", missing)
    with refused("missing-file", path=missing):
        find(ImageSettings(None, NOWHERE, "digits"))


def test_an_archive_with_its_md5_is_downloaded_once(tmp_path, monkeypatch, mirror):
    root = class_folders(tmp_path / "source")
    batches = official(root, tmp_path / "batches", monkeypatch)
    path = tmp_path / "mirror" / CIFAR10.filename
    archive = pack(batches, path, "cifar-10-batches-py")
    whole = archive.read_bytes()
    monkeypatch.setattr(CIFAR10, "tgz_md5", hashlib.md5(whole).hexdigest())
    archive.write_bytes(whole[:-100])
    with pytest.raises(InputError) as caught:
        find(ImageSettings(None, mirror, None))
    assert (caught.value.kind, caught.value.fields) == ("download", {"url": mirror})
    archive.write_bytes(whole)
    images = find(ImageSettings(None, mirror, None))
    assert images.source == f"official batches in {CIFAR10.filename}"
    assert [file.name for file in cache_folder().iterdir()] == [CIFAR10.filename]
    archive.unlink()
    assert find(ImageSettings(None, mirror, None)).digest() == images.digest()


def test_without_a_network_digits_replace_cifar10_with_a_notice(capsys):
    images = find(ImageSettings(None, NOWHERE, "digits"), (16, 24))
    assert images.name == "handwritten digits (not CIFAR-10)"
    assert images.images["train"].shape == (1497, 3, 16, 24)
    assert "HANDWRITTEN DIGITS" in capsys.readouterr().err


@pytest.mark.parametrize("url", [NOWHERE, "cifar.tar"])
def test_without_a_fallback_a_failed_download_is_an_error(url):
    with refused("download", url=url):
        find(ImageSettings(None, url, None))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_copy_of_the_images_gives_the_same_files(tmp_path, capsys):
    root = class_folders(tmp_path / "mine", ("b", "a"), size=(48, 64))
    lay_down_plans(images={"url": NOWHERE, "fallback": None, "path": str(root)})
    download.main()
    first = contents(artifacts.IMAGES)
    for file in list(root.rglob("*.png")):
        file.rename(file.with_name(f"other-{9 - int(file.stem)}.png"))
    download.main()
    assert first == contents(artifacts.IMAGES)
    about = artifacts.read_about_images()
    images = artifacts.read_images()
    unit = images["train_images"] / 255
    np.testing.assert_allclose(about["mean"], unit.mean((0, 2, 3)))
    np.testing.assert_allclose(about["deviation"], unit.std((0, 2, 3)))
    assert images["train_labels"].dtype == np.int64
    assert images["test_labels"].shape == (6,)
    content = [image.tobytes() for image in images["train_images"]]
    assert content == sorted(content)
    report = json.loads((artifacts.REPORTS / "images.json").read_text())
    shared = {key: about[key] for key in ("name", "classes", "train", "test", "digest")}
    (resized,) = report.pop("notices")
    assert report == shared | {"source": "class folders in mine/"}
    assert resized in capsys.readouterr().err
