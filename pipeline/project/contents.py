"""What the files that stages hand to each other hold: the shapes of arrays, the keys of JSON. See `pipeline.project.artifacts`."""

import dataclasses
import hashlib
import typing
from collections.abc import Iterable

import numpy as np

from pipeline.project.formats import Shapes

IMAGE_SHAPES: Shapes = {"images": ("u", ("N", 3, "H", "W")), "labels": ("iu", ("N",))}
"""What data/images holds of either split."""

NADS_SHAPES: Shapes = {
    "directions": ("f", ("K", "D")),
    "shape": ("iu", (3,)),
    "eigenvalues": ("f", ("K",)),
    "standard_errors": ("f", ("K",)),
    "nearby": ("iu", ("K", 2)),
    "groups": ("iu", ("K",)),
    "halves": ("f", (2, "K")),
    "overlap": ("f", ("K",)),
    "trace": ("fiu", ("n", 2)),
    **{name: ("fiu", ()) for name in ("error", "split_half", "networks", "step", "asymmetry")},
    **{name: ("U", ()) for name in ("estimand", "method", "point", "symmetry")},
}
"""What data/nads holds of an architecture: the fields of `pipeline.nads.NADs`."""

DRAW_SHAPES: Shapes = {
    **{f"{split}_labels": ("iuf", (split,)) for split in ("train", "test")},
    **{
        f"{split}_{kind}": (type_, (split, 3, "H", "W"))
        for split in ("train", "test")
        for kind, type_ in (("pictures", "u"), ("mixture", "f"))
    },
    "half_gap": ("f", (3, "H", "W")),
    "mean": ("f", (3,)),
    "deviation": ("f", (3,)),
}
"""What a draw holds, where it holds arrays of these names."""


@dataclasses.dataclass
class Machine:
    """data/plan/machine.json."""

    device: typing.Literal["auto", "cpu", "cuda"]
    reuse: bool


@dataclasses.dataclass
class About:
    """What images are: about.json of data/images, images.json of an experiment's data."""

    name: str
    classes: list[str]
    train: int
    test: int
    digest: str
    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]


def images_digest(classes: Iterable[str], splits: Iterable[tuple[np.ndarray, np.ndarray]]) -> str:
    """sha256 of the classes' names and of each split's pixels (uint8) and labels: what about.json calls the digest of images."""
    state = hashlib.sha256("\n".join(classes).encode())
    for images, labels in splits:
        state.update(images.reshape(-1))
        state.update(labels.astype("<i8"))
    return state.hexdigest()


@dataclasses.dataclass
class Grid:
    """models/{experiment}/grid.json."""

    scale: str
    seeds: int
    precision: str
    architectures: dict[str, dict[str, typing.Any]]


Digests = dict[str, dict[str, str]]
"""digests.json: of the arrays of each seed's draw."""
