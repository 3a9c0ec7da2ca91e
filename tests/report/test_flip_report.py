"""What the figure of `flip` shows."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from pipeline.report import flip


def test_published_values_are_at_the_maps_of_table_1(section_of):
    (panel,) = section_of("flip").pictures[0].figure.axes
    lines = {line.get_label(): [*line.get_ydata()] for line in panel.get_lines()}
    published = [values for name, values in lines.items() if "published" in name]
    assert published == [[89, 58], [69, 48]]


def test_maps_are_in_the_order_of_how_far_coefficients_travel():
    names = ["flipped", "rotated", "rotated_32", "plain", "rotated_8", "signs"]
    run = dataclasses.make_dataclass("Run", ["results"])(
        pd.DataFrame({"images": names})
    )
    order = ["plain", "signs", "rotated_8", "rotated_32", "rotated", "flipped"]
    assert list(flip.list_maps(run)) == order


def test_the_loss_is_the_mean_over_seeds_of_differences():
    rows = [
        (0, "plain", 0.9),
        (0, "flipped", 0.7),
        (1, "plain", 0.8),
        (1, "flipped", 0.5),
    ]
    table = pd.DataFrame(rows, columns=["seed", "images", "accuracy"])

    class Run:
        def select_results(self, name):
            return table

    assert flip.measure_loss(Run(), "lenet")["mean"] == pytest.approx(25)
    assert np.isnan(flip.measure_loss(Run(), "lenet", "signs")["mean"])
