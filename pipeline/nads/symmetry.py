"""The symmetries of the square and of the channels: vectors and covariances moved by them.

Where a symmetry P of the square changes neither the law of the weights nor the layers' geometry, C
at Px is P C Pᵀ. C may be averaged over P if the point x is as likely as Px (point `many` or `zero`)
or does not matter (the secant, whose step of 100 dwarfs it). The gradient at one fixed image has no
symmetry: its ReLUs are switched by that image.

Where the law draws the weights of each input channel independently and with either sign, nothing
tells channels apart, nor a channel from its negative. C is then I ⊗ A, A for each channel and
nothing between two: such a network prefers no colour before training.
"""

import numpy as np

from pipeline.networks import SYMMETRIES

ORDERS = dict(zip((*SYMMETRIES, "measured"), (1, 2, 8, 1)))
"""Orders of the groups by name: the identity alone; with transposition; with both flips too; and
the identity where nothing is known before it is measured."""


def of_one_channel(jacobian: np.ndarray, channels: int) -> np.ndarray:
    """The Jacobian (F·C, H·W) whose JᵀJ is one network's estimate of A; jacobian: (F, C·H·W)."""
    return jacobian.reshape(len(jacobian) * channels, -1) * np.float32(channels**-0.5)


def _check(symmetry: str) -> None:
    if symmetry not in SYMMETRIES:
        raise ValueError(f"symmetry must be one of {', '.join(SYMMETRIES)}, not {symmetry!r}")


def images_of_vectors(
    symmetry: str, vectors: np.ndarray, shape: tuple[int, ...]
) -> list[np.ndarray]:
    """The images of vectors (F, D) under each element of a symmetry, identity first.

    Raises ValueError for a word that is none of `SYMMETRIES`.
    """
    _check(symmetry)
    images = [vectors.reshape(-1, *shape)]
    if symmetry == "square":
        images += [tensor[:, :, ::-1] for tensor in images]
        images += [tensor[:, :, :, ::-1] for tensor in images]
    if symmetry in ("square", "transposition"):
        images += [tensor.transpose(0, 1, 3, 2) for tensor in images]
    return [tensor.reshape(len(vectors), -1) for tensor in images]


def symmetrised(symmetry: str, matrix: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The mean of a covariance's images (D, D) under the elements of a symmetry.

    Raises ValueError for a word that is none of `SYMMETRIES`.
    """
    _check(symmetry)
    tensor = matrix.reshape(*shape, *shape)
    # One generator after another: the mean over eight elements in three additions.
    if symmetry == "square":
        for axis in (1, 2):
            tensor = (tensor + np.flip(tensor, (axis, axis + 3))) / 2
    if symmetry in ("square", "transposition"):
        tensor = (tensor + tensor.transpose(0, 2, 1, 3, 5, 4)) / 2
    return tensor.reshape(matrix.shape)


def square_of_symmetrised(symmetry: str, jacobian: np.ndarray, shape: tuple[int, ...]) -> float:
    """‖S̄‖² of one network's estimate S = JᵀJ of C, averaged over a symmetry.

    The mean over a group is a projection, so ‖S̄‖² = ⟨S, S̄⟩, the mean over elements P of ‖J(PJ)ᵀ‖².
    """
    images = images_of_vectors(symmetry, jacobian, shape)
    return float(np.mean([((jacobian @ image.T) ** 2).sum() for image in images]))
