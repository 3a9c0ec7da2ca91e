"""The symmetries of the square and of the channels: vectors and covariances moved by
them.

Where a symmetry P of the square changes neither the law of the weights nor the layers'
geometry, C at Px is P C Pᵀ. C may be averaged over P if the point x is as likely as Px
(point `many` or `zero`) or does not matter (the secant, whose step of 100 dwarfs it).
The gradient at one fixed image has no symmetry: its ReLUs are switched by that image.

Where the law draws the weights of each input channel independently and with either
sign, nothing tells channels apart, nor a channel from its negative. C is then I ⊗ A, A
for each channel and nothing between two: such a network prefers no colour before
training.
"""

import numpy as np


# Moves of pictures (…, H, W), of which each doubles the group of those before it.
def TRANSPOSED(pictures):
    return pictures.swapaxes(-1, -2)


FLIPS = [lambda pictures: pictures[..., ::-1, :], lambda pictures: pictures[..., ::-1]]

GENERATORS = {"none": [], "transposition": [TRANSPOSED], "square": [*FLIPS, TRANSPOSED]}
"""The moves that make the group of each of `pipeline.networks.SYMMETRIES`."""

ORDERS = {name: 2 ** len(moves) for name, moves in GENERATORS.items()} | {"measured": 1}
"""Orders of the groups by name; nothing is known of one that is measured."""


def of_one_channel(jacobian: np.ndarray, channels: int) -> np.ndarray:
    """The Jacobian (F·C, H·W) whose JᵀJ is one network's estimate of A; jacobian: (F,
    C·H·W)."""
    return jacobian.reshape(len(jacobian) * channels, -1) * np.float32(channels**-0.5)


def images_of_vectors(
    symmetry: str, vectors: np.ndarray, shape: tuple[int, ...]
) -> list[np.ndarray]:
    """The images of vectors (F, D) under each element of a symmetry of `GENERATORS`,
    identity first."""
    images = [vectors.reshape(-1, *shape)]
    for move in GENERATORS[symmetry]:
        images += [move(tensor) for tensor in images]
    return [tensor.reshape(len(vectors), -1) for tensor in images]


def symmetrised(
    symmetry: str, matrix: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """The mean of a covariance's images (D, D) under the elements of a symmetry of
    `GENERATORS`."""
    tensor = matrix.reshape(*shape, *shape)
    other = (3, 4, 5, 0, 1, 2)
    # One generator after another: the mean over eight elements in three additions.
    for move in GENERATORS[symmetry]:
        tensor = (tensor + move(move(tensor).transpose(other)).transpose(other)) / 2
    return tensor.reshape(matrix.shape)


def square_of_symmetrised(
    symmetry: str, jacobian: np.ndarray, shape: tuple[int, ...]
) -> float:
    """‖S̄‖² of one network's estimate S = JᵀJ of C, averaged over a symmetry.

    The mean over a group is a projection, so ‖S̄‖² = ⟨S, S̄⟩, the mean over elements P
    of ‖J(PJ)ᵀ‖².
    """
    images = images_of_vectors(symmetry, jacobian, shape)
    return float(np.mean([((jacobian @ image.T) ** 2).sum() for image in images]))
