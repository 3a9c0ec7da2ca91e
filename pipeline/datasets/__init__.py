"""Data sets: the linearly separable D(v) and direct sums of it, and pictures, as functions of arrays."""

from pipeline.datasets.pictures import (
    binary,
    carrier_of,
    chosen,
    flipped,
    gaussian_mixture,
    in_unit_range,
    normalised,
    poisoned,
    scaled_along,
)
from pipeline.datasets.separable import (
    at_indices,
    direct_sum,
    draws,
    labels,
    linearly_separable,
    normal,
    only,
    with_channels_alone,
)

__all__ = [
    "at_indices",
    "binary",
    "carrier_of",
    "chosen",
    "direct_sum",
    "draws",
    "flipped",
    "gaussian_mixture",
    "in_unit_range",
    "labels",
    "linearly_separable",
    "normal",
    "normalised",
    "only",
    "poisoned",
    "scaled_along",
    "with_channels_alone",
]
