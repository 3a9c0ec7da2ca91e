"""Profiles whose every number is known, for tests of the page: C of two channels or one, all NADs or the first."""

import numpy as np
import pandas as pd

from pipeline.nads import Covariance, Estimation, Estimator, Leading, sweep
from pipeline.nads.response import Response
from pipeline.report.profile import Found

GRADIENT = Estimator("gradient", "plain", 100.0, "many", False, False)


def found(complete=True, shape=(1, 8, 8), lr=0.5, results=None, **others):
    """A profile of 40 networks whose response falls along the pixels, and of networks trained along two of its NADs."""
    dimension = int(np.prod(shape))
    rng, fall = np.random.default_rng(0), np.geomspace(1, 0.05, dimension)
    samples = [(fall * rng.standard_normal((4, dimension))).astype(np.float32) for _ in range(40)]
    estimation = Estimation(Covariance(shape) if complete else Leading(shape, 10), 40)
    for sample in samples:
        estimation.accumulator.add(sample)
    nads = estimation.nads(GRADIENT)
    last = len(nads.directions) - 1
    directions = {"NAD 0": nads.directions[0], f"NAD {last}": nads.directions[-1]}
    if results is None:
        cells = [("NAD 0", 0, 1.0, 1.0), ("NAD 0", 1, 0.96, 1.0), (f"NAD {last}", 0, 0.55, 0.6)]
        results = pd.DataFrame(cells, columns=["direction", "seed", "accuracy", "train_accuracy"])
        results = results.assign(loss=0.1, seconds=1.0)
    whole = dict(
        name="My <net>",
        command="python profile.py my_networks:Net",
        parameters=1234,
        complete=complete,
        nads=nads,
        response=Response.of(nads, None if complete else np.concatenate(samples)),
        directions=directions,
        swept_with=40,
        results=results,
        sizes=sweep.Sizes(1000, 3, 500),
        lr=lr,
        notices=[],
        minutes=1.25,
        cores=2,
    )
    return Found(**whole | others)
