"""The NADs of untrained networks, and vᵀCv along directions."""

import dataclasses

import numpy as np
import pytest

from pipeline import networks
from pipeline.nads import imported
from studies.untrained import energy, estimate_nads


def test_energy_is_the_quadratic_form_of_c():
    """C = diag(4, 1), along its own eigenvectors and along their diagonals."""
    eigenvalues = np.array([4.0, 1.0, 0.0, 0.0])
    nads = dataclasses.replace(imported(np.eye(4), (1, 2, 2)), eigenvalues=eigenvalues)
    diagonals = np.array([[1.0, 1, 0, 0], [1, -1, 0, 0]]) / np.sqrt(2)
    assert energy(nads, np.eye(4)) == pytest.approx([4, 1, 0, 0])
    assert energy(nads, diagonals) == pytest.approx([2.5, 2.5])
    assert energy(nads, diagonals[0]) == pytest.approx(2.5)


def test_energy_is_not_negative():
    eigenvalues = np.array([4.0, 1.0, 0.5, -1e-17])
    nads = dataclasses.replace(imported(np.eye(4), (1, 2, 2)), eigenvalues=eigenvalues)
    assert energy(nads, np.eye(4)[3]) == 0


@pytest.mark.parametrize(
    ("downsampling", "symmetry"), [("pool", "square"), ("stride", "transposition")]
)
def test_nads_have_the_symmetry_of_their_network(downsampling, symmetry):
    architecture = {"network": "lenet", "downsampling": downsampling}
    nads = estimate_nads(networks.specification(architecture), 2)
    assert (nads.networks, nads.symmetry) == (2, symmetry)
