"""Neural anisotropy directions (NADs): what a network prefers of its input before it has seen any data.

Paper 1, §4: C = E_θ[d dᵀ] is the covariance of the input derivative d of an untrained network over its initialisation,
at one evaluation point x; its eigenvectors in decreasing eigenvalue are the NADs. The way from a network's constructor
to them: the derivative (`derivative`), the average over the read-out (`readout`), one network's Jacobian (`jacobian`),
running estimates of C (`covariance`, `leading`) averaged over symmetries (`symmetry`), their eigenvectors (`spectrum`)
and errors (`uncertainty`), and the whole (`estimation`). What a run asks for: `plan`; made by all
workers: `progress`.
"""

from pipeline.nads.covariance import Covariance
from pipeline.nads.directions import NADs, imported
from pipeline.nads.estimation import Estimation, estimate
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.jacobian import jacobian_of, jacobian_of_untrained
from pipeline.nads.leading import Leading
from pipeline.nads.spectrum import Spectrum

__all__ = [
    "Covariance",
    "Estimation",
    "Estimator",
    "Leading",
    "NADs",
    "Source",
    "Spectrum",
    "estimate",
    "imported",
    "jacobian_of",
    "jacobian_of_untrained",
]
