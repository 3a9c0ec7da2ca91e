"""Neural anisotropy directions (NADs): what an untrained network prefers of its input.

Paper 1, §4: C = E_θ[d dᵀ] is the covariance of the input derivative d of an untrained network over
its initialisation, at one evaluation point x; its eigenvectors in decreasing eigenvalue are the
NADs. From a network's constructor to them lead, in this order, `derivative`, `readout`, `jacobian`,
`covariance` or `leading`, `symmetry`, `spectrum`, `uncertainty` and `estimation`.
"""

from pipeline.nads.covariance import Covariance
from pipeline.nads.directions import NADs, from_file, imported, overlap
from pipeline.nads.estimation import Estimation, estimate
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.jacobian import jacobian_of, jacobian_of_untrained
from pipeline.nads.leading import Leading

__all__ = [
    "Covariance",
    "Estimation",
    "Estimator",
    "Leading",
    "NADs",
    "Source",
    "estimate",
    "from_file",
    "imported",
    "jacobian_of",
    "jacobian_of_untrained",
    "overlap",
]
