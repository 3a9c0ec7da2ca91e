"""Seeds: a function of what they are for, and of nothing else."""

import hashlib

from pipeline.training.seeds import derive


def test_a_seed_is_63_bits_of_a_digest_of_every_part_its_type_and_its_place():
    for parts, text in (((0, "a", 1.5), b"int:0\x1fstr:a\x1ffloat:1.5"), ((), b"")):
        assert derive(*parts) == int(hashlib.sha256(text).hexdigest()[:16], 16) // 2
