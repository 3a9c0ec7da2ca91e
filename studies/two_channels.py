"""What a network that reads two channels linearly gets right with one of them switched off.

The two channels move its score by ε₁a₁ and ε₂a₂ towards the class, and each adds noise of standard
deviation s, from the directions in which the data tell nothing. The boundary of maximum margin has
a₂/a₁ = ε₂/ε₁, as the measured tilt says; the accuracy with the second channel alone then gives s.
"""

import numpy as np
from scipy.stats import norm


def right(
    second_alone: float, eps: tuple[float, float] = (1.0, 0.5), sigma: float = 1.0
) -> dict[str, float]:
    """The accuracies in per cent with both channels and with one, the other replaced by what the
    key names: zeros, noise with nothing along v, or white noise, which has σ along v.

    second_alone: in per cent, beside zeros; eps: ε₁ and ε₂; sigma: of the noise.
    """
    first, second = eps
    a2 = norm.ppf(second_alone / 100) / second  # in units of s
    a1 = a2 * first / second
    scores = {
        "both": (first * a1 + second * a2) / np.sqrt(2),
        "first_zeros": first * a1,
        "first_off_v": first * a1 / np.sqrt(2),
        "first_white": first * a1 / np.sqrt(2 + (sigma * a2) ** 2),
        "second_white": second * a2 / np.sqrt(2 + (sigma * a1) ** 2),
    }
    return {name: float(100 * norm.cdf(score)) for name, score in scores.items()}
