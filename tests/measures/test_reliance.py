"""The accuracy of scores at their best threshold."""

import numpy as np
import pytest

from pipeline.measures import reliance


@pytest.mark.parametrize(
    ("score", "y", "accuracy"),
    [
        ([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], 1.0),
        # A shift of all scores changes nothing.
        ([5.0, 6.0, 8.0, 9.0], [0, 0, 1, 1], 1.0),
        # Class 1 is never given to the smaller scores: the best there is gives one class to all.
        ([2.0, 1.0, -1.0, -2.0], [0, 0, 1, 1], 0.5),
        # Equal scores are not parted, however they lie.
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 0, 1], 0.5),
        ([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 1, 1, 1], 0.8),
        ([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0], 0.75),
        ([1.0], [1], 1.0),
    ],
)
def test_the_accuracy_at_the_best_threshold(score, y, accuracy):
    assert reliance.best_accuracy(np.array(score), np.array(y)) == pytest.approx(accuracy)
