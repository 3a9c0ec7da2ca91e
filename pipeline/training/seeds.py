"""Randomness as an argument: every seed is derived from the names of the thing it is
for."""

import hashlib
import numbers

import numpy as np


def derive(*parts: str | int) -> int:
    """A 63-bit seed determined by `parts` (str or int) alone, so that no two things
    share a stream.

    The same parts give the same seed on every machine and in every order of work.
    """
    names = []
    for part in parts:
        # An integer of NumPy, as of a table's column, gives the seed of Python's.
        if isinstance(part, numbers.Integral):
            part = int(part)
        names.append(f"{type(part).__name__}:{part}")
    text = "\x1f".join(names)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def for_weights(*identity: str | int) -> int:
    """Return the seed of the untrained weights of the network with this identity."""
    return derive(*identity, "weights")


def for_order(*identity: str | int) -> int:
    """Return the seed of the order of the samples, and of dropout, in the training of
    the network with this identity."""
    return derive(*identity, "order")


def stream(*parts: str | int) -> np.random.Generator:
    """The NumPy generator (Philox) of `derive(*parts)`."""
    return np.random.Generator(np.random.Philox(derive(*parts)))
