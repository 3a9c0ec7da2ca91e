"""Class folders on disk and in archives: nothing that was meant is left out in silence, and names fit into reports."""

import errno
import os
import socket

import numpy as np
import PIL.Image
import pytest
from small_images import pack, png, refusal, saved, set_of, write_folders

from pipeline.images import sources
from pipeline.images.image_set import canonical

SQUARE = saved(PIL.Image.new("L", (48, 48)), "PNG")


def both(name, data=None):
    """An image in the class folder `name` of both splits."""
    return {f"{split}/{name}/0.png": data or png() for split in ("train", "test")}


def test_a_folder_that_cannot_be_listed_ends_the_reading(tmp_path, monkeypatch):
    root, scandir = set_of(tmp_path / "set", both("eel")), os.scandir

    def refusing(path="."):
        if str(path).endswith("eel"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert refusal(root) == "the folder train/eel cannot be read (Permission denied); give access to it or remove it"


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    root = set_of(tmp_path / "set", {})
    monkeypatch.setattr("pipeline.images.entries.open", _refusing, raising=False)
    assert refusal(root) == "test/cat/0.png cannot be read (Input/output error); give access to it or replace it"


def _refusing(path, mode):
    raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))


def test_links_are_followed_and_broken_ones_and_loops_are_named(tmp_path):
    elsewhere = set_of(tmp_path / "elsewhere", {})
    root = tmp_path / "linked"
    for split in ("train", "test"):
        (root / split).mkdir(parents=True)
        for name in ("cat", "dog"):
            (root / split / name).symlink_to(elsewhere / split / name)
    assert canonical(sources.read(root)).digest() == canonical(sources.read(elsewhere)).digest()
    loop = root / "train" / "loop"
    loop.symlink_to(root)
    assert refusal(root).endswith("is a link to a folder that it stands in; remove the link")
    loop.unlink()
    broken = root / "train" / "eel"
    broken.symlink_to(tmp_path / "nowhere")
    assert refusal(root) == "train/eel is a link that leads nowhere; mend or remove it"
    broken.unlink()
    broken.symlink_to(broken)
    assert refusal(root) == "train/eel is a link that leads nowhere; mend or remove it"
    broken.unlink()
    (elsewhere / "train" / "cat" / "7.png").symlink_to("8.png")
    assert refusal(root) == "train/cat/7.png is a link that leads nowhere; mend or remove it"


def test_a_folder_of_fifos_and_sockets_ends(tmp_path):
    root = set_of(tmp_path / "set", {})
    for number in range(3):
        os.mkfifo(root / "train" / "cat" / f"pipe-{number}.png")
    assert refusal(root) == "train/cat/pipe-0.png is neither a file nor a folder; remove it"
    for number in range(3):
        (root / "train" / "cat" / f"pipe-{number}.png").unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(root / "test" / "dog" / "s"))
        assert refusal(root) == "test/dog/s is neither a file nor a folder; remove it"


def test_what_is_left_out_is_said(tmp_path):
    # Beside class folders anything may stand, and what operating systems leave there is no one's.
    quiet = {"README.md": b"", "train/labels.csv": b"", "train/cat/Thumbs.db": b"", "train/dog/.DS_Store": b""}
    quiet |= {"train/cat/._0.png": b"x", "__MACOSX/train/cat/._0.png": b"x", "train/__MACOSX/._x.png": b"x"}
    root = set_of(tmp_path / "set", quiet)
    for path in (root, pack(root, tmp_path / "a.tar"), pack(root, tmp_path / "a.zip")):
        assert sources.read(path).notices == []
    strays = ("train/cat/notes.txt", "train/cat/7", "train/cat/deep/9.png", "val/cat/0.png", "train/.cache/x.png")
    set_of(root, dict.fromkeys(strays, png()))
    found = sources.read(root)
    assert found.notices == [
        "files that are no images by their place or their name were left out: 5, the first train/.cache/x.png"
    ]
    assert len(found.train.images) == 2 and found.classes == ["cat", "dog"]


def test_an_empty_class_folder_is_refused(tmp_path):
    for split in ("train", "test"):
        root = set_of(tmp_path / split, {})
        (root / split / "eel").mkdir()
        assert refusal(root) == f"class folders in {split}/: {split}/eel/ holds no images; fill or remove it"
        (root / split / "eel" / "notes.txt").write_text("none yet")
        assert "eel/ holds no images" in refusal(root)
    root = set_of(tmp_path / "both", {})
    for split in ("train", "test"):
        (root / split / "eel").mkdir()
    assert "train/eel/ holds no images" in refusal(root)


