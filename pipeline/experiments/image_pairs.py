"""`image_pairs` (paper 2, §4, fig 3): images ⊕ D(v), a linear channel beside real
images.

The images are the binary problem of two sides of their classes (CIFAR-10: class < 5
against the rest): three channels, normalised by the training images' mean and
deviation. The fourth channel is D(v), paired by label, where v is a NAD of the network
itself. Indices of NADs begin at 0, which is a choice, since paper 2 does not say.
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
        """Return the classes on the negative and on the positive side, in order.

        Raises:
            InputError: A side is empty, or a positive class is unknown.
        """
        positive = self.positive
        if positive is None:
            positive = classes[len(classes) // 2 :]
        above = [name for name in classes if name in positive]
        below = [name for name in classes if name not in positive]
        if not above or not below or not set(positive) <= set(classes):
            raise InputError(
                "params.yaml: image_pairs.positive must name some, not all, of the "
                f"classes {', '.join(classes)}",
                "unknown-name",
            )
        return below, above


class ImagePairs(PictureExperiment):
    """Three channels of a picture and a linearly separable one along a NAD."""

    channels = 4
    needs_networks = True
    channel_groups = {"images": slice(0, 3), "linear": slice(3, 4)}
    Settings = Settings

    def values(self, plan, architecture):
        """Return ε and the architecture's σ."""
        return {"eps": plan.settings.eps, "sigma": plan.settings.sigma[architecture]}

    def draw_base_noise(self, plan, seed, images):
        """Draw pictures, labels (N,) of their sides, and standard-normal numbers.

        The array half_gap (3, H, W) is half the difference between the two sides' means
        of the normalised training pictures.
        """
        arrays = super().draw_base_noise(plan, seed, images)
        pictures = arrays["train_pictures"]
        positive = arrays["train_labels"] > 0
        above = pictures[positive].mean(0, dtype=np.float64)
        below = pictures[~positive].mean(0, dtype=np.float64)
        half_gap = (above - below) / 2 / 255 / arrays["deviation"].reshape(3, 1, 1)
        arrays["half_gap"] = half_gap.astype(np.float32)
        return arrays

    def positive(self, plan, classes):
        """Return the numbers of the classes on the positive side."""
        _, above = plan.settings.sides(classes)
        return [classes.index(name) for name in above]

    def dataset(self, cell, split, base_noise, directions):
        """Return inputs (N, 4, H, W) and class numbers (N,); directions: v (H·W,)."""
        pictures = self.normalised_pictures(split, base_noise)
        linear = self.make_linear_channel(cell, split, base_noise, directions[0])
        x = separable.direct_sum(pictures, linear)
        return x, self.classes(split, base_noise)

    def test_sets(self, cell, base_noise, directions):
        """Yield all channels, each group by itself, and `conflict`: images of one side,
        D(v) of the other.

        A group by itself is beside zeros, which do not occur in training. In a conflict
        every channel is as in training, and a network follows either the linear channel
        or the images.
        """
        sets = super().test_sets(cell, base_noise, directions)
        name, x, y = next(sets)
        yield name, x, y
        yield from sets
        x = x.clone()
        below = np.flatnonzero(y == 0)
        above = np.flatnonzero(y == 1)
        if len(below) and len(above):
            images = x[:, :3].clone()
            x[below, :3] = images[np.resize(above, len(below))]
            x[above, :3] = images[np.resize(below, len(above))]
            yield "conflict", x, y

    def boundary_plane(self, cell, base_noise, directions):
        """Return half the gap between the images' class means, and 0⊕v, each (4, H, W).

        Images have no v₁, so the gap between their class means replaces it (choice).
        With half the gap as unit, the class means are at ±1.
        """
        shape = self.inputs(shape_of(cell))
        first = torch.zeros(shape)
        second = torch.zeros(shape)
        first[:3] = torch.as_tensor(base_noise["half_gap"])
        second[3] = torch.as_tensor(directions[0]).reshape(shape[1:])
        return first, second
