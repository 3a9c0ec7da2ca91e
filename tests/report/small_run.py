"""A small run laid down by hand: the narrow ResNet-18 `z` and LeNet `a`, of two seeds
each."""

import dataclasses

import numpy as np
import pandas as pd
from hand_overs import lay_down_plans, nads_of_file

from pipeline import experiments
from pipeline.experiments.plan import Member, Plan
from pipeline.measures.boundaries import POINTS
from pipeline.measures.fitted import summary
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.report.run import Record
from pipeline.training.fourier import AXES
from pipeline.training.loop import Training

LENET = {"network": NETWORKS["lenet"]}
NARROW = {"network": NETWORKS["resnet18"], "width": 0.125}
SEEDS = (5, 6)
LABELS = {"z": "ResNet-18, width ×0.125", "a": "LeNet"}
ABOUT = {
    "name": "CIFAR-10",
    "classes": ["ape", "bee", "cat", "dog", "eel"],
    "train": 700,
}


def plan(name, settings, grids, precision="float32", epochs=(3, 2)):
    """The plan of an experiment; grids: the networks' parts of the grid."""
    experiment = experiments.find(name)
    members = {}
    for architecture, specification, grid, count in zip(
        "za", (NARROW, LENET), grids, epochs, strict=True
    ):
        training = Training(count, 0.1, 0.9, 0.0, experiment.schedule, precision)
        part = experiment.Grid(**grid)
        both = ("secant", "gradient")
        members[architecture] = Member(specification, training, part, both)
    return Plan(
        name, "smoke", SEEDS, 1234, 90, experiment.Settings(**settings), members
    )


def rows_of(places, accuracy=0.5, unfitted=0, tests=("all",)):
    """results.csv of both networks: the accuracy of each row is 0.2 points above the
    one before.

    unfitted: rows, the first ones, whose networks come to a training accuracy of 98 %
    only, the others to 100 %.
    """
    rows = [
        {"architecture": name, "seed": seed, **place, "test_set": test}
        for name in "za"
        for place in places
        for test in tests
        for seed in SEEDS
    ]
    found = pd.DataFrame(rows).assign(n=10**8)
    found["accuracy"] = found["best_accuracy"] = accuracy + np.arange(len(rows)) / 500
    return found.assign(
        train_accuracy=[0.98] * unfitted + [1.0] * (len(rows) - unfitted)
    )


def tables_of(name, rows):
    """Results of the experiment `name`, and their summary."""
    places = ["architecture", *experiments.find(name).coordinates, "test_set"]
    return {"results": rows, "summary": summary(rows, places)}


def evaluated(planned, rows):
    """The record of one experiment; of `planned` networks there are those that have
    rows."""
    tables = tables_of(planned.experiment, rows).values()
    return Record(planned.experiment, planned, *tables, ABOUT, files={})


def with_member(one, name, **changes):
    """An experiment's record in which one architecture of its plan is changed."""
    member = dataclasses.replace(one.plan.members[name], **changes)
    planned = dataclasses.replace(one.plan, members=one.plan.members | {name: member})
    return dataclasses.replace(one, plan=planned)


def with_rows(run, name, rows):
    """The same run in which an experiment has other results."""
    one = dataclasses.replace(run.experiments[name], **tables_of(name, rows))
    return dataclasses.replace(run, experiments=run.experiments | {name: one})


def nads(directions, shape=(1, 2, 2), **known):
    """The arrays of a file of data/nads; those of four eigenvalues, of which two are
    alike."""
    count = len(directions)
    alike = {
        "estimand": "secant",
        "method": "plain",
        "point": "many",
        "symmetry": "square",
    }
    alike |= {
        "error": 0.1,
        "eigenvalues": np.r_[4.0, 2.0, 1.0, np.full(count - 3, 0.5)],
        "standard_errors": np.r_[0.5, 0.25, np.zeros(count - 2)],
        "nearby": np.r_[[[0, 1], [0, 1]], [[n, n] for n in range(2, count)]],
        "halves": np.c_[[9.0, 1.0], np.ones((2, count - 1))],
        "overlap": np.full(count, 0.8),
    }
    return nads_of_file(directions, shape, **alike | known)


