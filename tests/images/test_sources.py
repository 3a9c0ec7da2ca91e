"""Images from every kind of source are the same images; other files are refused."""

import io
import pickle
import re
import shutil
import tarfile
import zipfile

import numpy as np
import PIL.Image
import pytest
import torchvision
from refusals import refused
from small_images import CLASSES, class_folders, official, pack, png, write
from structure import ROOT

from pipeline.images.sources import read

PICTURE = png(np.random.default_rng(1).integers(0, 256, (32, 32, 3), np.uint8))


@pytest.mark.parametrize("inside", [".", "birds", "data/birds"])
@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "zip"])
def test_an_archive_gives_what_its_folder_gives(tmp_path, suffix, inside):
    root = class_folders(tmp_path / "birds")
    folder = read(root)
    packed = read(pack(root, tmp_path / f"birds.{suffix}", inside))
    assert packed.digest() == folder.digest()
    assert (folder.name, folder.source) == ("birds", "class folders in birds/")
    assert (packed.name, packed.source) == ("birds", f"class folders in birds.{suffix}")
    assert folder.classes == list(CLASSES)
    assert folder.notices == []
    assert packed.notices == []
    assert np.bincount(folder.labels["train"]).tolist() == [3, 3, 3]


def test_the_content_of_an_archive_decides_its_kind(tmp_path):
    root = class_folders(tmp_path / "birds")
    for suffix in ("tar", "tar.gz", "zip"):
        archive = pack(root, tmp_path / f"birds.{suffix}").rename(tmp_path / "download")
        assert read(archive).digest() == read(root).digest()


def test_a_zip_keeps_files_with_two_dots_in_their_names(tmp_path):
    root = write(class_folders(tmp_path / "birds"), {"train/cat/a..b.png": PICTURE})
    assert len(read(pack(root, tmp_path / "birds.zip")).labels["train"]) == 10


def test_official_batches_give_what_class_folders_give(tmp_path, monkeypatch):
    root = class_folders(tmp_path / "source")
    batches = official(root, tmp_path / "data/cifar-10-batches-py", monkeypatch)
    archive = pack(batches, tmp_path / "mine.tar.gz", "cifar-10-batches-py")
    for path in (batches, batches.parent, archive):
        images = read(path)
        assert images.digest() == read(root).digest()
        assert images.name == "CIFAR-10"
        assert path.name in images.source
    assert len(read(batches, (16, 24)).notices) == 1


