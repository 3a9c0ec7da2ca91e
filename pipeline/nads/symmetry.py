"""The symmetries of the square and of the channels, applied to vectors and covariances.

Where a symmetry P of the square changes neither the distribution of the weights nor the
layers' geometry, C at Px is P C Pᵀ. C may be averaged over P if the point x is as
likely as Px (point `many` or `zero`) or does not matter (the secant, whose step of 100
dwarfs it). The gradient at one fixed image has no symmetry: its ReLUs are switched by
that image.

If the weights of each input channel are drawn independently and with either sign,
nothing tells channels apart, nor a channel from its negative. C is then I ⊗ A, A for
each channel and zero between two channels: such a network prefers no colour before
training.
"""

import numpy as np


def transpose(images: np.ndarray) -> np.ndarray:
    """Exchange rows and columns of images (…, H, W)."""
    return images.swapaxes(-1, -2)


def flip_rows(images: np.ndarray) -> np.ndarray:
    """Exchange top and bottom of images (…, H, W)."""
    return images[..., ::-1, :]


def flip_columns(images: np.ndarray) -> np.ndarray:
    """Exchange left and right of images (…, H, W)."""
    return images[..., ::-1]


GENERATORS = {
    "none": [],
    "transposition": [transpose],
    "square": [flip_rows, flip_columns, transpose],
}
"""The moves that generate the group of each of `pipeline.networks.SYMMETRIES`.

Each move doubles the group of those before it.
"""

ORDERS = {"none": 1, "transposition": 2, "square": 8, "measured": 1}
"""Orders of the groups by name; nothing is known of a group that is measured."""


def one_channel(jacobian: np.ndarray, channels: int) -> np.ndarray:
    """Reshape a Jacobian to that of one channel, whose JᵀJ is an estimate of A.

    Args:
        jacobian: (F, C·H·W).
        channels: C.

    Returns:
        (F·C, H·W).
    """
    return jacobian.reshape(len(jacobian) * channels, -1) * np.float32(channels**-0.5)


def move_vectors(
    symmetry: str, vectors: np.ndarray, shape: tuple[int, ...]
) -> list[np.ndarray]:
    """Return the images of vectors under each element of a symmetry, identity first.

    Args:
        symmetry: A key of `GENERATORS`.
        vectors: (F, D).
        shape: (C, H, W) of one input.

    Returns:
        An array (F, D) for each element.
    """
    moved = [vectors.reshape(-1, *shape)]
    for move in GENERATORS[symmetry]:
        moved += [move(images) for images in moved]
    return [images.reshape(len(vectors), -1) for images in moved]


def symmetrise(symmetry: str, matrix: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Average a covariance over the elements of a symmetry.

    Args:
        symmetry: A key of `GENERATORS`.
        matrix: (D, D).
        shape: (C, H, W) of one input.

    Returns:
        The mean of P C Pᵀ over the elements P, (D, D).
    """
    tensor = matrix.reshape(*shape, *shape)
    exchange = (3, 4, 5, 0, 1, 2)  # of the covariance's two indices
    # One generator after another: the mean over eight elements in three additions.
    for move in GENERATORS[symmetry]:
        moved = move(move(tensor).transpose(exchange)).transpose(exchange)
        tensor = (tensor + moved) / 2
    return tensor.reshape(matrix.shape)


def squared_norm(symmetry: str, jacobian: np.ndarray, shape: tuple[int, ...]) -> float:
    """Compute ‖S̄‖² of one network's estimate S = JᵀJ of C, averaged over a symmetry.

    The mean over a group is a projection, so ‖S̄‖² = ⟨S, S̄⟩, the mean over elements P
    of ‖J(PJ)ᵀ‖².

    Args:
        symmetry: A key of `GENERATORS`.
        jacobian: J, (F, D).
        shape: (C, H, W) of one input.
    """
    squares = []
    for moved in move_vectors(symmetry, jacobian, shape):
        squares.append(((jacobian @ moved.T) ** 2).sum())
    return float(np.mean(squares))
