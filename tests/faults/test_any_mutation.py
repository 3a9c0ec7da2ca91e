"""Whatever is done to the bytes of an archive, of a file of NADs or of the store, it ends in the right result or in one sentence."""

import contextlib
import io

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.images import sources
from pipeline.images.image_set import canonical
from pipeline.machine import store
from pipeline.nads import imported
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from tests.small_images import pack, png, set_of

MANY = settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


CHANGES = st.lists(
    st.tuples(
        st.integers(-200, 200) | st.integers(0, 2**20),
        st.sampled_from(["turn", "turn", "take out", "double", "overwrite", "put in", "cut"]),
        st.sampled_from([1, 1, 4, 8, 100, 512]),
        st.sampled_from([b"\0", b"\xff", b"9", b"{", b"\n"]),
    ),
    min_size=1,
    max_size=3,
)
"""Where (from the end, where negative: ends and beginnings hold headers), what, for how many bytes, and with which."""


def mutated(whole, changes):
    """Bytes after some changes."""
    data = bytearray(whole)
    for place, change, length, new in changes:
        at = place % (len(data) + 1)
        if change == "turn" and data:
            data[at % len(data)] ^= 1 << length % 8
        elif change == "take out":
            del data[at : at + length]
        elif change == "double":
            data[at:at] = data[at : at + length]
        elif change == "cut":
            del data[at:]
        else:
            data[at : at + length * (change == "overwrite")] = new * length
    return bytes(data)


def said(error):
    """Assert that an error is one sentence on one line."""
    assert str(error).isprintable() and len(str(error).split()) > 3, error


@pytest.fixture(scope="module", params=["tar", "tar.gz", "tar.bz2", "tar.xz", "zip"])
def archive(request, tmp_path_factory):
    """An archive of PNGs, and the digest of its images."""
    folder, rng = tmp_path_factory.mktemp("archive"), np.random.default_rng(0)
    images = {f"train/cat/{n}.png": png(rng.integers(0, 256, (32, 32, 3)).astype(np.uint8)) for n in range(3)}
    path = pack(set_of(folder / "set", images), folder / f"whole.{request.param}")
    return path, path.read_bytes(), canonical(sources.read(path)).digest()


@MANY
@given(changes=CHANGES)
def test_an_archive(archive, changes):
    path, whole, right = archive
    broken = path.with_name(f"broken{path.name.removeprefix('whole')}")
    broken.write_bytes(mutated(whole, changes))
    try:
        found = canonical(sources.read(broken))
    except InputError as error:
        said(error)
    else:
        # Without compression names have a checksum each and no more: what is left must at least be whole images.
        assert found.digest() == right or path.suffix == ".tar" and found.classes == ["cat", "dog"]


ROWS = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 5)))[0].T


@MANY
@given(changes=CHANGES)
def test_a_file_of_nads(tmp_path_factory, changes):
    file = io.BytesIO()
    np.save(file, ROWS)
    path = tmp_path_factory.getbasetemp() / "mine.npy"
    path.write_bytes(mutated(file.getvalue(), changes))
    try:
        found = imported(artifacts.nad_file(path), (1, 8, 8), path)
    except InputError as error:
        said(error)
    else:
        np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(len(found.directions)), atol=1e-3)


@MANY
@given(changes=CHANGES)
def test_an_entry_of_the_store(tmp_path_factory, changes):
    folder = tmp_path_factory.getbasetemp() / "cells"
    cells, sums = store.Store(folder), store.Sums(folder, "key")
    cells.put("ab12", {"w": torch.tensor([[1.0, -2.5]]), "n": torch.tensor(3)}, {"losses": [0.5], "steps": None})
    sums.put(7, {"halves": np.arange(3.0)})
    for path, get, right in (
        (cells.path("ab12"), lambda: cells.get("ab12"), {"losses": [0.5], "steps": None}),
        (folder / "nads/key/0000007.safetensors", lambda: sums.get(7), {"halves": np.arange(3.0)}),
    ):
        whole = path.read_bytes()
        changed = mutated(whole, changes)
        path.write_bytes(changed)
        with contextlib.redirect_stderr(io.StringIO()) as err:
            found = get()
        assert found is None or str(found) == str(right)
        assert found is None or changed == whole, "what is altered is not kept"
        assert len(err.getvalue().splitlines()) <= 1