class Trap:
    """An object whose pickle creates a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("name", ["data_batch_1", "test_batch", "batches.meta"])
def test_a_batch_with_another_md5_is_never_unpickled(tmp_path, monkeypatch, name):
    trap = pickle.dumps(Trap(tmp_path / "executed"))
    root = class_folders(tmp_path / "source")
    batches = official(root, tmp_path / "data", monkeypatch)
    write(batches, {name: trap})
    for path in (batches, pack(batches, tmp_path / "data.tar.gz")):
        with refused("unreadable-file"):
            read(path)
    assert not (tmp_path / "executed").exists()


def test_hidden_files_are_ignored_and_other_files_are_counted(tmp_path):
    root = class_folders(tmp_path / "set")
    hidden = [
        "README.md",
        "train/labels.csv",
        "train/.DS_Store",
        "train/cat/._0.png",
        "train/.ipynb_checkpoints/0.png",
        "train/cat/.ipynb_checkpoints/0.png",
        "__MACOSX/train/cat/._0.png",
        "__MACOSX/test/cat/._0.png",
    ]
    write(root, dict.fromkeys(hidden, b"x"))
    for path in (root, pack(root, tmp_path / "a.tar"), pack(root, tmp_path / "a.zip")):
        images = read(path)
        assert images.classes == list(CLASSES)
        assert images.notices == []
    write(root, {"train/cat/7.heic": b"x", "train/cat/deep/9.png": PICTURE})
    images = read(root)
    assert len(images.labels["train"]) == 9
    assert len(images.notices) == 1
    assert "2" in images.notices[0]
    assert "train/cat/7.heic" in images.notices[0]


def test_linked_class_folders_are_read(tmp_path):
    root = class_folders(tmp_path / "source")
    for split in ("train", "test"):
        (tmp_path / "linked" / split).mkdir(parents=True)
        for name in CLASSES:
            (tmp_path / "linked" / split / name).symlink_to(root / split / name)
    assert read(tmp_path / "linked").digest() == read(root).digest()


def test_a_link_to_an_outer_folder_gives_no_image_another_label(tmp_path):
    root = class_folders(tmp_path / "birds")
    digest = read(root).digest()
    (root / "train/cat/again").symlink_to(root / "train")
    images = read(root)
    assert images.digest() == digest
    assert len(images.notices) == 1


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "zip"])
def test_half_a_download_is_refused_wherever_it_was_cut(tmp_path, suffix):
    whole = pack(class_folders(tmp_path / "set"), tmp_path / f"whole.{suffix}")
    data = whole.read_bytes()
    cuts = [0, 100, len(data) // 2, len(data) - 12_000]
    if suffix == "tar":
        with tarfile.open(whole) as archive:
            last = archive.getmembers()[-1].offset
        cuts += [last, last + 100]  # between two files, and within a header
    half = tmp_path / f"half.{suffix}"
    for cut in cuts:
        half.write_bytes(data[:cut])
        with refused("unreadable-file", path=str(half)):
            read(half)


@pytest.mark.parametrize("up", ["..", "../../../../../..", "", "train/../.."])
def test_an_archive_writes_no_file_outside_its_folder(tmp_path, up):
    root = write(class_folders(tmp_path / "set"), {"stray": b"x"})
    outside = f"{up}/{tmp_path}/outside"
    with tarfile.open(tmp_path / "set.tar", "w") as archive:
        archive.add(root, ".")
        archive.addfile(named(outside, size=1), io.BytesIO(b"x"))
    with refused("unreadable-file", path=str(tmp_path / "set.tar")):
        read(tmp_path / "set.tar")
    with zipfile.ZipFile(pack(root, tmp_path / "set.zip"), "a") as archive:
        archive.write(root / "stray", outside)
    assert len(read(tmp_path / "set.zip").labels["train"]) == 9
    assert not (tmp_path / "outside").exists()


def test_links_of_a_tar_archive_lead_to_its_own_files(tmp_path):
    root = class_folders(tmp_path / "set")
    (root / "train/cat/3.png").symlink_to("../dog/0.png")
    (root / "train/cat/4.png").symlink_to("3.png")
    (root / "train/cat/5.png").hardlink_to(root / "train/eel/0.png")
    digest = read(root).digest()
    assert read(pack(root, tmp_path / "set.tar")).digest() == digest
    assert read(pack(root, tmp_path / "set.tar.gz")).digest() == digest


def test_a_tar_archive_whose_last_file_is_a_zip_is_no_zip(tmp_path):
    root = class_folders(tmp_path / "set")
    digest = read(root).digest()
    pack(class_folders(tmp_path / "old"), root / "zzz.zip")
    assert read(pack(root, tmp_path / "set.tar")).digest() == digest


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2", "tar.xz", "zip"])
def test_a_damaged_archive_is_refused(tmp_path, suffix):
    """A damaged header, or a wrong checksum of compressed files."""
    whole = tmp_path / f"whole.{suffix}"
    root = class_folders(tmp_path / "set")
    if suffix in ("tar.bz2", "tar.xz"):
        with tarfile.open(whole, f"w:{suffix[4:]}") as archive:
            archive.add(root, ".")
    else:
        pack(root, whole)
    data = bytearray(whole.read_bytes())
    place = len(data) // 2
    if suffix == "tar":
        with tarfile.open(whole) as archive:
            place = archive.getmembers()[-1].offset
    data[place] ^= 255
    damaged = tmp_path / f"damaged.{suffix}"
    damaged.write_bytes(data)
    with refused("unreadable-file"):
        read(damaged)


def test_half_a_download_that_zeros_fill_is_refused(tmp_path):
    """As of a program that reserves the space of the whole file."""
    data = pack(class_folders(tmp_path / "set"), tmp_path / "set.tar.gz").read_bytes()
    half = tmp_path / "half.tar.gz"
    half.write_bytes(data[: len(data) // 2].ljust(len(data), b"\0"))
    with refused("unreadable-file"):
        read(half)


def test_links_in_a_circle_are_refused(tmp_path):
    root = class_folders(tmp_path / "set")
    (root / "train/cat/3.png").symlink_to("4.png")
    (root / "train/cat/4.png").symlink_to("3.png")
    with refused("unreadable-file", path=str(tmp_path / "set.tar")):
        read(pack(root, tmp_path / "set.tar"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_tar_archive_reads_no_file_outside_itself(tmp_path, kind):
    root = write(class_folders(tmp_path / "set"), {"../secret.png": PICTURE})
    with tarfile.open(tmp_path / "set.tar", "w") as archive:
        archive.add(root, ".")
        link = named("./train/cat/9.png", type=kind, linkname=f"{tmp_path}/secret.png")
        archive.addfile(link)
    with refused("unreadable-file", path=str(tmp_path / "set.tar")):
        read(tmp_path / "set.tar")


def test_a_tar_archive_with_a_link_to_a_folder_is_refused(tmp_path):
    root = class_folders(tmp_path / "set")
    (root / "train/cats").symlink_to("cat")
    with refused("unreadable-file", path=str(tmp_path / "set.tar")):
        read(pack(root, tmp_path / "set.tar"))


def named(name, **values):
    """Return the header of a file of a tar archive, with this very name."""
    header = tarfile.TarInfo()
    for key, value in {"name": name, **values}.items():
        setattr(header, key, value)
    return header


def without_test(root):
    class_folders(root, splits=["train"])


def validation_for_test(root):
    class_folders(root, splits=["train", "val"])


def without_classes(root):
    write(root, {"train/0.png": PICTURE, "test/0.png": PICTURE})


def one_class(root):
    class_folders(root, ["auk"])


def classes_of_train_alone(root):
    write(class_folders(root), {"train/auk/0.png": PICTURE})


def two_sets(root):
    class_folders(root / "birds")
    class_folders(root / "fish")


def deeper_classes(root):
    for split in ("train", "test"):
        for kind in ("animals", "plants"):
            write(root, {f"{split}/{kind}/cat/0.png": PICTURE})


def equal_splits(root):
    class_folders(root, splits=["train"])
    shutil.copytree(root / "train", root / "test")


def damaged_picture(root):
    write(class_folders(root), {"train/cat/0.png": PICTURE[:500]})


def empty_picture(root):
    write(class_folders(root), {"train/cat/0.png": b""})


def sixteen_bits(root):
    deep = png(np.full((32, 32), 999, np.uint16))
    write(class_folders(root), {"train/cat/1.png": deep})


@pytest.mark.parametrize(
    ("make", "kind", "fields"),
    [
        (without_test, "images", {"folders": 0}),
        (validation_for_test, "images", {"folders": 0}),
        (without_classes, "images", {}),
        (one_class, "images", {"classes": (1, 1)}),
        (classes_of_train_alone, "images", {"differing": ["auk"]}),
        (two_sets, "images", {"folders": 2}),
        (deeper_classes, "images", {}),
        (equal_splits, "images", {"shared": 9}),
        (damaged_picture, "unreadable-file", {}),
        (empty_picture, "unreadable-file", {}),
        (sixteen_bits, "unreadable-file", {}),
    ],
)
def test_a_folder_that_would_give_wrong_labels_or_no_images_is_refused(
    tmp_path, make, kind, fields
):
    make(tmp_path / "set")
    with refused(kind, **fields):
        read(tmp_path / "set")


def test_the_program_in_the_docs_converts_a_dataset_in_its_order(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)

    def svhn(root, split, download):
        pixels = rng.integers(0, 256, (36, 32, 32, 3), np.uint8)
        return [(PIL.Image.fromarray(array), k % 12) for k, array in enumerate(pixels)]

    page = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.S)
    (program,) = [text for text in programs if "SVHN" in text]
    monkeypatch.setattr(torchvision.datasets, "SVHN", svhn)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "docs/extending.md", "exec"), {})
    images = read(tmp_path / "svhn")
    assert images.classes == [str(label) for label in range(12)]
    assert np.bincount(images.labels["test"]).tolist() == [3] * 12
