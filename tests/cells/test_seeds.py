"""Seeds: a function of what they are for, and of nothing else."""

import hashlib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cells.seeds import derive, stream

PARTS = st.lists(
    st.integers(-3, 1100) | st.text("01a:\x1fé", max_size=4), min_size=1, max_size=4
).map(tuple)


def test_seeds_depend_on_every_part_and_on_nothing_else():
    different = [(0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a", "1"), ("0a", 1)]
    assert len({derive(*parts) for parts in different}) == len(different)
    assert derive(0, "a", 1) == derive(0, "a", 1)


def test_parts_are_kept_apart_and_their_types_count():
    assert derive("a", 1) != derive("a1") != derive("a", "1") != derive("a", 1)
    assert derive(1) != derive("1") and derive() != derive("")
    assert derive("a", "b") != derive("b", "a") and derive("ab", "c") != derive("a", "bc")


@settings(derandomize=True, deadline=None, max_examples=300)
@given(one=PARTS, other=PARTS)
def test_no_two_things_share_a_seed(one, other):
    assert 0 <= derive(*one) < 2**63 and derive(*one) == derive(*one)
    typed = lambda parts: tuple((type(part), part) for part in parts)
    assert (derive(*one) == derive(*other)) == (typed(one) == typed(other))


def test_the_seeds_of_a_whole_grid_are_all_different():
    grid = [
        (seed, "linear_pairs", name, first, second, part)
        for seed in range(3)
        for name in ("lenet", "mlp_100_20")
        for first in range(0, 1024, 32)
        for second in range(0, 1024, 32)
        for part in ("weights", "order")
    ]
    assert len({derive(*parts) for parts in grid}) == len(grid)


def test_a_seed_is_the_first_63_bits_of_a_digest_so_that_it_is_the_same_everywhere():
    assert derive(0, "a") == int(hashlib.sha256(b"int:0\x1fstr:a").hexdigest()[:16], 16) // 2


def test_a_stream_draws_from_its_seed():
    expected = np.random.Generator(np.random.Philox(derive(3, "x"))).random(4)
    assert np.array_equal(stream(3, "x").random(4), expected)
    assert not np.array_equal(stream(4, "x").random(4), expected)
