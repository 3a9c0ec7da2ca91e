"""A trained network of your own at images: what it responds to, beside untrained
networks."""

import dataclasses
import math
import os
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
import safetensors.torch
import torch
from scipy.sparse.linalg import svds
from torch import nn

from pipeline import networks
from pipeline.images import sources
from pipeline.images.image_set import ImageSet
from pipeline.measures.gradients import output_gradients
from pipeline.networks import Shape, Specification
from pipeline.profile.response import Response
from pipeline.project.errors import InputError
from pipeline.project.progress import progress
from pipeline.training import loop, pictures, seeds

IMAGES = 1000  # test images, at most
UNTRAINED = 8  # untrained networks, each at one image at least
VALUES = 2**26  # numbers in the gradients of more images than that (512 MiB)

Weights = dict[str, torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A trained network at test images.

    C is the mean over images of Σ ∇f_k ∇f_kᵀ, f the outputs less their mean: the
    average gradient outer product (arXiv 2309.00570).

    Attributes:
        images: Name of the set of images.
        classes: Number of its classes.
        tested: Number of test images.
        accuracy: Test accuracy.
        answers: Number of classes that the network predicts.
        count: Number of images at which gradients are taken.
        before: Response of untrained networks, by their gradients at these images.
        after: Response of the trained network.
        notices: Sentences on what may be a mistake.
    """

    images: str
    classes: int
    tested: int
    accuracy: float
    answers: int
    count: int
    before: Response
    after: Response
    notices: list[str]

    def tabulate(self) -> dict[str, Any]:
        """Return the results as values that JSON has."""
        keys = ("images", "classes", "tested", "accuracy", "answers")
        return {key: getattr(self, key) for key in keys}

    def directions(self, count: int) -> np.ndarray:
        """Return the first eigenvectors (K, D) of C, `count` of them or fewer."""
        rows = self.after.rows
        side = min(rows.shape)
        if not rows.any():  # a network whose outputs are the same for all images
            return rows[: min(count, side - 1)]
        # Of these few directions only, since a whole SVD takes a minute.
        return svds(rows, min(count, side - 1), v0=np.ones(side))[2][::-1]


def measure(
    specification: Specification,
    shape: Shape,
    weights: str,
    images: str,
    device: torch.device,
) -> Checkpoint:
    """Measure a trained network at images.

    The images are normalised as for the pipeline's networks, and grey if the network
    has one channel.

    Args:
        specification: The network.
        shape: (C, H, W) of one input.
        weights: Path of its weights.
        images: Path of the images.
        device: Where the network is run.

    Raises:
        InputError: If the weights are not this network's.
    """
    stored = read_weights(weights)
    with progress("reading images"):
        source = sources.read(images, shape[1:])
    classes = len(source.classes)
    network = networks.build(specification, shape[0], classes, 0)
    notices = [*source.notices, *load(network, stored, weights)]
    x, labels = _choose_images(source, shape[0], device)
    logits = loop.logits(network, x).cpu()
    answers = logits.argmax(1).numpy()
    count = max(UNTRAINED, VALUES // (math.prod(shape) * classes))
    some = x[:: math.ceil(len(x) / count)]  # images are sorted by content
    after = _response((network, part) for part in some.split(loop.BATCH))
    if not (logits.isfinite().all() and math.isfinite(after.mean)):
        raise InputError(
            f"the outputs or gradients of {weights} at these images are not finite; "
            "look for weights that are not, or give the images with which it was "
            "trained",
            "not-finite",
        )
    untrained = []
    for number, part in enumerate(some.tensor_split(UNTRAINED)):
        seed = seeds.derive("profile", "weights", number)
        fresh = networks.build(specification, shape[0], classes, seed)
        untrained.append((fresh.to(device), part))
    return Checkpoint(
        images=source.name,
        classes=classes,
        tested=len(x),
        accuracy=float((answers == labels).mean()),
        answers=len(np.unique(answers)),
        count=len(some),
        before=_response(untrained),
        after=after,
        notices=notices,
    )


def _choose_images(
    source: ImageSet, channels: int, device: torch.device
) -> tuple[torch.Tensor, np.ndarray]:
    """Normalised test images (N, C, H, W), grey for one channel, and their labels."""
    test = {"test_images": source.images["test"], "test_labels": source.labels["test"]}
    stream = seeds.stream("profile", "images")
    pixels, labels = pictures.choose(stream, test, "test", IMAGES)
    mean, deviation = source.statistics()
    statistics = {"mean": mean, "deviation": deviation}
    x = pictures.normalise(pictures.in_unit_range(pixels), statistics)
    if channels == 1:
        x = x.mean(1, keepdim=True)
    return loop.channels_last(x, device), labels


def _response(pairs: Iterable[tuple[nn.Module, torch.Tensor]]) -> Response:
    """The response of networks, each at images (N, C, H, W) of its own."""
    rows = []
    count = 0
    for network, x in pairs:
        for gradient in output_gradients(network, x):
            rows.append(gradient.flatten(1).cpu().double())
        count += len(x)
    return Response(torch.cat(rows).numpy() / count**0.5, tuple(x.shape[1:]))


def read_weights(path: str) -> Weights:
    """Read weights by name from a safetensors file.

    Files of `torch.save` are pickles, which are never read.

    Raises:
        InputError: If the file cannot be read.
    """
    try:
        return safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        raise InputError(
            f"--weights {path} cannot be read as a safetensors file ({error}); where "
            "you can load the network, write one with "
            "`safetensors.torch.save_model(network, 'weights.safetensors')`",
            "unreadable-file",
            path=path,
        ) from None


def load(network: nn.Module, stored: Weights, path: str) -> list[str]:
    """Load stored weights into a network.

    Args:
        network: The network.
        stored: Its weights by name. Names may have one common prefix, as wrappers add,
            and weights that layers share may have one of their names.
        path: The file's path, for messages.

    Returns:
        A notice where the prefix of the names was changed.

    Raises:
        InputError: If the weights are not this network's.
    """
    state = network.state_dict()
    stored = dict(stored)
    prefix = _common_prefix(stored)
    wanted = _common_prefix(state)
    notices = []
    if prefix != wanted and not stored.keys() <= state.keys():
        notices.append(
            f"names in {path} begin with {prefix!r}, which is taken as {wanted!r}"
        )
        stored = {
            wanted + name.removeprefix(prefix): value for name, value in stored.items()
        }
    for name in state.keys() - stored.keys():  # safetensors saves shared weights once
        for other in state.keys() & stored.keys():
            if state[name].is_set_to(state[other]):
                stored[name] = stored[other]
    try:
        network.load_state_dict(stored)
    except RuntimeError as error:
        reason = textwrap.shorten(str(error), 400).rstrip(".")
        raise InputError(
            f"the weights of {path} are not those of this network: {reason}. Give the "
            "arguments with which it was trained, the shape of its inputs (--input "
            "CxHxW), and images with one class for each output",
            "wrong-shape",
            path=path,
        ) from None
    for name, value in stored.items():
        if state[name].is_floating_point() and not value.is_floating_point():
            raise InputError(
                f"{name} in {path} has values of {value.dtype}, which are no weights "
                f"({state[name].dtype}); give the weights as they were before "
                "quantisation",
                "wrong-type",
                name=name,
            )
    return notices


def _common_prefix(names: Iterable[str]) -> str:
    """The modules in which all names are, such as 'module.'."""
    prefix = os.path.commonprefix([name[: name.rfind(".") + 1] for name in names])
    return prefix[: prefix.rfind(".") + 1]
