"""Archives, damaged, hostile and odd: the right images or one sentence, never a hang, and never more memory than an image needs."""

import bz2
import gzip
import lzma
import os
import pickle
import struct
import tarfile
import tracemalloc
import zipfile

import numpy as np
import PIL.Image
import pytest
from small_images import FOUR, attempt, member, pack, png, refusal, saved, set_of, tar, write_folders, zipped

from pipeline.images import archives, sources
from pipeline.images.image_set import canonical

BITMAP = saved(PIL.Image.new("RGB", (32, 32), "red"), "BMP")
"""An image whose format has no checksum of its own."""


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2", "tar.xz", "zip"])
def test_what_is_no_archive_is_refused_in_one_line(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    for data in (
        b"",
        b"not an archive",
        os.urandom(3000),
        b"\x1f\x8b broken",
        b"BZh9 broken",
        b"PK\x03\x04 broken",
        bytes(600),
    ):
        path.write_bytes(data)
        sentence = refusal(path)
        assert "cannot be read as a .tar, .tar.gz or .zip archive, it is damaged or incomplete (" in sentence or (
            data == bytes(600) and "train/ holds 0 class folder(s)" in sentence
        )


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2", "tar.xz", "zip"])
def test_a_cut_or_a_flipped_bit_gives_the_same_images_or_one_sentence(tmp_path, suffix):
    source = set_of(tmp_path / "source", {"train/cat/1.bmp": BITMAP, "test/dog/1.bmp": BITMAP})
    packed = pack(source, tmp_path / f"whole.{suffix}")
    whole, right = packed.read_bytes(), canonical(sources.read(packed)).digest()
    broken, rng = tmp_path / f"broken.{suffix}", np.random.default_rng(0)
    damaged = [whole[:cut] for cut in rng.integers(0, len(whole), 20)]
    # A plain .tar has no checksum of what it holds.
    for position in rng.integers(0, 8 * len(whole), 60 if suffix != "tar" else 0):
        flipped = bytearray(whole)
        flipped[position // 8] ^= 1 << position % 8
        damaged.append(bytes(flipped))
    for data in damaged:
        broken.write_bytes(data)
        found, sentence = attempt(sources.read, broken)
        assert sentence.isprintable() if sentence else canonical(found).digest() == right


def test_a_flipped_bit_behind_the_last_image_is_found_by_the_archives_checksum(tmp_path):
    packed = pack(set_of(tmp_path / "set", {}), tmp_path / "set.tar.gz")
    data = bytearray(packed.read_bytes())
    data[-6] ^= 1
    packed.write_bytes(data)
    assert "damaged or incomplete (CRC check failed" in refusal(packed)


def test_whatever_stands_behind_the_end_is_not_passed_over(tmp_path):
    one, two = tar(tmp_path / "a.tar", FOUR.items()), tar(tmp_path / "b.tar", [("train/cat/9.png", png(shade=9))])
    one.write_bytes(one.read_bytes() + two.read_bytes())
    assert "damaged or incomplete (it goes on behind its end)" in refusal(one)


def test_a_fifo_or_a_device_as_path_ends_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.tar")
    (tmp_path / "cifar-10-batches-py").mkdir()
    os.mkfifo(tmp_path / "cifar-10-batches-py" / "data_batch_1")
    assert refusal(tmp_path / "pipe.tar").endswith("pipe.tar is neither a file nor a folder; name a folder or archive")
    assert refusal("/dev/zero") == "the images' path /dev/zero is neither a file nor a folder; name a folder or archive"
    assert refusal(tmp_path) == "the CIFAR-10 folder's file data_batch_1 is no regular file; replace it"


@pytest.mark.parametrize(
    "path", ["nowhere", "~nobody-of-this-name/x", "nul\0byte", "x" * 5000, "new\nline", "set.tar/below"]
)
def test_a_path_that_cannot_be_one_is_refused_in_one_line(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    tar(tmp_path / "set.tar", FOUR.items())
    assert refusal(path).startswith("the images' path ")


def test_encrypted_and_oddly_compressed_members_are_named(tmp_path):
    path = zipped(tmp_path / "set.zip", FOUR.items())
    plain = path.read_bytes()
    for local, central, value, sentence in (
        (6, 8, 1, "train/cat/0.png is encrypted; pack it without a password"),
        (8, 10, 99, "train/cat/0.png cannot be unpacked (That compression method is not supported); pack it as usual"),
    ):
        data = bytearray(plain)
        for magic, offset in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
            struct.pack_into("<H", data, data.index(magic) + offset, value)
        path.write_bytes(data)
        assert refusal(path) == sentence


@pytest.mark.parametrize(
    "name", ["/train/cat/1.png", "../../train/cat/1.png", "./train/cat/1.png", "a/../train/cat/1.png", "train/../1.png"]
)
def test_absolute_and_climbing_names_reach_nothing_outside(tmp_path, name):
    inside = {name.replace("train/cat/1", f"{s}/{c}/1"): png() for s in ("train", "test") for c in ("cat", "dog")}
    if ".." in name.split("train")[1]:
        inside = FOUR | inside
    before = sorted(tmp_path.rglob("*"))
    for path in (tar(tmp_path / "x.tar", inside.items()), zipped(tmp_path / "x.zip", inside.items())):
        found = sources.read(path)
        path.unlink()
        assert found.classes == ["cat", "dog"] and len(found.train.images) == 2
        assert len(found.notices) == (".." in name.split("train")[1])
    assert sorted(tmp_path.rglob("*")) == before


def test_a_member_that_comes_twice_is_refused(tmp_path):
    members = [*FOUR.items(), ("./train/cat/0.png", png(shade=5))]
    for path in (tar(tmp_path / "x.tar", members), zipped(tmp_path / "x.zip", members)):
        assert refusal(path) == f"class folders in {path.name}: train/cat/0.png is in it twice; pack it again"
    other = [*FOUR.items(), ("train/cat/0.PNG", png(shade=5))]
    assert len(sources.read(tar(tmp_path / "case.tar", other)).train.images) == 3


def test_links_and_devices_in_an_archive_are_refused_where_images_are_expected(tmp_path):
    linked = "is a link in the archive; pack"
    for kind, sentence in (
        (tarfile.SYMTYPE, linked),
        (tarfile.LNKTYPE, linked),
        (tarfile.FIFOTYPE, "is neither a file nor a folder"),
        (tarfile.CHRTYPE, "is neither a file nor a folder"),
    ):
        extra = member("train/cat/1.png", kind=kind, linkname="train/cat/0.png")
        assert sentence in refusal(tar(tmp_path / "x.tar", [*FOUR.items(), (extra, b"")]))
        extra.name = "docs/link.png"
        assert sources.read(tar(tmp_path / "x.tar", [*FOUR.items(), (extra, b"")])).notices == []
    link = zipfile.ZipInfo("train/eel")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    assert linked in refusal(zipped(tmp_path / "x.zip", [*FOUR.items(), (link, "cat")]))


def test_names_that_are_not_utf8_are_read_and_shown_as_escapes(tmp_path):
    members = [*FOUR.items(), (os.fsdecode(b"train/cat/\xff.png"), png())]
    assert len(sources.read(tar(tmp_path / "x.tar", members)).train.images) == 3
    members[-1] = (members[-1][0], b"")
    assert refusal(tar(tmp_path / "x.tar", members)).startswith("train/cat/\\udcff.png cannot be read as an image")


def with_size(data, at, size):
    """The .tar `data` whose header at `at` says that it holds `size` bytes, its checksum right."""
    header = bytearray(data[at : at + 512])
    header[124:136] = tarfile.itn(size, 12, tarfile.GNU_FORMAT)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return data[:at] + bytes(header) + data[at + 512 :]


def test_odd_headers_end(tmp_path):
    path = tar(tmp_path / "x.tar", FOUR.items())
    whole = path.read_bytes()
    with tarfile.open(path) as archive:
        second = archive.getmembers()[1].offset
    for size in (-512, -1024, -(second + 512), 2**40, 2**62):
        path.write_bytes(with_size(whole, second, size))
        assert refusal(path)
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_SPARSE):
        for size in (-512, 0, 100, 2**40):
            extra = tar(tmp_path / "y.tar", [(member("x", kind=kind), b""), *FOUR.items()]).read_bytes()
            path.write_bytes(with_size(extra, 0, size))
            found, sentence = attempt(sources.read, path)
            assert sentence.isprintable() if sentence else len(found.train.images) == 2, (kind, size)
    chain = [(member("x" * 3, b"y\0", tarfile.GNUTYPE_LONGNAME), b"y\0")] * 3000
    assert "damaged or incomplete" in refusal(tar(tmp_path / "z.tar", [*FOUR.items(), *chain]))


@pytest.mark.parametrize("opener", [gzip.open, bz2.open, lzma.open])
def test_bombs_end_with_one_sentence_and_little_memory(tmp_path, monkeypatch, opener):
    monkeypatch.setattr(archives, "FREE", 2**23)
    monkeypatch.setattr("pipeline.images.entries.LARGEST", 2**22)
    zeros, path = bytes(2**22), tmp_path / "bomb.tar"

    def bomb(blocks, name, kind=tarfile.REGTYPE):
        header = member(name, kind=kind)
        header.size = blocks * len(zeros)
        with opener(path, "wb") as file:
            file.write(header.tobuf())
            for _ in range(blocks):
                file.write(zeros)
        tracemalloc.start()
        sentence = refusal(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**24
        return sentence

    limit = 2**23
    for name in ("notes.txt", "train/cat/deep/0.txt"):
        sentence = bomb(8, name)
        assert sentence == (
            f"{path} unpacks to more than {limit + 20 * path.stat().st_size:,} bytes, far more than images of an archive of "
            f"its size; it is no set of images"
        )
    assert "train/cat/0.png is larger than 4,194,304 bytes" in bomb(2, "train/cat/0.png")
    assert "a header says that it holds" in bomb(2, "x", tarfile.GNUTYPE_LONGNAME)
    assert "a header says that it holds" in bomb(2, "x", tarfile.XHDTYPE)


def test_a_bomb_in_a_zip_ends_with_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "FREE", 2**23)
    monkeypatch.setattr("pipeline.images.entries.LARGEST", 2**22)
    packing = {"compression": zipfile.ZIP_DEFLATED}
    many = [*FOUR.items(), *((f"train/cat/{n}.bmp", bytes(2**21)) for n in range(8))]
    assert "far more than images of an archive of its size" in refusal(zipped(tmp_path / "x.zip", many, **packing))
    large = [*FOUR.items(), ("train/cat/1.bmp", bytes(2**22 + 1))]
    assert "train/cat/1.bmp is larger than 4,194,304 bytes" in refusal(zipped(tmp_path / "y.zip", large, **packing))
    path = zipped(tmp_path / "z.zip", [*FOUR.items(), ("train/cat/1.bmp", bytes(2**22))], **packing)
    data = bytearray(path.read_bytes())
    last = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, last + 24, 1000)  # says that it holds less than it does
    path.write_bytes(data)
    assert "damaged or incomplete (Bad CRC-32" in refusal(path)


def test_an_inner_zip_does_not_hide_the_tar(tmp_path):
    inner = zipped(tmp_path / "inner.zip", [("train/x/0.png", png())]).read_bytes()
    assert sources.read(tar(tmp_path / "x.tar", [*FOUR.items(), ("more.zip", inner)])).classes == ["cat", "dog"]


def test_a_batch_in_an_archive_is_not_unpickled_unless_it_is_the_known_one(tmp_path):
    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    names = [f"data_batch_{n}" for n in range(1, 6)] + ["test_batch"]
    members = [(f"cifar-10-batches-py/{name}", pickle.dumps(Hostile())) for name in names]
    for path in (tar(tmp_path / "x.tar", members), zipped(tmp_path / "x.zip", members)):
        assert "CIFAR-10's file data_batch_1 is damaged" in refusal(path)
    assert "is incomplete: data_batch_2 is missing" in refusal(tar(tmp_path / "y.tar", members[:1]))
    assert not (tmp_path / "executed").exists()


def test_an_archive_read_as_a_stream_gives_what_its_folder_gives(tmp_path):
    root = write_folders(tmp_path / "set", size=24)
    right = sources.read(root)
    for suffix in ("tar", "tar.gz", "tar.bz2", "tar.xz", "zip"):
        found = sources.read(pack(root, tmp_path / f"set.{suffix}"))
        assert canonical(found).digest() == canonical(right).digest() and found.notices == right.notices
