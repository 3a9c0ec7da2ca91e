"""What the page lets a reader look around in, as data: the NADs of every network, maps over frequency, pairs of channels."""

import base64
from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

from pipeline.measures.boundaries import EXTENT, POINTS, max_margin_tilt
from pipeline.measures.fitted import fitted
from pipeline.nads.plan import NADsPlan
from pipeline.project import artifacts
from pipeline.report import linear_pairs, style
from pipeline.report.evaluated import Evaluated, evaluated
from pipeline.report.fourier import by_direction
from pipeline.report.frequencies import DIRECTION, canonical, halves_of, with_transposes
from pipeline.report.labels import label
from pipeline.report.published import table as published_table
from pipeline.report.site.embedded import LEVELS, STEP, ZERO, sprite

MOST_VALUES = 2**20
"""Values of all the NADs of one network in a page; of more there are fewer NADs, closest at the first ones."""

SHADES = 64
"""Colours of the map that scripts draw with, evenly spread."""

Value = tuple[float, float, int, int]
"""Mean and standard deviation over seeds, their number, and how many were fitted."""


def colours() -> list[tuple[int, int, int]]:
    """The colour map of the figures, from dark to light."""
    return [
        tuple(row[:3]) for row in matplotlib.colormaps[style.ACCURACY](np.linspace(0, 1, SHADES), bytes=True).tolist()
    ]


def _value(row: Mapping[str, Any]) -> Value:
    """The accuracy in a row of summary.csv."""
    return row["mean"], row["std"], int(row["seeds"]), int(row["fitted"])


def shown(count: int, dimension: int) -> np.ndarray:
    """Which of `count` NADs the page holds: all of them, or so many that `MOST_VALUES` is kept, closest at the first."""
    room = max(MOST_VALUES // dimension, 1)
    if count <= room:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, room).astype(int)) - 1


def nads(swept: bool) -> list[dict[str, Any]]:
    """Every network's NADs: as a sprite, with eigenvalues, errors, and spans that cannot be told apart.

    swept: whether there are results of `nad_sweep`, whose accuracies then stand beside them.
    """
    plan, accuracies = NADsPlan.read(artifacts.planned("nads")), along_nads() if swept else {}
    networks = []
    for name, member in plan.members.items():
        found = artifacts.nads(name)
        networks.append(
            network(label(member.specification), found, accuracies.get(name, {}))
            | {"file": member.source.file, "estimand": plan.estimator.estimand}
        )
    return networks


def network(name: str, found: Mapping[str, Any], accuracies: Mapping[str, Any]) -> dict[str, Any]:
    """One network's NADs; found: the fields of `pipeline.nads.NADs`; accuracies: as in `along_nads`, of this network."""
    shape = tuple(int(side) for side in found["shape"])
    some = shown(len(found["directions"]), int(np.prod(shape)))
    picture = sprite(found["directions"][some], shape)
    made = {"name": name, "shape": shape, "indices": some.tolist(), "accuracies": accuracies}
    made |= {"sprite": picture.source, "columns": picture.columns, "odd": picture.odd}
    if found["networks"]:
        made["networks"] = int(found["networks"])
        made |= {key: [float(f"{value:.3e}") for value in found[array][some]] for key, array in EIGENVALUES.items()}
        made["nearby"] = found["nearby"][some].tolist()
    return made


EIGENVALUES = {"eigenvalues": "eigenvalues", "errors": "standard_errors"}
"""What scripts call the arrays of `pipeline.nads.NADs` that they show."""


def along_nads() -> dict[str, dict[str, Any]]:
    """Accuracies of `nad_sweep`: by architecture and estimand, index → value; under 'published', index → per cent."""
    run, found = evaluated("nad_sweep"), {}
    summary = run.summary()
    for row in summary[summary["test_set"] == "all"].to_dict("records"):
        found.setdefault(row["architecture"], {}).setdefault(row["estimand"], {})[row["index"]] = _value(row)
    values = published_table("nad_sweep").set_index("index")
    for name, (called, known) in run.beside({network: values[network] for network in values}).items():
        found[name]["published"] = {"called": called, "values": known.dropna().to_dict()}
    return found


