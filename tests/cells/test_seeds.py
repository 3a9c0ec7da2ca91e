"""Seeds: a function of what they are for, and of nothing else."""

import hashlib

from pipeline.cells.seeds import derive


def test_a_seed_is_the_first_63_bits_of_a_digest_so_that_it_is_the_same_everywhere():
    assert derive(0, "a") == int(hashlib.sha256(b"int:0\x1fstr:a").hexdigest()[:16], 16) // 2


def test_seeds_depend_on_every_part_its_type_and_its_place():
    different = [(0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a", "1"), ("0a", 1)]
    different += [("a", 1), ("a1",), (1, "a"), ("a", "bc"), ("ab", "c"), (1,), ("1",), ()]
    assert len({derive(*parts) for parts in different}) == len(different)
