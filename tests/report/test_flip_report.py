"""What the figure of `flip` shows."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from pipeline.report import flip


def test_published_values_are_at_the_maps_of_table_1(section_of):
    (panel,) = section_of("flip").pictures[0].figure.axes
    published = []
    for line in panel.get_lines():
        if "published" in line.get_label():
            published.append(list(line.get_ydata()))
    assert published == [[89, 58], [69, 48]]


def test_maps_are_in_the_order_of_how_far_coefficients_travel(whole):
    names = ["flipped", "rotated", "rotated_32", "plain", "rotated_8", "signs"]
    results = pd.DataFrame({"images": names})
    record = dataclasses.replace(whole.experiments["flip"], results=results)
    order = ["plain", "signs", "rotated_8", "rotated_32", "rotated", "flipped"]
    assert list(flip.list_maps(record)) == order


def test_the_loss_is_the_mean_over_seeds_of_differences(whole):
    results = pd.DataFrame(
        {
            "architecture": "lenet",
            "seed": [0, 0, 1, 1],
            "images": ["plain", "flipped", "plain", "flipped"],
            "accuracy": [0.9, 0.7, 0.8, 0.5],
        }
    )
    record = dataclasses.replace(whole.experiments["flip"], results=results)
    assert flip.measure_loss(record, "lenet")["mean"] == pytest.approx(25)
    assert np.isnan(flip.measure_loss(record, "lenet", "signs")["mean"])


@pytest.mark.parametrize("maps", [["plain", "signs"], ["aligned"]])
def test_a_run_needs_no_maps_of_the_paper(whole, maps):
    record = whole.experiments["flip"]
    plain = record.results[record.results["images"] == "plain"]
    summary = record.summary[record.summary["images"] == "plain"]
    changed = dataclasses.replace(
        record,
        results=pd.concat([plain.assign(images=name) for name in maps]),
        summary=pd.concat([summary.assign(images=name) for name in maps]),
    )
    experiments = {**whole.experiments, "flip": changed}
    section = flip.make_section(dataclasses.replace(whole, experiments=experiments))
    assert ("loses" in section.finding.text) == ("signs" in maps)
    columns = set().union(*section.rows)
    assert {f"{name} (%)" for name in maps} <= columns
    assert "loss (points)" not in columns
