"""Neural anisotropy directions (NADs): what an untrained network prefers of its input.

Paper 1, §4: C = E_θ[d dᵀ] is the covariance of the input derivative d of an untrained
network over its initialisation, at one evaluation point x; its eigenvectors in
decreasing eigenvalue are the NADs. The files compute them in this order: `derivative`,
`readout`, `jacobian`, `covariance` or `leading`, `symmetry`, `spectrum` and
`estimation`. The names below are for your own programs; `help` describes each.
"""

from pipeline.nads.call import estimate
from pipeline.nads.controversial import controversial
from pipeline.nads.directions import NADs, from_file, imported, overlap
from pipeline.nads.named import load

__all__ = [
    "NADs",
    "controversial",
    "estimate",
    "from_file",
    "imported",
    "load",
    "overlap",
]
