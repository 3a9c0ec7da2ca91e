"""Small hand-overs for the tests, whole as the stages write them."""

import dataclasses

import numpy as np

from pipeline.nads import NADs
from pipeline.project import artifacts


def lay_down_plans(**documents):
    """Write what the stage `plan` leaves, by name a document or a dataclass, and
    params.yaml where there is none."""
    if not artifacts.PARAMS.exists():
        artifacts.PARAMS.write_text("scale: smoke\n")
    for name, plan in documents.items():
        document = dataclasses.asdict(plan) if dataclasses.is_dataclass(plan) else plan
        artifacts.write_json(artifacts.PLAN / f"{name}.json", document)
    artifacts.write_json(artifacts.PLAN / "params.json", artifacts.read_params())


def nads_of_file(directions, shape, **known):
    """The arrays of a file of data/nads with these directions (K, D), and what else is
    known of them."""
    count = len(directions)
    numbers = dict.fromkeys(("error", "split_half", "step", "asymmetry"), np.nan)
    words = dict.fromkeys(("estimand", "method", "point", "symmetry"), "file")
    vectors = dict.fromkeys(
        ("eigenvalues", "standard_errors", "overlap"), np.linspace(1, 0, count)
    )
    found = numbers | words | vectors
    found |= {
        "networks": 64,
        "directions": directions,
        "shape": shape,
        "nearby": np.stack([np.arange(count)] * 2, 1),
        "halves": np.ones((2, count)),
    }
    assert set(found) == {field.name for field in dataclasses.fields(NADs)}
    return {name: np.asarray(value) for name, value in (found | known).items()}
