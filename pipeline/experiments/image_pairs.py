"""`image_pairs` (paper 2, §4, fig 3): images ⊕ D(v), a linear channel beside real
images.

The images are the binary problem of two sides of their classes (CIFAR-10: class < 5
against the rest), three channels normalised by the training images' mean and deviation;
the fourth channel is D(v), paired by label, v a NAD of the network itself. Indices of
NADs begin at 0, which is a choice, since paper 2 does not say.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import torch

from pipeline.experiments.experiment import PictureExperiment, shape_of
from pipeline.experiments.plan import AmplitudePerArchitecture
from pipeline.project.errors import InputError
from pipeline.training import separable


@dataclasses.dataclass(frozen=True)
class Settings(AmplitudePerArchitecture):
    """Amplitude ε of D(v), its noise σ by architecture, and the classes on the positive
    side."""

    positive: tuple[str, ...] | None = None

    def sides(self, classes: Sequence[str]) -> tuple[list[str], list[str]]:
        """The names of the classes on the negative and on the positive side, in order."""
        positive = (
            classes[len(classes) // 2 :] if self.positive is None else self.positive
        )
        sides = [
            [name for name in classes if (name in positive) == side]
            for side in (False, True)
        ]
        if not all(sides) or not set(positive) <= set(classes):
            raise InputError(
                "params.yaml: image_pairs.positive must name some, not all, of the classes "
                f"{', '.join(classes)}"
            )
        return tuple(sides)


class ImagePairs(PictureExperiment):
    """Three channels of a picture and a linearly separable one along a NAD."""

    channels = 4
    parts = {"images": slice(0, 3), "linear": slice(3, 4)}
    Settings = Settings

    def values(self, plan, architecture):
        """ε, and the architecture's σ."""
        return {"eps": plan.settings.eps, "sigma": plan.settings.sigma[architecture]}

    def draw(self, plan, seed, images):
        """Pictures, labels (N,) of their sides, and draws (N, D) of the linear channel.

        Also half_gap (3, H, W): half the difference between the two sides' means of the
        normalised training pictures.
        """
        arrays = super().draw(plan, seed, images)
        chosen = arrays["train_pictures"]
        positive = arrays["train_labels"] > 0
        one, other = (
            chosen[side].mean(0, dtype=np.float64) for side in (positive, ~positive)
        )
        half_gap = (one - other) / 2 / 255 / arrays["deviation"].reshape(3, 1, 1)
        return arrays | {"half_gap": half_gap.astype(np.float32)}

    def positive(self, plan, classes):
        """The numbers of the classes on the positive side."""
        return [classes.index(name) for name in plan.settings.sides(classes)[1]]

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 4, H, W) and class numbers (N,) of a cell; directions: v alone,
        (H·W,)."""
        linear = self.linear(cell, split, draw, directions[0])
        x = separable.direct_sum(self.pictures(split, draw), linear)
        return x, self.classes(split, draw)

    def test_sets(self, cell, draw, directions):
        """All channels, each part alone, and `conflict`: images of one side, D(v) of
        the other.

        A part alone stands beside zeros, which do not occur in training. In a conflict
        every channel is as in training, and a network follows either the linear channel
        or the images.
        """
        yield from super().test_sets(cell, draw, directions)
        x, y = self.dataset(cell, "test", draw, directions)
        sides = [np.flatnonzero(y == side) for side in (0, 1)]
        if all(map(len, sides)):
            images = x[:, :3].clone()
            for one, other in (sides, sides[::-1]):
                x[one, :3] = images[np.resize(other, len(one))]
            yield "conflict", x, y

    def plane(self, cell, draw, directions):
        """The plane's directions (4, H, W): half the gap between the images' class
        means, and 0⊕v.

        Images have no v₁, so the gap between their class means replaces it (choice).
        With half the gap as unit, the class means lie at ±1.
        """
        shape = self.inputs(shape_of(cell))
        first = torch.zeros(shape)
        second = torch.zeros(shape)
        first[:3] = torch.as_tensor(draw["half_gap"])
        second[3] = torch.as_tensor(directions[0]).reshape(shape[1:])
        return first, second
