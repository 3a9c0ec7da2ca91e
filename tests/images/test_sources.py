"""Images from every kind of source give the same canonical bytes; broken sources end with one sentence."""

import io
import pickle
import tarfile

import numpy as np
import PIL.Image
import pytest
from small_images import CLASSES, official, pack, write_folders

from pipeline.images import cifar10
from pipeline.images.digits import digits
from pipeline.images.image_set import canonical
from pipeline.images.sources import read
from pipeline.project.errors import InputError

SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""How tar files are extracted; the first releases of Python 3.11 know no filters."""


def test_every_source_gives_the_same_bytes(tmp_path, monkeypatch):
    archive, source = official(tmp_path, monkeypatch)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "extracted", **SAFELY)
    paths = [archive, tmp_path / "extracted", tmp_path / "extracted" / "cifar-10-batches-py"]
    paths += [pack(tmp_path / "source", tmp_path / f"pack.{suffix}") for suffix in ("tar", "tar.gz", "zip")]
    for path in paths:
        found = canonical(read(path))
        assert found.digest() == source.digest(), path
        assert found.train.images.tobytes() == source.train.images.tobytes()
    assert found.train.images.shape == (12, 3, 32, 32) and found.classes == list(CLASSES)
    assert np.bincount(found.test.labels).tolist() == [4, 4, 4]


def test_other_sizes_and_grey_images_are_resized_with_a_notice(tmp_path):
    root = write_folders(tmp_path / "big", size=48)
    PIL.Image.new("L", (20, 10), 255).save(root / "train" / "cat" / "grey.png")
    found = read(root)
    assert found.train.images.shape == (13, 3, 32, 32) and "resized to 32×32" in found.notices[0]
    assert found.name == "big"


def test_statistics_are_those_of_the_pixels(tmp_path):
    found = read(write_folders(tmp_path / "x"))
    mean, deviation = found.statistics()
    np.testing.assert_allclose(mean, (found.train.images / 255).mean((0, 2, 3)))
    np.testing.assert_allclose(deviation, (found.train.images / 255).std((0, 2, 3)))


def test_broken_sources_end_with_one_sentence(tmp_path, monkeypatch):
    archive, _ = official(tmp_path, monkeypatch)
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nowhere")
    for whole in (
        archive,
        pack(tmp_path / "source", tmp_path / "p.tar"),
        pack(tmp_path / "source", tmp_path / "p.zip"),
    ):
        broken = tmp_path / f"truncated-{whole.name}"
        broken.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
        with pytest.raises(InputError, match="damaged|incomplete"):
            read(broken)
    whole = (tmp_path / "p.tar").read_bytes()
    with tarfile.open(tmp_path / "p.tar") as archive:
        members = [member for member in archive if member.isfile()]
    last = members[-1]
    for cut in (
        members[5].offset,
        members[5].offset + 100,
        members[5].offset_data + 10,
        last.offset_data,
        len(whole) - 10240,
    ):
        (tmp_path / "cut.tar").write_bytes(whole[:cut])
        with pytest.raises(InputError, match="damaged or incomplete"):
            read(tmp_path / "cut.tar")
    (tmp_path / "text.tar").write_text("not an archive")
    with pytest.raises(InputError, match="cannot be read as a .tar"):
        read(tmp_path / "text.tar")
    with pytest.raises(InputError, match="train/ holds 1 class folder"):
        read(write_folders(tmp_path / "single", classes=("cat",)))
    (tmp_path / "source" / "train" / "eel" / "0.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    with pytest.raises(InputError, match="train/eel/0.png cannot be read as an image"):
        read(tmp_path / "source")
    (tmp_path / "source" / "test" / "fox").mkdir()
    PIL.Image.new("RGB", (32, 32)).save(tmp_path / "source" / "test" / "fox" / "0.png")
    with pytest.raises(InputError, match="do not hold the same classes"):
        read(tmp_path / "source")


def test_damaged_and_hostile_batches_are_refused(tmp_path, monkeypatch):
    archive, _ = official(tmp_path, monkeypatch)
    folder = tmp_path / "extracted"
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **SAFELY)
    batch = folder / "cifar-10-batches-py" / "data_batch_1"
    batch.write_bytes(batch.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="data_batch_1 is damaged"):
        read(folder)
    hostile = pickle.dumps({"data": print, "labels": []})
    with pytest.raises(pickle.UnpicklingError, match="is not allowed"):
        cifar10.ArraysOnly(io.BytesIO(hostile)).load()


def test_the_digits_are_the_same_everywhere():
    found = canonical(digits())
    assert found.digest() == "b14e4de9ea03e7b90762586b6dc963ec8adfb4e3ac69c9b50dcfe366a5c4ab11"
    assert found.name == "handwritten digits (not CIFAR-10)"
