"""Images from every kind of source give the same canonical bytes; broken sources end with one sentence."""

import hashlib
import http.server
import io
import pickle
import tarfile
import threading
import zipfile

import numpy as np
import PIL.Image
import pytest

from pipeline.images import sources as images
from pipeline.project.errors import InputError

CLASSES = ("cat", "dog", "eel")


SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""How tar files are extracted; the first releases of Python 3.11 know no filters."""


def write_folders(root, classes=CLASSES, size=32, count=4):
    """Class folders of random PNGs under `root`."""
    rng = np.random.default_rng(0)
    for split in ("train", "test"):
        for name in classes:
            folder = root / split / name
            folder.mkdir(parents=True)
            for n in range(count):
                pixels = rng.integers(0, 256, (size, size, 3)).astype(np.uint8)
                PIL.Image.fromarray(pixels).save(folder / f"{n}.png")
    return root


def pack(root, path):
    """`root` as the archive `path`, its kind told by the name."""
    files = sorted(file for file in root.rglob("*") if file.is_file())
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in reversed(files):
                archive.write(file, f"inner/{file.relative_to(root)}")
    else:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
            for file in files:
                archive.add(file, file.relative_to(root))
    return path


def official(folder, monkeypatch, names=CLASSES):
    """A small archive in CIFAR-10's official layout, its checksums put in place of the real ones."""
    source = images.canonical(images.read(write_folders(folder / "source")))
    splits = {"data_batch_1": source.train, "test_batch": source.test}
    contents = {}
    for name, split in splits.items():
        flat = split.images.reshape(len(split.images), -1)
        contents[name] = pickle.dumps({"data": flat, "labels": split.labels.tolist()}, protocol=2)
    path = folder / images.ARCHIVE
    with tarfile.open(path, "w:gz") as archive:
        for name, data in contents.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    md5 = {name: hashlib.md5(data).hexdigest() for name, data in contents.items()}
    monkeypatch.setattr(images, "BATCHES", md5)
    monkeypatch.setattr(images, "TRAIN_BATCHES", ["data_batch_1"])
    monkeypatch.setattr(images, "TEST_BATCHES", ["test_batch"])
    monkeypatch.setattr(images, "CLASSES", list(names))
    monkeypatch.setattr(images, "ARCHIVE_MD5", hashlib.md5(path.read_bytes()).hexdigest())
    return path, source


def test_every_source_gives_the_same_bytes(tmp_path, monkeypatch):
    archive, source = official(tmp_path, monkeypatch)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "extracted", **SAFELY)
    paths = [archive, tmp_path / "extracted", tmp_path / "extracted" / "cifar-10-batches-py"]
    paths += [pack(tmp_path / "source", tmp_path / f"pack.{suffix}") for suffix in ("tar", "tar.gz", "zip")]
    for path in paths:
        found = images.canonical(images.read(path))
        assert found.digest() == source.digest(), path
        assert found.train.images.tobytes() == source.train.images.tobytes()
    assert found.train.images.shape == (12, 3, 32, 32) and found.classes == list(CLASSES)
    assert np.bincount(found.test.labels).tolist() == [4, 4, 4]


def test_other_sizes_and_grey_images_are_resized_with_a_notice(tmp_path):
    root = write_folders(tmp_path / "big", size=48)
    PIL.Image.new("L", (20, 10), 255).save(root / "train" / "cat" / "grey.png")
    found = images.read(root)
    assert found.train.images.shape == (13, 3, 32, 32) and "resized to 32×32" in found.notices[0]
    assert found.name == "big"


def test_statistics_are_those_of_the_pixels(tmp_path):
    found = images.read(write_folders(tmp_path / "x"))
    mean, deviation = found.statistics()
    np.testing.assert_allclose(mean, (found.train.images / 255).mean((0, 2, 3)))
    np.testing.assert_allclose(deviation, (found.train.images / 255).std((0, 2, 3)))


def test_broken_sources_end_with_one_sentence(tmp_path, monkeypatch):
    archive, _ = official(tmp_path, monkeypatch)
    with pytest.raises(InputError, match="does not exist"):
        images.read(tmp_path / "nowhere")
    for whole in (
        archive,
        pack(tmp_path / "source", tmp_path / "p.tar"),
        pack(tmp_path / "source", tmp_path / "p.zip"),
    ):
        broken = tmp_path / f"truncated-{whole.name}"
        broken.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
        with pytest.raises(InputError, match="damaged|incomplete"):
            images.read(broken)
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
            images.read(tmp_path / "cut.tar")
    (tmp_path / "text.tar").write_text("not an archive")
    with pytest.raises(InputError, match="cannot be read as a .tar"):
        images.read(tmp_path / "text.tar")
    with pytest.raises(InputError, match="train/ holds 1 class folder"):
        images.read(write_folders(tmp_path / "single", classes=("cat",)))
    (tmp_path / "source" / "train" / "eel" / "0.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    with pytest.raises(InputError, match="train/eel/0.png cannot be read as an image"):
        images.read(tmp_path / "source")
    (tmp_path / "source" / "test" / "fox").mkdir()
    PIL.Image.new("RGB", (32, 32)).save(tmp_path / "source" / "test" / "fox" / "0.png")
    with pytest.raises(InputError, match="do not hold the same classes"):
        images.read(tmp_path / "source")


def test_damaged_and_hostile_batches_are_refused(tmp_path, monkeypatch):
    archive, _ = official(tmp_path, monkeypatch)
    folder = tmp_path / "extracted"
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **SAFELY)
    batch = folder / "cifar-10-batches-py" / "data_batch_1"
    batch.write_bytes(batch.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="data_batch_1 is damaged"):
        images.read(folder)
    hostile = pickle.dumps({"data": print, "labels": []})
    with pytest.raises(pickle.UnpicklingError, match="is not allowed"):
        images._ArraysOnly(io.BytesIO(hostile)).load()


class Mirror:
    """A local web server of one file, which it may cut short."""

    def __init__(self, content):
        mirror = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                mirror.requests += 1
                self.send_response(200)
                self.send_header("Content-Length", str(len(mirror.content)))
                self.end_headers()
                self.wfile.write(mirror.content)

            def log_message(self, *arguments):
                pass

        self.content, self.requests = content, 0
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/{images.ARCHIVE}"

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def test_a_corrupt_or_interrupted_download_is_never_used_and_fetched_again(tmp_path, monkeypatch):
    archive, source = official(tmp_path, monkeypatch)
    whole, cache = archive.read_bytes(), tmp_path / "cache"
    mirror = Mirror(whole[:-100])
    try:
        with pytest.raises(InputError, match="could not be fetched from http"):
            images.fetched(cache, mirror.url)
        assert not list(cache.glob("*"))
        (cache / images.ARCHIVE).write_bytes(whole[:500])  # what a killed download leaves behind
        mirror.content, mirror.requests = whole, 0
        assert images.canonical(images.read(images.fetched(cache, mirror.url))).digest() == source.digest()
        asked = mirror.requests
        assert asked > 0
        images.fetched(cache, mirror.url)
        assert mirror.requests == asked, "a whole copy is not fetched again"
    finally:
        mirror.close()
