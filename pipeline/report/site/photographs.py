"""`photographs` on the page: photographs with a class in one NAD, or with their NADs in reverse
order, and what networks learn from such images (paper 1, §5)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from pipeline.cells.pictures import carrier_of, flipped, in_unit_range
from pipeline.experiments.poison import CLEAN
from pipeline.report.nads import NADs
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated
from pipeline.report.site.data import encoded, sprite, value

# Photographs that come with scikit-learn, since a page may not carry images of the data set.
PHOTOGRAPHS = {"a flower": "flower.jpg", "a temple": "china.jpg"}


def photograph(file: str, height: int, width: int) -> np.ndarray:
    """The middle of one of scikit-learn's photographs, uint8 (3, height, width)."""
    from sklearn.datasets import load_sample_image  # takes a second

    picture = Image.fromarray(load_sample_image(file))
    return np.array(ImageOps.fit(picture, (width, height))).transpose(2, 0, 1)


def explorer(
    poisons: Iterable[Evaluated], flips: Iterable[Evaluated], nads: Mapping[str, NADs]
) -> dict[str, Any]:
    """The curves of runs of `poison`, the accuracies of runs of `flip`, and photographs.

    nads: by architecture.
    """
    networks = [_curve(run, name, nads) for run in poisons for name in run.labels]
    networks.sort(key=lambda network: "published" not in network)
    return {"networks": networks, "flips": [row for run in flips for row in _flips(run)]}


def _curve(run: Evaluated, name: str, nads: Mapping[str, NADs]) -> dict[str, Any]:
    rows = run.summary_of(name)
    clean, carrying = (
        {row["index"]: value(row) for row in rows[rows["test_set"] == each].to_dict("records")}
        for each in ("clean", "poisoned")
    )
    curve = {"name": run.labels[name], "level": clean.pop(CLEAN), "cells": clean}
    curve |= {"carrying": carrying, "guess": 1 / len(run.images["classes"])}
    curve["caption"] = run.sizes([name])
    published = run.beside(published_table("poison").set_index("index"))
    if name in published:
        called, values = published[name]
        curve["published"] = {"called": called, "values": values.to_dict()}
    if key := run.nads_in(nads, name):
        indices = [*clean, *curve.get("published", {}).get("values", ())]
        curve |= {"nads": key, "pictures": pictures(run, nads[key], indices)}
    return curve


def pictures(run: Evaluated, nads: NADs, firsts: Iterable[int]) -> dict[str, Any]:
    """The photographs for carriers along NADs, which begin at the indices `firsts`, and these NADs.

    Each has its coefficients on the carriers' NADs, in [0, 1] and by channel, and where the NADs
    are a basis its picture with them in reverse order, whose values are stretched from 0 to 1.
    """
    directions, shape = nads["directions"], tuple(map(int, nads["shape"]))
    classes = [
        [text, *carrier_of(label, 3 // shape[0])]
        for label, text in enumerate(run.images["classes"])
    ]
    indices = np.unique([first + offset for first in firsts for _, offset, *_ in classes])
    indices, photographs = indices[indices < len(directions)], []
    for called, file in PHOTOGRAPHS.items():
        pixels = photograph(file, *shape[1:])
        x = in_unit_range(pixels[None])
        found = x.numpy().reshape(-1, directions.shape[1]) @ directions[indices].T
        coefficients = {int(index): np.round(row, 4) for index, row in zip(indices, found.T)}
        shown = {"name": called, "pixels": encoded(pixels), "coefficients": coefficients}
        if len(directions) == directions.shape[1]:
            turned = flipped(x, directions).numpy()
            turned = (turned - turned.min()) / np.ptp(turned)
            shown["flipped"] = encoded(np.rint(255 * turned).astype(np.uint8))
        photographs.append(shown)
    source, columns = sprite(directions[indices], shape)
    tiles = {"shape": shape, "sprite": source, "columns": columns, "indices": indices}
    size = run.plan.settings.size
    shown = {"shape": (3, *shape[1:]), "photographs": photographs, "tiles": tiles}
    return shown | {"size": size, "classes": classes}


def _flips(run: Evaluated) -> Iterable[dict[str, Any]]:
    published = run.beside(published_table("flip").set_index("network").to_dict("index"))
    for name, label in run.labels.items():
        at = run.summary_of(name).set_index("images")
        row = {"name": label, "cells": {each: value(at.loc[each]) for each in ("plain", "flipped")}}
        if name in published:
            called, values = published[name]
            row |= {"called": called, "published": [values["plain"], values["flipped"]]}
        yield row