def test_a_wrong_layout_says_what_is_there(tmp_path):
    root = set_of(tmp_path / "set", both("eel"))
    (root / "test").rename(root / "val")
    assert refusal(root) == (
        "class folders in set/: test/ holds 0 class folder(s) with images; at least two are needed, as train/<class>/* "
        "and test/<class>/* (left out is val/cat/0.png)"
    )
    (root / "val").rename(root / "test")
    set_of(root / "second", {})
    assert refusal(root) == "class folders in set/: more than one folder test/ holds images; keep one set of images"


def test_the_layout_is_checked_before_any_image_is_read(tmp_path):
    root = set_of(tmp_path / "set", {"train/cat/0.png": b"damaged", "train/eel/0.png": png()})
    for path in (root, pack(root, tmp_path / "set.zip")):
        assert "train/ and test/ do not hold the same classes (eel: in one of them only)" in refusal(path)


@pytest.mark.parametrize("name", ["c\nat", "c\x1b[31mat", " cat", "c" * 101, os.fsdecode(b"c\xff"), "c\u2028at"])
def test_names_of_classes_that_reports_cannot_hold_are_refused(tmp_path, name):
    root = set_of(tmp_path / "set", both(name))
    for path in (root, pack(root, tmp_path / "set.tar")):
        sentence = refusal(path)
        assert sentence.startswith("class folders in set") and "must have a name of at most 100 printable" in sentence


def test_other_names_are_kept(tmp_path):
    names = ["$x$ | <b>", "Ä", "ゼロ", "c" * 100, "train", "test", "-rf"]
    root = set_of(tmp_path / "set", {key: value for name in names for key, value in both(name).items()})
    assert sources.read(root).classes == sorted([*names, "cat", "dog"])


def test_names_that_differ_in_little_are_kept_apart_with_a_notice(tmp_path):
    root = set_of(tmp_path / "set", both("Cat") | both("e\u0301") | both("\u00e9"))
    found = sources.read(root)
    assert found.classes == sorted(["Cat", "cat", "dog", "e\u0301", "\u00e9"])
    assert found.notices == [
        "classes whose names differ in little were kept apart: Cat, cat",
        "classes whose names differ in little were kept apart: e\u0301, \u00e9",
    ]


def test_notices_say_how_many_images_and_which_is_the_first(tmp_path):
    wide, clear = saved(PIL.Image.new("L", (40, 20)), "PNG"), saved(PIL.Image.new("RGBA", (32, 32)), "PNG")
    extra = {"train/cat/b.png": wide, "train/cat/a.png": wide, "test/dog/w.png": SQUARE, "test/cat/t.png": clear}
    assert sources.read(set_of(tmp_path / "set", extra)).notices == [
        "images of up to 48×48 pixels were resized to 32×32",
        "images that are not square were stretched to 32×32, which changes their aspect ratio: 2 image(s), the first "
        "train/cat/a.png",
        "what is transparent was laid on white: 1 image(s), the first test/cat/t.png",
    ]


def test_the_set_is_called_by_a_name_that_reports_can_hold(tmp_path, monkeypatch):
    root = set_of(tmp_path / "my\nset", {})
    assert sources.read(root).name == "my\\nset"
    monkeypatch.chdir(root)
    assert sources.read(".").name == "my\\nset"
    assert sources.read(pack(root, tmp_path / ".tar")).name == ".tar"


def test_a_file_larger_than_any_that_is_read_is_refused(tmp_path):
    root = set_of(tmp_path / "set", {})
    with open(root / "train" / "cat" / "0.png", "ab") as file:
        file.truncate(200 * 2**20)
    for path in (root, pack(root, tmp_path / "set.tar"), pack(root, tmp_path / "set.zip")):
        assert refusal(path).endswith(
            "train/cat/0.png is larger than 104,857,600 bytes, the most that is read; make it smaller"
        )


def test_labels_belong_to_their_images(tmp_path):
    root = write_folders(tmp_path / "set", count=3)
    found = sources.read(root)
    for label, name in enumerate(found.classes):
        there = {
            np.asarray(PIL.Image.open(file)).transpose(2, 0, 1).tobytes() for file in (root / "train" / name).iterdir()
        }
        assert there == {image.tobytes() for image in found.train.images[found.train.labels == label]}
