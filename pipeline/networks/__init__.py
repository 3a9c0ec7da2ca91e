"""Networks: the table of families, the networks of libraries, and your own.

A network maps images (N, C, H, W) to outputs (N, outputs). A network of the table ends
in a linear layer, the *read-out*, and takes inputs of 32×32 unless its argument `side`
says otherwise.

`registry` names and builds networks. `custom` builds networks whose code is not ours,
`passes` runs them, and `checks` refuses what would give wrong numbers. `own` lists the
files in own/. `dry_run` tries a network before any work starts.
"""

from pipeline.networks.registry import (
    NETWORKS,
    SYMMETRIES,
    Specification,
    Symmetry,
    build,
    constructor,
    files,
    keywords,
    specification,
    symmetry,
    symmetry_of_inputs,
    version,
)
from pipeline.training.shapes import Shape

__all__ = [
    "NETWORKS",
    "SYMMETRIES",
    "Shape",
    "Specification",
    "Symmetry",
    "build",
    "constructor",
    "files",
    "keywords",
    "specification",
    "symmetry",
    "symmetry_of_inputs",
    "version",
]
