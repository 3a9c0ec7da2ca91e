"""Seeds: a function of what they are for, and of nothing else."""

import hashlib

import numpy as np

from pipeline.training.seeds import derive


def test_a_seed_is_63_bits_of_a_digest_of_every_part_its_type_and_its_place():
    for parts, text in (((0, "a"), b"int:0\x1fstr:a"), ((), b"")):
        assert derive(*parts) == int(hashlib.sha256(text).hexdigest()[:16], 16) // 2


def test_integers_of_numpy_give_the_seed_of_pythons():
    for number in (np.int64(3), np.uint8(3), *np.unique([3, 3])):
        assert derive(number, "a") == derive(3, "a") != derive("3", "a")