def save(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


def lay(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)


def experiment(planned, rows):
    """Lay down the plan and the tables of an experiment."""
    name = planned.experiment
    lay_down_plans(**{name: planned})
    for table, content in tables_of(name, rows).items():
        lay(artifacts.REPORTS / name / f"{table}.csv", content)


FREQUENCIES = [{"k_row": r, "k_col": c} for r in (-16, 0) for c in (-16, 0)]
SWEPT = [{"estimand": e, "index": i} for e in ("secant", "gradient") for i in (0, 10)]
PAIRS = [{"index_1": a, "index_2": b} for a in (1, 9) for b in (1, 9)]
SIGMAS = {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}


def lay_run():
    """Lay down the whole run."""
    artifacts.write_json(artifacts.IMAGES / "about.json", ABOUT)

    estimator = Estimator("secant", "plain", 50.0, "many", False, True)
    asked = {
        "z": Request(NARROW, Source(file="mine.npy")),
        "a": Request(LENET, Source(networks=128)),
    }
    lay_down_plans(nads=NADsPlan("smoke", 7, estimator, asked))
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(1024, 16)))[0].T
    save(artifacts.NADS / "z.npz", **nads(basis, (1, 32, 32), networks=0))
    save(artifacts.NADS / "a.npz", **nads(basis, (1, 32, 32)))
    save(artifacts.NADS / "a.gradient.npz", **nads(basis[::-1], (1, 32, 32), error=0.4))

    steps = [{"step": 16}] * 2
    rows = rows_of(FREQUENCIES)
    rows["steps"] = np.where(rows["k_row"] == 0, 20 * rows["accuracy"], np.nan)
    experiment(plan("fourier", {"eps": 1.5, "sigma": 3.0}, steps), rows)
    experiment(plan("convergence", {"eps": 1.0, "sigma": 0.5}, steps), rows)

    rows = rows_of(
        [{"axis": axis} | k for axis in AXES for k in FREQUENCIES], unfitted=2
    )
    experiment(plan("colours", {"eps": 1.0, "sigma": 0.75}, steps), rows)

    rows = rows_of(SWEPT, unfitted=1)
    both = ("secant", "gradient")
    experiment(
        plan("nad_sweep", SIGMAS, [{"indices": [0, 10], "compare": True}] * 2), rows
    )
    lay(
        artifacts.MODELS / "nad_sweep/losses.csv",
        rows.assign(epoch=1, loss=rows["accuracy"] / 2),
    )
    spectra = {
        f"{n}-{e}-eigenvalues": np.array([4, 2 + (e == "secant")])
        for n in "za"
        for e in both
    }
    save(artifacts.DATASETS / "nad_sweep" / "directions.npz", **spectra)

    settings = {"eps1": 1.5, "eps2": 0.75, "sigma": 2.0}
    grids = [{"indices": [9, 1]}, {"indices": [1, 9]}]
    # The six rows of `z` at its first pair.
    rows = rows_of(PAIRS, 0.56, unfitted=6, tests=("all", "first", "second"))
    experiment(plan("linear_pairs", settings, grids), rows)
    planes = rows[rows["test_set"] == "all"].reset_index(drop=True)
    tilts = (
        40 * (planes["architecture"] == "a")
        + planes["index_1"]
        + planes["index_2"] / 10
    )
    planes = planes[
        ["architecture", "seed", "index_1", "index_2", "train_accuracy"]
    ].assign(tilt=tilts + planes["seed"], margin_1=1.0, margin_2=np.inf)
    lay(artifacts.REPORTS / "linear_pairs" / "boundaries.csv", planes)
    flat = np.ones((POINTS, POINTS), np.float16)
    names = ("index_1", "index_2")
    cells = [artifacts.cell_name(row, names) for row in planes.to_dict("records")]
    sections = {name: flat * (place + 1) / 32 for place, name in enumerate(cells)}
    save(artifacts.REPORTS / "linear_pairs" / "cross_sections.npz", **sections)

    # All eight rows of `z`.
    rows = rows_of(
        [{"index": 1}], unfitted=8, tests=("all", "images", "linear", "conflict")
    )
    experiment(plan("image_pairs", SIGMAS, [{"indices": [1]}] * 2), rows)
    for seed, labels in ((5, [1, 1, 1, -1]), (6, [1, -1, -1, 1])):
        draws = artifacts.DATASETS / "image_pairs"
        draws.mkdir(parents=True, exist_ok=True)
        artifacts.write_draw(draws, seed, {"test_labels": np.array(labels, np.int8)})

    rows = rows_of([{"index": i} for i in (-1, 10)], unfitted=3, tests=["clean"])
    experiment(plan("poison", {"size": 0.25}, [{"indices": [10]}] * 2), rows)

    # All four rows of `z`; of D(v) along NAD 10 every part is three times as large
    # after training.
    cells = [{"data": "linear", "index": 10}, {"data": "images", "index": -1}]
    rows = rows_of(cells, unfitted=4)
    course = []
    experiment(plan("learning", SIGMAS, [{"indices": [10]}] * 2), rows)
    parts = {
        "linear": {"v": 0.0101},
        "images": {"components": 0.0401, "evolution": 0.0801},
    }
    for row in rows.to_dict("records"):
        add = row["seed"] / 1000
        for epoch in (0, 1, 2):
            times = 1 + (row["data"] == "linear") * epoch
            values = parts[row["data"]] | {"nads": 0.02}
            measured = {part: times * value + add for part, value in values.items()}
            course.append(row | {"epoch": epoch} | measured)
    lay(artifacts.REPORTS / "learning" / "course.csv", course)

    # Both networks of `z` on plain images, and one of two on flipped ones.
    rows = rows_of([{"images": kind} for kind in ("plain", "flipped")], unfitted=3)
    experiment(plan("flip", {}, [{}, {}]), rows)


def captions(section):
    """The captions of a section's figures, each on one line, by the figure's name."""
    texts = {one.name: one.figure._supxlabel.get_text() for one in section.pictures}
    return {name: " ".join(text.split()) for name, text in texts.items()}
