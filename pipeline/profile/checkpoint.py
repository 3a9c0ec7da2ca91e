"""A trained network at images: what it responds to, beside its architecture before training."""

import dataclasses
import functools
import math
import textwrap
from collections.abc import Iterable

import numpy as np
import safetensors.torch
import torch
from scipy.sparse.linalg import svds
from torch import nn

from pipeline import networks
from pipeline.cells import pictures, seeds, training
from pipeline.images import sources
from pipeline.images.files import substitute
from pipeline.measures.gradients import of_outputs
from pipeline.networks import Shape, Specification
from pipeline.profile.response import Response
from pipeline.project.errors import InputError

IMAGES = 1000  # test images at most
UNTRAINED = 8  # untrained networks, each at one image at least
VALUES = 2**26  # numbers in the gradients of more images than that (512 MiB)

ROUNDING = 1e-5  # part of the largest output up to which outputs differ by rounding alone

WRAPPERS = {"module", "_orig_mod", "model", "net", "network", "state_dict"}
"""What DataParallel, torch.compile, Lightning and training scripts put into weights' names."""


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A trained network at test images of the set `images`, of which it classifies the fraction
    `accuracy` of `tested` right; answers: number of classes that it gives; count: images at which
    its gradients are taken.

    before, after: the response of untrained networks and of this one by their gradients at these
    images. C is the mean over images of Σ ∇f_k ∇f_kᵀ, f the outputs less their mean: the average
    gradient outer product (arXiv 2309.00570). notices: sentences on what may be a mistake.
    """

    images: str
    tested: int
    accuracy: float
    answers: int
    count: int
    before: Response
    after: Response
    notices: list[str]

    def directions(self, count: int) -> np.ndarray:
        """The first `count` eigenvectors (K, D) of C after training, or all if there are fewer."""
        rows, side = self.after.rows, min(self.after.rows.shape)
        if count >= side:
            return np.linalg.svd(rows, full_matrices=False)[2][:count]
        return svds(rows, count, v0=np.ones(side))[2][::-1]  # of all of them the SVD takes a minute


def of_file(
    specification: Specification, shape: Shape, weights: str, images: str, device: str
) -> Checkpoint:
    """The network whose weights are in a safetensors file, at the images of a path.

    Images reach it as they do the pipeline's networks, in grey if it has one channel. Raises
    InputError for weights that are not this network's.
    """
    try:
        stored = safetensors.torch.load_file(weights)
    except OSError as error:
        raise InputError(f"--weights {weights} cannot be read: {error}") from None
    except safetensors.SafetensorError:
        with open(weights, "rb") as file:
            kind = substitute(file.read(1000))
        raise InputError(
            f"--weights {weights} {kind or 'is no safetensors file'}; `safetensors.torch.save_file("
            "{name: value.contiguous().clone() for name, value in network.state_dict().items()}, "
            "'weights.safetensors')` makes one"
        ) from None
    if not all(value.isfinite().all() for value in stored.values()):
        raise InputError(f"--weights {weights} holds values that are not finite")
    found = sources.read(images, shape[1:])
    build = functools.partial(networks.build, specification, shape[0], len(found.classes))
    network, notices = build(0), list(found.notices)
    state = network.state_dict()
    names = {name: _meant(name, state) for name in stored}
    wrapped = [name for name in names if names[name] != name]
    if wrapped and len(set(names.values())) == len(names):
        stored = {names[name]: value for name, value in stored.items()}
        meant = f"{names[wrapped[0]]}, one of {len(wrapped)} such names"
        notices.append(f"{wrapped[0]} in {weights} is taken as {meant}")
    try:
        lacking, unknown = network.load_state_dict(stored, strict=False)
        # Of a tensor that has two names a file may hold one.
        tensor = lambda name: (state[name].data_ptr(), state[name].numel())
        given = {tensor(name) for name in state.keys() & stored.keys()}
        lacking = [name for name in lacking if tensor(name) not in given]
        names = [", ".join(keys[:3]) or "nothing" for keys in (lacking, unknown)]
        wrong = "it lacks {} and has {} besides".format(*names) if lacking or unknown else ""
        same = lambda name: torch.equal(state[name], stored[name].to(state[name].dtype))
        if twice := [name for name in state.keys() & stored.keys() if not same(name)]:
            wrong = f"it has another value for {min(twice)} than for what the network ties to it"
    except RuntimeError as error:
        wrong = textwrap.shorten(str(error), 300)  # PyTorch names every shape that is wrong
    if wrong:
        raise InputError(
            f"--weights {weights} does not hold the weights of this network with "
            f"{len(found.classes)} outputs, one for each class of the images: {wrong}"
        )
    test = {"test_images": found.images["test"], "test_labels": found.labels["test"]}
    chosen, labels = pictures.chosen(seeds.stream("profile", "images"), test, "test", IMAGES)
    statistics = dict(zip(("mean", "deviation"), found.statistics()))
    x = pictures.normalised(pictures.in_unit_range(chosen), statistics)
    x = training.channels_last(x.mean(1, keepdim=True) if shape[0] == 1 else x, device)
    labels = torch.as_tensor(labels, device=device)
    outputs = training.logits(network, x)
    answers, relative = outputs.argmax(1), outputs - outputs.mean(1, keepdim=True)
    constant = (relative - relative[:1]).abs().max() <= ROUNDING * outputs.abs().max()
    tested, accuracy = len(x), float((answers == labels).float().mean())
    count = max(UNTRAINED, VALUES // (math.prod(shape) * len(found.classes)))
    x = x[:: -(-tested // count)]  # which are sorted by content
    after = _response([(network, part) for part in x.split(training.BATCH)])
    if not math.isfinite(after.mean):
        raise InputError(f"--weights {weights} give gradients at these images that are not finite")
    if constant:
        after = Response(0 * after.rows, shape)
    seed = functools.partial(seeds.derive, "profile", "weights")
    untrained = (build(seed(number)).to(device) for number in range(UNTRAINED))
    before = _response(zip(untrained, x.tensor_split(UNTRAINED)))
    counts = tested, accuracy, 1 if constant else len(answers.unique()), len(x)
    return Checkpoint(found.name, *counts, before, after, notices)


def _meant(name: str, known: Iterable[str]) -> str:
    """The known name of a weight that a file names as some wrapper does, or else `name`."""
    if name in known:
        return name
    bare = lambda name: [part for part in name.split(".") if part not in WRAPPERS]
    alike = [each for each in known if bare(each) == bare(name)]
    return max(alike, key=lambda each: (name.endswith(each), len(each)), default=name)


def _response(pairs: Iterable[tuple[nn.Module, torch.Tensor]]) -> Response:
    """The response of networks, each at images (N, C, H, W) of its own."""
    rows, count = [], 0
    for network, x in pairs:
        rows += [gradient.flatten(1).cpu().double() for gradient in of_outputs(network, x)]
        count, shape = count + len(x), tuple(x.shape[1:])
    return Response(torch.cat(rows).numpy() / count**0.5, shape)
