"""A trained network of your own at images: what it responds to, beside untrained
networks."""

import dataclasses
import functools
import math
import os
import textwrap
from collections.abc import Iterable

import numpy as np
import safetensors.torch
import torch
from scipy.sparse.linalg import svds
from torch import nn

from pipeline import networks
from pipeline.images import sources
from pipeline.measures.gradients import output_gradients
from pipeline.networks import Shape, Specification
from pipeline.profile.response import Response
from pipeline.project.errors import InputError
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

    def directions(self, count: int) -> np.ndarray:
        """Return the first eigenvectors (K, D) of C, `count` of them or fewer."""
        rows = self.after.rows
        side = min(rows.shape)
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

    Images reach it as they reach the pipeline's networks, in grey if it has one
    channel.

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
    found = sources.read(images, shape[1:])
    build = functools.partial(
        networks.build, specification, shape[0], len(found.classes)
    )
    network = build(0)
    notices = [*found.notices, *load(network, stored, weights)]
    test = {"test_images": found.images["test"], "test_labels": found.labels["test"]}
    chosen, labels = pictures.choose(
        seeds.stream("profile", "images"), test, "test", IMAGES
    )
    statistics = dict(zip(("mean", "deviation"), found.statistics(), strict=True))
    x = pictures.normalise(pictures.in_unit_range(chosen), statistics)
    if shape[0] == 1:
        x = x.mean(1, keepdim=True)
    x = loop.channels_last(x, device)
    outputs = loop.logits(network, x).cpu()
    answers = outputs.argmax(1).numpy()
    count = max(UNTRAINED, VALUES // (math.prod(shape) * len(found.classes)))
    some = x[:: math.ceil(len(x) / count)]  # images are sorted by content
    after = _response((network, part) for part in some.split(loop.BATCH))
    if not math.isfinite(after.mean):
        raise InputError(
            f"the gradients of {weights} at these images are not finite; look for weights that "
            "are not, or give the images with which it was trained"
        )
    untrained = (
        build(seeds.derive("profile", "weights", n)).to(device)
        for n in range(UNTRAINED)
    )
    return Checkpoint(
        images=found.name,
        classes=len(found.classes),
        tested=len(x),
        accuracy=float((answers == labels).mean()),
        answers=len(np.unique(answers)),
        count=len(some),
        before=_response(zip(untrained, some.tensor_split(UNTRAINED), strict=True)),
        after=after,
        notices=notices,
    )


def _response(pairs: Iterable[tuple[nn.Module, torch.Tensor]]) -> Response:
    """Return the response of networks, each at images (N, C, H, W) of its own."""
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
    except OSError as error:
        raise InputError(f"--weights {path} cannot be read: {error}") from None
    except safetensors.SafetensorError as error:
        raise InputError(
            f"--weights {path} is not a safetensors file ({error}); where you can load the "
            "network, write one with `safetensors.torch.save_file({name: value.contiguous()"
            ".clone() for name, value in network.state_dict().items()}, 'weights.safetensors')`"
        ) from None


def load(network: nn.Module, stored: Weights, path: str) -> list[str]:
    """Load stored weights into a network.

    Args:
        network: The network.
        stored: Its weights by name. Names may have one common prefix, as wrappers add.
        path: The file's path, for messages.

    Returns:
        A notice where the prefix of the names was changed.

    Raises:
        InputError: If the weights are not this network's.
    """
    state = network.state_dict()
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
    # Of tied weights, a file may hold one.
    tied = {
        _place(state[name]): value for name, value in stored.items() if name in state
    }
    given = {
        name: tied[_place(value)]
        for name, value in state.items()
        if _place(value) in tied
    }
    try:
        network.load_state_dict(given | stored)
        for name, value in stored.items():
            if not torch.allclose(
                state[name], value.to(state[name]), 0, 0, equal_nan=True
            ):
                raise RuntimeError(f"{name} is tied to weights with other values")
    except RuntimeError as error:
        raise InputError(
            f"--weights {path} are not those of this network: {textwrap.shorten(str(error), 400)}. "
            "Give the arguments with which it was trained, its channels in --input CxHxW, and "
            "--images with one class for each output"
        ) from None
    return notices


def _common_prefix(names: Iterable[str]) -> str:
    """Return the modules in which all names are, such as 'module.'."""
    prefix = os.path.commonprefix([name[: name.rfind(".") + 1] for name in names])
    return prefix[: prefix.rfind(".") + 1]


def _place(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor.data_ptr(), tensor.numel()
