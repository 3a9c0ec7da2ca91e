"""The record of NADs: its file, picture and overlaps; and NADs made elsewhere."""

import numpy as np
import pytest
import torch
from nads_samples import make_sampler, nads_of
from refusals import refused

from pipeline.nads import NADs, from_file, imported, overlap
from pipeline.nads.gallery import gallery


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 60, 64])
def test_imported_rows_are_kept_and_completed_to_a_basis(count, kind):
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0]
    rows = basis[:count].astype(kind)
    nads = imported(rows, [1, 8, 8])
    np.testing.assert_array_equal(nads.directions[:count], rows)
    products = nads.directions @ nads.directions.T
    np.testing.assert_allclose(products, np.eye(64), atol=1e-6)
    assert nads.directions.dtype == np.float64
    assert nads.shape == (1, 8, 8)


@pytest.mark.parametrize("elsewhere", [True, False])
def test_nads_are_loaded_as_they_were_saved(elsewhere, tmp_path):
    nads = nads_of(make_sampler(), 4)
    if elsewhere:
        nads = imported(np.eye(12)[:3], (3, 2, 2))
    nads.save(tmp_path / "mine.npz")
    loaded = NADs.load(tmp_path / "mine.npz")
    for name, value in vars(nads).items():
        assert type(getattr(loaded, name)) is type(value), name
        np.testing.assert_array_equal(getattr(loaded, name), value, name)
    assert repr(loaded) == repr(nads)


def test_a_notebook_shows_a_picture_and_a_table_has_a_row_for_each_nad():
    nads = nads_of(make_sampler(), 4)
    assert nads._repr_png_().startswith(b"\x89PNG")
    table = nads.to_frame()
    assert len(table) == len(nads) == len(nads.directions)
    np.testing.assert_array_equal(table["eigenvalue"], nads.eigenvalues)
    np.testing.assert_array_equal(
        table[["first_nearby", "last_nearby"]].to_numpy(), nads.nearby
    )


def test_a_file_of_objects_is_not_unpickled(tmp_path):
    np.save(tmp_path / "nads.npy", np.array([{}]), allow_pickle=True)
    path = str(tmp_path / "nads.npy")
    with refused("unreadable-file", path=path):
        from_file(path, (1, 8, 8))


def test_the_overlap_of_spans_has_its_closed_form():
    basis = imported(np.eye(8), (2, 2, 2))
    # The first two directions, rotated within their plane, span the same; the third,
    # rotated by 60° out of the first three, has a quarter of its square left in them.
    angle = np.pi / 3
    rows = np.eye(8)
    rows[:2, :2] = [[0.6, 0.8], [-0.8, 0.6]]
    rows[2, 2] = np.cos(angle)
    rows[2, 7] = np.sin(angle)
    rows[7, 2] = -np.sin(angle)
    rows[7, 7] = np.cos(angle)
    rotated = imported(rows, (2, 2, 2))
    for k, expected in ((1, 0.36), (2, 1), (3, 2.25 / 3), (8, 1)):
        assert overlap(basis, rotated, k) == pytest.approx(expected)
        assert overlap(rotated, basis, k) == pytest.approx(expected)
    assert overlap(basis, imported(np.eye(8)[::-1], (2, 2, 2)), 4) == 0
    assert type(overlap(basis, rotated, 2)) is float


@pytest.mark.parametrize("k", [0, -1, 17])
def test_an_overlap_of_directions_that_nads_do_not_have_is_refused(k):
    nads = imported(np.eye(16), (1, 4, 4))
    with refused("out-of-range"):
        overlap(nads, nads, k)


def test_an_overlap_with_something_else_is_refused():
    nads = imported(np.eye(16), (1, 4, 4))
    with refused("wrong-type"):
        overlap(nads, np.eye(16), 3)
    with refused("wrong-shape", shapes=((1, 4, 4), (4, 2, 2))):
        overlap(nads, imported(np.eye(16), (4, 2, 2)), 3)


@pytest.mark.parametrize(
    "rows",
    [
        torch.eye(16),
        np.eye(16).tolist(),
        np.eye(16) * 1j,
        np.eye(16) == 1,
        None,
    ],
    ids=["tensor", "list", "complex", "bool", "None"],
)
def test_rows_of_another_type_are_refused(rows):
    with refused("wrong-type", path="the array"):
        imported(rows, (1, 4, 4))


def test_a_shape_without_channels_is_refused():
    with refused("wrong-type", name="shape"):
        imported(np.eye(16), (4, 4))


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 4, 4), (2, 4, 4)])
def test_a_gallery_shows_pixels_and_energies(shape):
    vectors = np.random.default_rng(0).standard_normal((20, int(np.prod(shape))))
    panels = np.reshape(gallery(vectors, shape, None).axes[: 2 * 3], (2, 3))
    assert [panel.get_title() for panel in panels[0]] == ["0", "1", "8"]
    nad = vectors[8].reshape(shape)
    expected = np.hstack(nad)
    if shape[0] == 3:
        expected = 0.5 + nad.transpose(1, 2, 0) / (2 * np.abs(nad).max())
    (pixels,) = panels[0, 2].images
    np.testing.assert_allclose(pixels.get_array(), expected)
    expected = np.fft.fftshift((np.abs(np.fft.fft2(nad)) ** 2).sum(0))
    (energy,) = panels[1, 2].images
    np.testing.assert_allclose(energy.get_array(), expected)
