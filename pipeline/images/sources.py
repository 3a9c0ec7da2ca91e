"""Images from whatever a path names: CIFAR-10's official archive or its extracted folder, or class folders.

Class folders are `train/<class>/*` and `test/<class>/*`, as a directory, .tar, .tar.gz or .zip.
"""

import stat
from pathlib import Path

from pipeline.images import archives, cifar10, entries
from pipeline.images.class_folders import ClassFolders, Layout
from pipeline.images.image_set import ImageSet
from pipeline.images.names import shown
from pipeline.project.errors import InputError
from pipeline.project.shapes import INPUT, Input


def read(path: str | Path, size: Input = INPUT) -> ImageSet:
    """The images at `path`, brought to the height and width `size`.

    Raises InputError if the path does not exist or is no file or folder, is truncated or damaged, or does not hold at least
    two classes.
    """
    try:
        path = Path(path).expanduser()
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(
            f"the images' path {shown(path)} does not exist; name a folder or archive, or null for CIFAR-10"
        ) from None
    except RuntimeError:
        raise InputError(f"the images' path {shown(path)} begins with ~, but there is no such home folder") from None
    except OSError as error:
        raise InputError(f"the images' path {shown(path)} cannot be read ({error.strerror}); name another") from None
    if stat.S_ISDIR(mode):
        return _of_folder(path, size).brought_to(size)
    # Opening a FIFO would wait for ever, and a device may give bytes for ever.
    if not stat.S_ISREG(mode):
        raise InputError(f"the images' path {shown(path)} is neither a file nor a folder; name a folder or archive")
    return _of_archive(path, size).brought_to(size)


def _of_folder(path: Path, size: Input) -> ImageSet:
    name = shown(path.resolve().name or "images")
    for folder in (path, path / cifar10.FOLDER):
        if (folder / cifar10.TRAIN_BATCHES[0]).exists():
            return cifar10.official(
                lambda batch, folder=folder: entries.content(folder / batch, f"the CIFAR-10 folder's file {batch}"),
                f"extracted archive {shown(folder.name)}",
            )
    return _of_list(entries.of_folder(path), name, f"class folders in {name}/", size)


def _of_list(found: list[entries.Entry], name: str, source: str, size: Input) -> ImageSet:
    """Class folders of which all names are known before the first image is read."""
    layout, folders = Layout(source), ClassFolders(source, size)
    for entry in found:
        layout.note(entry)
    layout.check()
    for entry in found:
        folders.add(entry)
    return folders.image_set(name)


def _of_archive(path: Path, size: Input) -> ImageSet:
    name, source = shown(path.name.split(".")[0] or path.name), f"class folders in {shown(path.name)}"
    with archives.entries(path) as found:
        if isinstance(found, list) and not any(map(_batch, found)):
            return _of_list(found, name, source, size)
        folders, batches = ClassFolders(source, size), {}
        for entry in found:
            if batch := _batch(entry):
                batches[batch] = entry.read()
            else:
                folders.add(entry)
    if not batches:
        return folders.image_set(name)
    for batch in cifar10.BATCHES:
        if batch not in batches:
            raise InputError(f"{shown(path)} is incomplete: {batch} is missing; fetch it again")
    return cifar10.official(batches.__getitem__, f"official archive {shown(path.name)}")


def _batch(entry: entries.Entry) -> str | None:
    """The name of the official batch that an entry is; None if it is none."""
    name = entry.name.rpartition("/")[2]
    return name if name in cifar10.BATCHES and entry.read else None
