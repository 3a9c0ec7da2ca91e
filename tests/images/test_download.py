"""The stage `download`: where the images are looked for, and what it lays down."""

import json
import subprocess
import sys

import numpy as np
import PIL.Image
import pytest

from pipeline import download
from pipeline.images.wanted import Wanted
from pipeline.project import artifacts
from pipeline.project.errors import InputError

NOWHERE = "http://127.0.0.1:9/cifar-10-python.tar.gz"


def class_folders(root, classes, size=32, seed=0):
    """Class folders of random pictures under `root`, three training and one test picture a class."""
    rng = np.random.default_rng(seed)
    for split, count in (("train", 3), ("test", 1)):
        for name in classes:
            (root / split / name).mkdir(parents=True)
            for number in range(count):
                pixels = rng.integers(0, 256, (size, size, 3)).astype(np.uint8)
                PIL.Image.fromarray(pixels).save(root / split / name / f"{number}.png")
    return root


def test_path_then_variable_then_fetch_then_fallback(tmp_path, monkeypatch, capsys):
    one, two = class_folders(tmp_path / "one", "xy"), class_folders(tmp_path / "two", "ab")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CIFAR10", str(two))
    assert download.cache_folder() == tmp_path / "cache/neural-anisotropy"
    assert download.find(Wanted(str(one), NOWHERE, "digits")).name == "one"
    assert download.find(Wanted(None, NOWHERE, "digits")).name == "two"
    monkeypatch.delenv("CIFAR10")
    with monkeypatch.context() as patched:
        patched.setattr(download, "fetched", lambda folder, url: {(download.cache_folder(), NOWHERE): one}[folder, url])
        assert download.find(Wanted(None, NOWHERE, "digits")).name == "one"
    found = download.find(Wanted(None, NOWHERE, "digits"))
    assert "USING HANDWRITTEN DIGITS INSTEAD OF CIFAR-10" in capsys.readouterr().err
    assert found.name == "handwritten digits (not CIFAR-10)" and found.train.images.shape == (1497, 3, 32, 32)
    assert sorted(set(found.test.labels)) == list(range(10)) and len(found.test.images) == 300
    with pytest.raises(InputError, match="name a copy with images.path or the environment variable CIFAR10"):
        download.find(Wanted(None, NOWHERE, None))


def test_images_are_laid_down_in_the_size_of_the_networks_inputs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng, kept = np.random.default_rng(0), []
    for split in ("train", "test"):
        for name in "ab":
            (tmp_path / "mine" / split / name).mkdir(parents=True)
            kept.append(rng.integers(0, 256, (48, 64, 3)).astype(np.uint8))
            PIL.Image.fromarray(kept[-1]).save(tmp_path / "mine" / split / name / "0.png")
    wanted = {"path": str(tmp_path / "mine"), "url": NOWHERE, "fallback": "digits", "size": [48, 64]}
    artifacts.write_json(artifacts.PLAN / "images.json", wanted)
    download.main()
    assert capsys.readouterr().err == "", "nothing was done to them"
    images = artifacts.images()
    found = [
        images[f"{split}_images"][label == images[f"{split}_labels"]] for split in ("train", "test") for label in (0, 1)
    ]
    for (image,), pixels in zip(found, kept):
        np.testing.assert_array_equal(image.transpose(1, 2, 0), pixels)
    artifacts.write_json(artifacts.PLAN / "images.json", wanted | {"size": [24, 24]})
    download.main()
    assert capsys.readouterr().err.splitlines() == [
        "notice: images of up to 64×48 pixels were resized to 24×24",
        "notice: images that are not square were stretched to 24×24, which changes their aspect ratio: 4 image(s), the first "
        "test/a/0.png",
    ]
    assert artifacts.images()["train_images"].shape == (2, 3, 24, 24)
    artifacts.write_json(artifacts.PLAN / "images.json", wanted | {"path": None, "size": [16, 24]})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CIFAR10", raising=False)
    download.main()
    assert capsys.readouterr().err.endswith("notice: images of up to 32×32 pixels were resized to 24×16\n")
    assert artifacts.images()["test_images"].shape == (300, 3, 16, 24)
    artifacts.write_json(artifacts.PLAN / "images.json", wanted | {"size": [0, 24]})
    with pytest.raises(InputError, match="images.json is damaged .*`python -m pipeline.plan` makes it again"):
        download.main()


def test_what_is_laid_down_is_the_same_from_every_copy(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    root = class_folders(tmp_path / "mine", ("b", "a"), size=48)
    artifacts.write_json(artifacts.PLAN / "images.json", {"path": str(root), "url": NOWHERE, "fallback": None})
    download.main()
    output = capsys.readouterr()
    assert output.out == "mine: 6 training and 2 test images of 2 classes, from class folders in mine/\n"
    assert output.err == "notice: images of up to 48×48 pixels were resized to 32×32\n"
    first = {path.name: path.read_bytes() for path in artifacts.IMAGES.iterdir()}
    assert set(first) == {"about.json", *(f"{s}_{k}.npy" for s in ("train", "test") for k in ("images", "labels"))}
    for split in ("train", "test"):
        for name in ("a", "b"):
            for path in list((root / split / name).iterdir()):
                path.rename(path.with_name(f"other-{9 - int(path.stem)}.png"))
    download.main()
    assert first == {path.name: path.read_bytes() for path in artifacts.IMAGES.iterdir()}
    about, report = artifacts.about_images(), json.loads((artifacts.REPORTS / "images.json").read_text())
    images = artifacts.images()
    pixels = images["train_images"] / 255
    np.testing.assert_allclose(about["mean"], pixels.mean((0, 2, 3)))
    np.testing.assert_allclose(about["deviation"], pixels.std((0, 2, 3)))
    assert (about["name"], about["classes"], about["train"], about["test"]) == ("mine", ["a", "b"], 6, 2)
    assert report == {key: about[key] for key in ("name", "classes", "train", "test", "digest")} | {
        "source": "class folders in mine/",
        "notices": ["images of up to 48×48 pixels were resized to 32×32"],
    }
    flat = [image.tobytes() for image in images["train_images"]]
    assert flat == sorted(flat), "in the order of their content"


def test_without_a_home_folder_the_digits_stand_in(monkeypatch, capsys):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("CIFAR10", raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(download.Path, "home", homeless)
    assert download.find(Wanted(None, NOWHERE, "digits")).name == "handwritten digits (not CIFAR-10)"
    assert "since there is no home folder; set XDG_CACHE_HOME" in capsys.readouterr().err
    with pytest.raises(InputError, match="^CIFAR-10 has no place to be fetched to, since there is no home folder"):
        download.find(Wanted(None, NOWHERE, None))


def test_a_changed_file_of_the_plan_ends_with_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in ({"path": None}, {"path": None, "url": "file:///etc/passwd", "fallback": None}, 5):
        artifacts.write_json(artifacts.PLAN / "images.json", given)
        with pytest.raises(InputError, match=r"data/plan/images\.json .* `python -m pipeline\.plan` makes it again$"):
            download.main()


def test_the_stage_that_reads_images_does_without_pytorch():
    program = "import sys, pipeline.download; sys.exit(sum(name.startswith('torch') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
