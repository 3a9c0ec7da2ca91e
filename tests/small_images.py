"""Small sets of images in every form in which they may come, and a web server that may misbehave."""

import hashlib
import http.server
import io
import pickle
import struct
import tarfile
import threading
import zipfile
import zlib

import numpy as np
import PIL.Image
import pytest

from pipeline.images import cifar10, sources
from pipeline.images.image_set import canonical
from pipeline.project.errors import InputError

CLASSES = ("cat", "dog", "eel")


def refusal(path):
    """The sentence that refuses `path`, which must be one line."""
    with pytest.raises(InputError) as refused:
        sources.read(path)
    sentence = str(refused.value)
    assert sentence.isprintable() and len(sentence) < 600
    return sentence


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
        with tarfile.open(path, f"w:{path.suffix[1:]}" if path.suffix != ".tar" else "w") as archive:
            for file in files:
                archive.add(file, file.relative_to(root))
    return path


def official(folder, monkeypatch, names=CLASSES):
    """A small archive in CIFAR-10's official layout, its checksums put in place of the real ones."""
    source = canonical(sources.read(write_folders(folder / "source")))
    splits = {"data_batch_1": source.train, "test_batch": source.test}
    contents = {}
    for name, split in splits.items():
        flat = split.images.reshape(len(split.images), -1)
        contents[name] = pickle.dumps({"data": flat, "labels": split.labels.tolist()}, protocol=2)
    path = folder / cifar10.ARCHIVE
    with tarfile.open(path, "w:gz") as archive:
        for name, data in contents.items():
            archive.addfile(member(f"cifar-10-batches-py/{name}", data), io.BytesIO(data))
    md5 = {name: hashlib.md5(data).hexdigest() for name, data in contents.items()}
    monkeypatch.setattr(cifar10, "BATCHES", md5)
    monkeypatch.setattr(cifar10, "TRAIN_BATCHES", ["data_batch_1"])
    monkeypatch.setattr(cifar10, "TEST_BATCHES", ["test_batch"])
    monkeypatch.setattr(cifar10, "CLASSES", list(names))
    monkeypatch.setattr(cifar10, "ARCHIVE_MD5", hashlib.md5(path.read_bytes()).hexdigest())
    monkeypatch.setattr(cifar10, "ARCHIVE_SIZE", path.stat().st_size)
    return path, source


def member(name, data=b"", kind=tarfile.REGTYPE, **fields):
    """The header of a file in a .tar."""
    header = tarfile.TarInfo(name)
    header.size, header.type = len(data), kind
    for field, value in fields.items():
        setattr(header, field, value)
    return header


def png(pixels=None, shade=0):
    """The bytes of a small PNG: `pixels`, or one shade of grey."""
    pixels = np.full((32, 32, 3), shade, np.uint8) if pixels is None else pixels
    return saved(PIL.Image.fromarray(pixels), "PNG")


def saved(image, kind, **options):
    """The bytes of an image in a format of Pillow's."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def deep_png(rows, colour):
    """The bytes of a PNG of 16 bits a channel, which Pillow cannot write: rows (H, W, channels) uint16, PNG's colour type."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 16, colour, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row.astype(">u2").tobytes() for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def set_of(root, extra):
    """Class folders cat and dog of one black image each under `root`, and further files: path → bytes."""
    files = {f"{split}/{name}/0.png": png() for split in ("train", "test") for name in ("cat", "dog")}
    for name, data in (files | extra).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def tar(path, members, mode="w"):
    """A .tar of pairs of a header, or a name, and its bytes."""
    with tarfile.open(path, mode, format=tarfile.GNU_FORMAT) as archive:
        for header, data in members:
            archive.addfile(member(header, data) if isinstance(header, str) else header, io.BytesIO(data))
    return path


def zipped(path, members, **options):
    """A .zip of pairs of a header, or a name, and its bytes, the same at any time."""
    with zipfile.ZipFile(path, "w", **options) as archive:
        for header, data in members:
            if isinstance(header, str):
                header = zipfile.ZipInfo(header)
                header.external_attr = 0o600 << 16
            archive.writestr(header, data, archive.compression)
    return path


def attempt(action, *arguments):
    """What `action` gives and None, or None and the sentence with which it refuses."""
    try:
        return action(*arguments), None
    except InputError as error:
        return None, str(error)


FOUR = {f"{split}/{name}/0.png": png() for split in ("train", "test") for name in ("cat", "dog")}
"""The fewest class folders that are a set of images."""


class Mirror:
    """A local web server of one file; `answer(handler)` may be put in place of what it does."""

    def __init__(self, content=b""):
        mirror = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                mirror.requests += 1
                self.close_connection = True
                try:
                    mirror.answer(self)
                except OSError:
                    pass  # whoever asked has gone away

            def log_message(self, *arguments):
                pass

        self.content, self.requests, self.answer = content, 0, self.whole
        self.over = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/{cifar10.ARCHIVE}"

    def whole(self, handler):
        """The file, with its length."""
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(self.content)))
        handler.end_headers()
        handler.wfile.write(self.content)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