def fourier() -> dict[str, Any]:
    """Maps of accuracy over the frequency of v: ours and, beside them, published ones."""
    run, maps = evaluated("fourier"), []
    halves = halves_of(run.plan)
    rows = canonical(run.summary().query("test_set == 'all'"))
    values = published_table("fourier")
    networks = values.columns.drop(DIRECTION)
    published = run.beside({name: values[DIRECTION].assign(accuracy=values[name] / 100) for name in networks})
    for name, text in run.labels.items():
        own = rows[rows["architecture"] == name]
        cells = {
            f"{row['k_row']},{row['k_col']}": _value(row)
            for row in (with_transposes(own) if name in halves else own).to_dict("records")
        }
        maps.append({"name": text, "cells": cells, "sides": run.plan.members[name].input})
        if name in published:
            called, known = published[name]
            cells = {
                f"{row['k_row']:.0f},{row['k_col']:.0f}": [row["mean"]]
                for row in by_direction(known).to_dict("records")
            }
            maps[-1] |= {"called": called, "published": cells}
    return {"maps": maps}


def pairs() -> dict[str, Any]:
    """The cells of `linear_pairs`: accuracies, tilts and boundaries of every pair of NAD indices, by network."""
    run = evaluated("linear_pairs", "n")
    settings, planes = run.plan.settings, linear_pairs.planes_of(run)
    separations = (settings.eps1, settings.eps2)
    networks = [
        {"name": text, "indices": indices(run, name), "cells": cells(run, planes[planes["architecture"] == name], name)}
        for name, text in run.labels.items()
    ]
    return {
        "extent": EXTENT,
        "points": POINTS,
        "means": separations,
        "margin": max_margin_tilt(*separations),
        "networks": networks,
    }


def indices(run: Evaluated, name: str) -> list[int]:
    """The NAD indices of one architecture's grid."""
    return sorted(set(run.results.loc[run.results["architecture"] == name, "index_1"]))


def cells(run: Evaluated, planes: pd.DataFrame, name: str) -> dict[str, dict[str, Any]]:
    """The cells of one architecture by 'index_1,index_2'; planes: its rows of reports/linear_pairs/boundaries.csv."""
    summary = run.summary("best_mean", "best_std")
    probabilities = linear_pairs.mean_probabilities(planes)
    found = {}
    for (first, second), rows in summary[summary["architecture"] == name].groupby(linear_pairs.PAIR):
        tests = rows.set_index("test_set")
        of_pair = linear_pairs.at(planes, (first, second))
        tilts = linear_pairs.tilts_of(of_pair)
        bytes_ = np.rint(255 * probabilities[first, second]).astype(np.uint8).tobytes()
        found[f"{first},{second}"] = {
            **{test: _value(tests.loc[test]) for test in linear_pairs.PANELS},
            "best": [tests.loc["second", "best_mean"], tests.loc["second", "best_std"]],
            "training": tests.loc["all", "train_accuracy"],
            "tilt": [tilts.mean(), tilts.std()] if len(tilts) else None,
            "learned": bool(of_pair["tilt"].notna().any()),
            "fitted": int(fitted(of_pair).sum()),
            "plane": base64.b64encode(bytes_).decode(),
        }
    return found


def every(sections: Mapping[str, Any]) -> dict[str, Any]:
    """The data of the page's scripts, for those of its sections that are there."""
    data: dict[str, Any] = {"colours": colours(), "tile": [ZERO, STEP * LEVELS]}
    if "nads" in sections:
        data["nads"] = nads("nad_sweep" in sections)
    for name, of in {"fourier": fourier, "linear_pairs": pairs}.items():
        if name in sections:
            data[name] = of()
    return data
