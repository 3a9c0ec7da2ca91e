"""`problem` on the page: D(v), to be drawn for any v, ε and σ, and what was learned along a v."""

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.report.fourier import key, whole
from pipeline.report.labels import papers_network
from pipeline.report.run import Evaluated, described
from pipeline.report.site.data import value

SHOWN = ("logreg", "lenet")  # a network that learns along every v, and one that does not


def explorer(records: Iterable[Evaluated], nads: Mapping[str, Any]) -> dict[str, Any]:
    """The directions that the page offers beside waves, and accuracies along directions.

    records: runs of `fourier` and `nad_sweep`, of which the first of each network counts; nads: by
    the name of its architecture, what the page has pictures of.
    """
    trained = {}
    for experiment in records:
        for name in experiment.labels:
            network = papers_network(described(experiment.plan.members[name]))
            waves = experiment.plan.experiment == "fourier"
            along = "wave" if waves else name
            if network in SHOWN and (waves or name in nads):
                cells = _waves(experiment, name) if waves else _nads(experiment, name)
                result = {"name": experiment.labels[name], "along": along, "cells": cells}
                trained.setdefault((network, along), result | {"says": experiment.science([name])})
    return {"nads": list(nads), "trained": list(trained.values())}


def _waves(experiment: Evaluated, name: str) -> dict[str, Any]:
    rows = whole(experiment, name, experiment.summary_of(name))
    return {key(row): value(row) for row in rows.dropna(subset="mean").to_dict("records")}


def _nads(experiment: Evaluated, name: str) -> dict[str, Any]:
    rows = experiment.summary_of(name).query("estimand == 'secant'")
    return {str(row["index"]): value(row) for row in rows.to_dict("records")}
