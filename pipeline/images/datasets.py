"""CIFAR-10's official batches and class folders, as datasets of torchvision."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import PIL.Image
from torchvision.datasets import CIFAR10, ImageFolder, VisionDataset
from torchvision.datasets.folder import is_image_file

from pipeline.project.errors import InputError, prefix_errors


class Batches(CIFAR10):
    """CIFAR-10's official batches in the folder `root`.

    torchvision unpickles a batch only after its md5 has proved to be the official one.
    """

    base_folder = ""


class ClassFolders(ImageFolder):
    """The images `root`/<class>/<image>.

    Attributes:
        left_out: Visible files that are deeper in a class folder or are not images.
    """

    def __init__(self, root: Path) -> None:
        self.left_out: list[str] = []
        super().__init__(
            root,
            loader=load,
            is_valid_file=self._is_image,
            allow_empty=True,
        )

    def _is_image(self, path: str) -> bool:
        inside = Path(path).relative_to(self.root)
        if any(part.startswith(".") for part in inside.parts):
            return False
        # ImageFolder labels a file deeper down by its outermost folder, which is
        # "train" for train/train/<class>/<image>.
        if len(inside.parts) == 2 and is_image_file(path):
            return True
        self.left_out.append(f"{Path(self.root).name}/{inside}")
        return False


def load(path: str) -> PIL.Image.Image:
    """Load an image file as RGB, as ImageFolder does.

    Args:
        path: The file.

    Raises:
        InputError: Pillow cannot read the file, or the image has more than 8 bits.
    """
    name = "/".join(Path(path).parts[-3:])
    with (
        prefix_errors(f"{name}: ", Exception, kind="unreadable-file"),
        PIL.Image.open(path) as picture,
    ):
        # Pillow turns nearly all values of such an image into white.
        if picture.mode.startswith(("I", "F")):
            raise InputError(
                f"the image has more than 8 bits per value (mode {picture.mode}); save "
                "it with 8 bits",
                "unreadable-file",
            )
        return picture.convert("RGB")


def iterate_pictures(
    datasets: Mapping[str, VisionDataset],
) -> Iterator[tuple[str, str, PIL.Image.Image]]:
    """Iterate over the images of several splits.

    Args:
        datasets: A dataset with `classes` for each split.

    Yields:
        Split, class name and picture.
    """
    for split, dataset in datasets.items():
        for number in range(len(dataset)):
            picture, label = dataset[number]
            yield split, dataset.classes[label], picture
