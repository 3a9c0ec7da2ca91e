"""Images from every kind of source are the same images; a mistake is told in one sentence."""

import tarfile

import numpy as np
import pytest
from small_images import CLASSES, class_folders, official, pack, write

from pipeline.images.sources import read
from pipeline.project.errors import InputError


def refusal(path):
    """The sentence that refuses `path`."""
    with pytest.raises(InputError) as refused:
        read(path)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("inside", [".", "birds"])
@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "zip"])
def test_an_archive_of_class_folders_gives_what_the_folder_gives(tmp_path, suffix, inside):
    root = class_folders(tmp_path / "birds")
    folder, packed = read(root), read(pack(root, tmp_path / f"birds.{suffix}", inside))
    assert packed.digest() == folder.digest()
    assert (folder.name, folder.source) == ("birds", "class folders in birds/")
    assert (packed.name, packed.source) == ("birds", f"class folders in birds.{suffix}")
    assert folder.classes == list(CLASSES) and folder.notices == packed.notices == []
    assert np.bincount(folder.labels["train"]).tolist() == [3, 3, 3]


def test_cifar10s_batches_give_what_class_folders_give(tmp_path, monkeypatch):
    root = class_folders(tmp_path / "source")
    batches = official(root, tmp_path / "data/cifar-10-batches-py", monkeypatch)
    archive = pack(batches, tmp_path / "mine.tar.gz", "cifar-10-batches-py")
    for path in (batches, batches.parent, archive):
        images = read(path)
        assert images.digest() == read(root).digest() and images.name == "CIFAR-10"
        assert images.source == f"official batches in {path.name}"
    assert read(batches, (16, 24)).notices == ["images of up to 32×32 pixels were resized to 24×16"]


def test_what_systems_leave_there_is_passed_over_and_what_else_is_left_out_is_said(tmp_path):
    quiet = ("README.md", "train/labels.csv", "train/.DS_Store")
    quiet += ("__MACOSX/train/cat/._0.png", "train/.ipynb_checkpoints/0.png")
    root = write(class_folders(tmp_path / "set"), dict.fromkeys(quiet, b"x"))
    for path in (root, pack(root, tmp_path / "a.tar"), pack(root, tmp_path / "a.zip")):
        assert read(path).notices == []
    strays = ("train/cat/7.heic", "train/cat/deep/9.png", "val/cat/0.png")
    images = read(write(root, dict.fromkeys(strays, b"x")))
    assert images.classes == list(CLASSES) and len(images.labels["train"]) == 9
    assert images.notices == [
        "files that are no images by their place or their name were left out: 3, the first "
        "train/cat/7.heic"
    ]


def test_linked_class_folders_are_followed(tmp_path):
    root = class_folders(tmp_path / "source")
    for split in ("train", "test"):
        (tmp_path / "linked" / split).mkdir(parents=True)
        for name in CLASSES:
            (tmp_path / "linked" / split / name).symlink_to(root / split / name)
    assert read(tmp_path / "linked").digest() == read(root).digest()


@pytest.mark.parametrize(
    "links", [{"again": "."}, {"train/cat/again": "train"}, {"train/a": "test", "test/a": "train"}]
)
def test_a_link_to_a_folder_that_holds_it_is_refused(tmp_path, links):
    root = class_folders(tmp_path / "birds")
    for link, target in links.items():
        (root / link).symlink_to(root / target)
    assert "a link to a folder that holds it; remove the link" in refusal(root)


def test_a_link_to_what_is_not_there_leaves_out_no_class_in_silence(tmp_path):
    for split in ("train", "test"):
        (class_folders(tmp_path / "birds") / split / "finch").symlink_to("/nowhere")
    assert "finch is a link to what is not there; remove or mend it" in refusal(tmp_path / "birds")


def test_a_pointer_of_git_lfs_is_told_from_the_file_in_whose_place_it_is(tmp_path, monkeypatch):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    root = class_folders(tmp_path / "set")
    batches = official(root, tmp_path / "data", monkeypatch)
    for folder, name in ((root, "train/cat/0.png"), (batches, "data_batch_1")):
        write(folder, {name: pointer})
        assert f"{name} is a Git-LFS pointer in the place of the file, which" in refusal(folder)
    write(tmp_path, {"set.zip": pointer})
    assert "set.zip is a Git-LFS pointer" in refusal(tmp_path / "set.zip")


CUT = "is no .tar, .tar.gz or .zip archive, or only a part of one; fetch it again"


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "zip"])
def test_half_a_download_is_refused_wherever_it_was_cut(tmp_path, suffix):
    whole = pack(class_folders(tmp_path / "set"), tmp_path / f"whole.{suffix}")
    data, half = whole.read_bytes(), tmp_path / f"half.{suffix}"
    cuts = [0, 100, len(data) // 2, len(data) - 12_000]
    if suffix == "tar":  # between two files, and within a header
        with tarfile.open(whole) as archive:
            cuts += [archive.getmembers()[12].offset, archive.getmembers()[12].offset + 100]
    for cut in cuts:
        half.write_bytes(data[:cut])
        assert refusal(half) == f"{half} {CUT}"
