"""Class folders, `train/<class>/<image>` and `test/<class>/<image>`, as a set of images.

What is left out, or changed besides being resized, is said in a notice; what would leave out a class, or images that were
meant, is refused.
"""

import os
import unicodedata
from collections import defaultdict

import numpy as np

from pipeline.images import decoding
from pipeline.images.entries import Entry
from pipeline.images.image_set import ImageSet, Split, resized
from pipeline.images.names import check_class, dropped, shown
from pipeline.project.errors import InputError
from pipeline.project.shapes import INPUT, Input

SPLITS = ("train", "test")


class Layout:
    """Where the images of each split stand, told by names alone; `source` is what sentences call the folder or archive."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.classes: dict[str, set[str]] = {split: set() for split in SPLITS}
        """The class folders of each split in which images stand."""
        self.folders: set[tuple[str, ...]] = set()
        """All folders that may be class folders, whether or not images stand in them."""
        self.roots: dict[str, tuple[str, ...]] = {}
        """Where the folders train/ and test/ themselves stand."""
        self.seen: set[str] = set()
        self.left_out: list[str] = []

    def note(self, entry: Entry) -> tuple[str, str] | None:
        """The split and the class of an entry that is an image of either; None for any other.

        Raises InputError for what stands in a split but cannot be read, or not told from what came before.
        """
        parts = entry.parts
        if dropped(parts):
            return None
        if entry.obstacle:
            if set(SPLITS) & set(parts):
                raise InputError(f"{shown(entry.name)} {entry.obstacle}")
            return None
        if not entry.read:
            if len(parts) >= 2 and parts[-2] in SPLITS and not parts[-1].startswith("."):
                self.folders.add(parts)
            return None
        image = os.path.splitext(entry.name)[1].lower() in decoding.SUFFIXES
        inside = len(parts) >= 3 and parts[-3] in SPLITS
        if not inside or not image or parts[-1].startswith(".") or parts[-2].startswith("."):
            if inside or image:
                self.left_out.append(entry.name)
            return None
        split, name = parts[-3:-1]
        if self.roots.setdefault(split, parts[:-3]) != parts[:-3]:
            raise InputError(f"{self.source}: more than one folder {split}/ holds images; keep one set of images")
        if name not in self.classes[split]:
            check_class(name, self.source)
            self.classes[split].add(name)
        path = "/".join(parts)
        if path in self.seen:
            raise InputError(f"{self.source}: {shown(path)} is in it twice; pack it again")
        self.seen.add(path)
        return split, name

    def check(self) -> list[str]:
        """The classes in order; raises InputError unless both splits hold the same ones, at least two, and each has images."""
        for split in SPLITS:
            if len(self.classes[split]) < 2:
                elsewhere = f" (left out is {shown(min(self.left_out))})" if self.left_out else ""
                raise InputError(
                    f"{self.source}: {split}/ holds {len(self.classes[split])} class folder(s) with images; at least "
                    f"two are needed, as train/<class>/* and test/<class>/*{elsewhere}"
                )
        for split in SPLITS:
            there = {parts[-1] for parts in self.folders if parts[:-1] == (*self.roots[split], split)}
            if empty := sorted(there - self.classes[split]):
                raise InputError(f"{self.source}: {split}/{shown(empty[0])}/ holds no images; fill or remove it")
        if single := sorted(self.classes["train"] ^ self.classes["test"]):
            raise InputError(
                f"{self.source}: train/ and test/ do not hold the same classes "
                f"({shown(', '.join(single))}: in one of them only)"
            )
        return sorted(self.classes["train"])

    def notices(self) -> list[str]:
        """What the user may not have meant."""
        found, alike = [], defaultdict(list)
        if self.left_out:
            found.append(
                f"files that are no images by their place or their name were left out: {len(self.left_out)}, "
                f"the first {shown(min(self.left_out))}"
            )
        for name in sorted(self.classes["train"]):
            alike[unicodedata.normalize("NFC", name).casefold()].append(name)
        for names in alike.values():
            if len(names) > 1:
                found.append(f"classes whose names differ in little were kept apart: {shown(', '.join(names))}")
        return found


class ClassFolders:
    """The images of class folders, read one by one in any order, each brought to the height and width `size`."""

    def __init__(self, source: str, size: Input = INPUT) -> None:
        self.layout, self.size = Layout(source), size
        self.pixels: dict[str, bytearray] = {split: bytearray() for split in SPLITS}
        self.labels: dict[str, list[str]] = {split: [] for split in SPLITS}
        self.sizes: set[tuple[int, int]] = set()
        self.done: dict[str, list[str]] = defaultdict(list)

    def add(self, entry: Entry) -> None:
        """Read an entry, if it is an image of one of the splits; raises InputError if it cannot be read."""
        place = self.layout.note(entry)
        if place is None:
            return
        split, name = place
        picture = decoding.picture(entry.name, entry.read(), self.size)
        self.pixels[split] += picture.pixels
        self.labels[split].append(name)
        self.sizes.add(picture.size)
        for what in picture.done:
            self.done[what].append(entry.name)

    def image_set(self, name: str) -> ImageSet:
        """What has been read, called `name`; raises InputError if it does not make up a set."""
        classes = self.layout.check()
        number = {name: label for label, name in enumerate(classes)}
        splits = []
        for split in SPLITS:
            pixels = np.frombuffer(self.pixels.pop(split), np.uint8).reshape(-1, *self.size, 3)
            labels = np.array([number[name] for name in self.labels[split]])
            splits.append(Split(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)), labels))
        notices = []
        if self.sizes != {self.size[::-1]}:
            notices.append(resized(max(self.sizes, key=lambda size: size[0] * size[1])[::-1], self.size))
        for what, names in sorted(self.done.items()):
            notices.append(f"{what}: {len(names)} image(s), the first {shown(min(names))}")
        return ImageSet(name, self.layout.source, classes, *splits, notices + self.layout.notices())
