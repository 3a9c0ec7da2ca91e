"""The accuracy of a linear classifier of two channels if one of them is replaced.

    python -m studies.two_channels

The score of the classifier is a weighted sum of its inputs, with weights a₁ and a₂
along v₁ and v₂. The two signals move the score by ε₁a₁ and ε₂a₂ towards the class. Each
channel also adds noise of standard deviation s, because the classifier has some weight
on directions other than v₁ and v₂. The maximum-margin boundary has a₂/a₁ = ε₂/ε₁, and
the measured tilt agrees. The accuracy with only the second channel is read from the
kept run of the MLP, and determines s.
"""

import pandas as pd
from scipy.stats import norm

RESULTS = "reports/kept/linear_pairs/lenet_and_mlp/results.csv"

EPS = (1.0, 0.5)
"""ε₁ and ε₂ of its data."""

SIGMA = 1.0
"""The standard deviation σ of their noise."""


def compute_accuracies(second_alone: float) -> pd.Series:
    """Compute the accuracies with both channels and with one.

    Args:
        second_alone: Accuracy in per cent with only the second channel, beside zeros.

    Returns:
        Accuracies in per cent. A key other than 'both' names the channel that is left,
        and what replaces the other one: zeros, noise with nothing along v ('off_v'), or
        white noise, which has σ along v.
    """
    first, second = EPS
    a2 = norm.ppf(second_alone / 100) / second  # in units of s
    a1 = a2 * first / second
    scores = {
        "both": (first * a1 + second * a2) / 2**0.5,
        "first_zeros": first * a1,
        "first_off_v": first * a1 / 2**0.5,
        "first_white": first * a1 / (2 + (SIGMA * a2) ** 2) ** 0.5,
        "second_white": second * a2 / (2 + (SIGMA * a1) ** 2) ** 0.5,
    }
    return 100 * pd.Series(scores).map(norm.cdf)


def main() -> None:
    """Print the accuracies for the MLP's measured accuracy."""
    results = pd.read_csv(RESULTS)
    second = results.query("architecture == 'mlp_100_20' and test_set == 'second'")
    accuracies = compute_accuracies(100 * second["accuracy"].mean())
    print(accuracies.to_string(float_format="%.2f"))


if __name__ == "__main__":
    main()
