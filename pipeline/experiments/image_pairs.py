"""`image_pairs` (paper 2, §4, fig 3): images ⊕ D(v), real images with a linear channel beside them; which is used?

The images are the binary problem of their classes (CIFAR-10: class < 5 against the rest), three channels normalised by
the training images' mean and deviation; the fourth channel is D(v), paired by label, v a NAD of the network itself.
"""

import numpy as np
import torch

from pipeline.datasets import pictures, separable
from pipeline.grid.experiment import AmplitudePerArchitecture, Experiment, check_every_noise
from pipeline.measures.boundaries import mean_tilt
from pipeline.project.seeds import stream
from pipeline.project.shapes import SIDE


class ImagePairs(Experiment):
    """Three channels of a picture and a linearly separable one along a NAD."""

    channels = 4
    needs_images = True
    parts = {"images": slice(0, 3), "linear": slice(3, 4)}
    Settings = AmplitudePerArchitecture

    def check(self, plan):
        """Every architecture has its σ."""
        check_every_noise(plan)

    def values(self, plan, architecture):
        """ε and the architecture's σ."""
        return {"eps": plan.settings.eps, "sigma": plan.settings.sigma[architecture]}

    def draw(self, plan, seed, images):
        """For both splits: pictures, their binary labels (N,), and the linear channel's draws (N, D).

        With them half_gap (3, 32, 32), half the difference of the class means of the normalised training pictures. Where
        fewer images exist than asked for, all of them are used.
        """
        arrays = pictures.normalisation(images)
        for split, count in (("train", plan.train_samples), ("test", plan.test_samples)):
            rng = stream(seed, self.name, split)
            arrays[f"{split}_pictures"], classes = pictures.chosen(rng, images, split, count)
            arrays[f"{split}_labels"] = pictures.binary(classes, len(images["classes"]))
            arrays[f"{split}_normal"] = separable.normal(rng, len(classes))
        chosen, positive = arrays["train_pictures"], arrays["train_labels"] > 0
        gap = chosen[positive].mean(0, dtype=np.float64) - chosen[~positive].mean(0, dtype=np.float64)
        arrays["half_gap"] = (gap / 2 / 255 / arrays["deviation"].reshape(3, 1, 1)).astype(np.float32)
        return arrays

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 4, 32, 32) and class numbers (N,) of a cell's `split`; directions: v alone, (D,)."""
        y, (v,) = draw[f"{split}_labels"], directions
        channels = pictures.normalised(
            pictures.in_unit_range(draw[f"{split}_pictures"]), draw["mean"], draw["deviation"]
        )
        linear = separable.linearly_separable(draw[f"{split}_normal"], y, v, cell["eps"], cell["sigma"])
        return separable.direct_sum(channels, linear), torch.as_tensor(y > 0).long()

    def plane(self, cell, draw, directions):
        """The boundary's plane, each (4, 32, 32): half the way between the images' class means, and 0⊕v.

        The images have no v₁; the difference of the two class means stands in for it (choice), and half of it is the unit of
        its axis, so that the class means lie at ±1.
        """
        first, second = torch.zeros(4, SIDE, SIDE), torch.zeros(4, SIDE, SIDE)
        first[:3] = torch.as_tensor(draw["half_gap"])
        second[3] = torch.as_tensor(directions[0]).reshape(SIDE, SIDE)
        return first, second

    def metrics(self, tables, directions):
        """Accuracies at the lowest and highest index, where reliance switches, mean tilt.

        `switches_at` is the smallest index at which the images alone are more accurate than the linear channel alone.
        """
        summary, boundaries = {}, tables["boundaries"]
        for name, rows in tables["results"].groupby("architecture", sort=False):
            means = rows.groupby(["index", "test_set"])["accuracy"].mean()
            indices = sorted(rows["index"].unique())
            images_win = [i for i in indices if means[i, "images"] > means[i, "linear"]]
            summary[name] = {
                "accuracy": {
                    end: {s: round(means[i, s], 4) for s in ("all", *self.parts)}
                    for end, i in (("low", indices[0]), ("high", indices[-1]))
                },
                "switches_at": int(images_win[0]) if images_win else None,
                "mean_tilt": mean_tilt(boundaries[boundaries["architecture"] == name]),
            }
        return summary
