"""A small run that is written by hand: the narrow ResNet-18 `z` and LeNet `a`, of two
seeds each."""

import dataclasses

import numpy as np
import pandas as pd
from hand_overs import lay_down_plans

from pipeline import experiments
from pipeline.experiments.plan import Member, Plan
from pipeline.measures.boundaries import POINTS
from pipeline.measures.fitted import summary
from pipeline.nads import NADs
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

FREQUENCIES = [{"k_row": r, "k_col": c} for r in (-16, 0) for c in (-16, 0)]
SWEPT = [{"estimand": e, "index": i} for e in ("secant", "gradient") for i in (0, 10)]
PAIRS = [{"index_1": a, "index_2": b} for a in (1, 9) for b in (1, 9)]
SIGMAS = {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}


def make_plan(name, settings, grids, precision="float32", epochs=(3, 2)):
    """The plan of an experiment; grids: the parts of the grid of `z` and `a`."""
    experiment = experiments.find(name)
    members = {}
    for architecture, specification, grid, count in zip(
        "za", (NARROW, LENET), grids, epochs, strict=True
    ):
        training = Training(count, 0.1, 0.9, 0.0, experiment.schedule, precision)
        grid = experiment.Grid(**grid)
        estimands = ("secant", "gradient")
        members[architecture] = Member(specification, training, grid, estimands)
    settings = experiment.Settings(**settings)
    return Plan(name, "smoke", SEEDS, 1234, 90, settings, members)


def make_results(cells, accuracy=0.5, unfitted=0, tests=("all",)):
    """Results of both networks, whose accuracies rise by 0.2 points from row to row.

    cells: the coordinates of each cell; accuracy: the first one; unfitted: the number
    of first rows whose training accuracy is 98 % instead of 100 %.
    """
    rows = []
    for name in "za":
        for cell in cells:
            for test_set in tests:
                for seed in SEEDS:
                    row = {"architecture": name, "seed": seed, "test_set": test_set}
                    rows.append(row | cell)
    results = pd.DataFrame(rows).assign(n=10**8, train_accuracy=1.0)
    results["accuracy"] = accuracy + np.arange(len(rows)) / 500
    results["best_accuracy"] = results["accuracy"]
    results.loc[: unfitted - 1, "train_accuracy"] = 0.98
    return results


def summarise(name, results):
    """The summary of results of the experiment `name`."""
    coordinates = experiments.find(name).coordinates
    return summary(results, ["architecture", *coordinates, "test_set"])


def make_record(plan, results):
    """The record of one experiment."""
    name = plan.experiment
    return Record(name, plan, results, summarise(name, results), ABOUT, files={})


def change_member(record, name, **changes):
    """A record in which one architecture of the plan is changed."""
    member = dataclasses.replace(record.plan.members[name], **changes)
    members = record.plan.members | {name: member}
    plan = dataclasses.replace(record.plan, members=members)
    return dataclasses.replace(record, plan=plan)


def change_results(run, name, results):
    """A run in which an experiment has other results."""
    record = dataclasses.replace(
        run.experiments[name], results=results, summary=summarise(name, results)
    )
    return dataclasses.replace(run, experiments=run.experiments | {name: record})


def make_nads(directions, shape=(1, 2, 2), **changes):
    """NADs with two degenerate eigenvalues.

    changes: of the fields.
    """
    count = len(directions)
    alone = [[n, n] for n in range(2, count)]
    fields = {
        "networks": 64,
        "estimand": "secant",
        "method": "plain",
        "point": "many",
        "symmetry": "square",
        "error": 0.1,
        "eigenvalues": np.array([4.0, 2.0, 1.0] + (count - 3) * [0.5]),
        "standard_errors": np.array([0.5, 0.25] + (count - 2) * [0.0]),
        "nearby": np.array([[0, 1], [0, 1], *alone]),
        "halves": np.array([[9.0] + (count - 1) * [1.0], count * [1.0]]),
        "overlap": np.full(count, 0.8),
    }
    return NADs(directions, shape, **fields | changes)


def save_nads(name, nads):
    """Save NADs as the stage `estimate` does."""
    path = artifacts.NADS / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    nads.save(path)


def write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)


def write_experiment(plan, results):
    """Write the plan and the tables of an experiment."""
    name = plan.experiment
    lay_down_plans(**{name: plan})
    write_table(artifacts.REPORTS / name / "results.csv", results)
    write_table(artifacts.REPORTS / name / "summary.csv", summarise(name, results))
    about = {"plan": dataclasses.asdict(plan)}
    artifacts.write_json(artifacts.REPORTS / name / "run.json", about)


def write_run():
    """Write the whole run to the working folder."""
    artifacts.write_json(artifacts.IMAGES / "about.json", ABOUT)
    write_nads()
    write_frequencies()
    write_nad_sweep()
    write_linear_pairs()
    write_learning()

    # All eight rows of `z` are unfitted.
    tests = ("all", "images", "linear", "conflict")
    results = make_results([{"index": 1}], unfitted=8, tests=tests)
    write_experiment(make_plan("image_pairs", SIGMAS, 2 * [{"indices": [1]}]), results)

    cells = [{"data": "images", "index": -1}, {"data": "carriers", "index": 10}]
    results = make_results(cells, unfitted=3, tests=["clean"])
    plan = make_plan("poison", {"size": 0.25}, 2 * [{"indices": [10]}])
    write_experiment(plan, results)

    # Two networks of `z` on plain images and one on flipped images are unfitted.
    results = make_results([{"images": "plain"}, {"images": "flipped"}], unfitted=3)
    write_experiment(make_plan("flip", {}, [{}, {}]), results)


def write_nads():
    estimator = Estimator("secant", "plain", 50.0, "many", False, True)
    requests = {
        "z": Request(NARROW, Source(file="mine.npy")),
        "a": Request(LENET, Source(networks=128)),
    }
    lay_down_plans(nads=NADsPlan("smoke", 7, estimator, requests))
    shape = (1, 32, 32)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(1024, 16)))[0].T
    save_nads("z", make_nads(basis, shape, networks=0))
    save_nads("a", make_nads(basis, shape))
    save_nads("a.gradient", make_nads(basis[::-1], shape, error=0.4))


def write_frequencies():
    grids = 2 * [{"step": 16}]
    results = make_results(FREQUENCIES)
    steps = 20 * results["accuracy"]
    results["steps"] = steps.where(results["k_row"] == 0)
    write_experiment(make_plan("fourier", {"eps": 1.0, "sigma": 3.0}, grids), results)
    settings = {"eps": 1.0, "sigma": 0.5}
    write_experiment(make_plan("convergence", settings, grids), results)

    cells = [{"axis": axis} | k for axis in AXES for k in FREQUENCIES]
    results = make_results(cells, unfitted=2)
    write_experiment(make_plan("colours", {"eps": 1.0, "sigma": 0.75}, grids), results)


def write_nad_sweep():
    grids = 2 * [{"indices": [0, 10], "compare": True}]
    results = make_results(SWEPT, unfitted=1)
    write_experiment(make_plan("nad_sweep", SIGMAS, grids), results)


def write_linear_pairs():
    settings = {"eps1": 1.5, "eps2": 0.75, "sigma": 2.0}
    grids = [{"indices": [9, 1]}, {"indices": [1, 9]}]
    # The six rows of `z` at its first pair are unfitted.
    results = make_results(PAIRS, 0.56, unfitted=6, tests=("all", "first", "second"))
    write_experiment(make_plan("linear_pairs", settings, grids), results)

    columns = ["architecture", "seed", "index_1", "index_2", "train_accuracy"]
    planes = results[results["test_set"] == "all"][columns]
    planes = planes.assign(margin_1=1.0, margin_2=np.inf)
    planes["tilt"] = planes["index_1"] + planes["index_2"] / 10 + planes["seed"]
    planes.loc[planes["architecture"] == "a", "tilt"] += 40
    write_table(artifacts.REPORTS / "linear_pairs" / "boundaries.csv", planes)
    sections = {}
    for number, row in enumerate(planes.to_dict("records"), start=1):
        name = artifacts.cell_name(row, ("index_1", "index_2"))
        sections[name] = np.full((POINTS, POINTS), number / 32, np.float16)
    np.savez(artifacts.REPORTS / "linear_pairs" / "cross_sections.npz", **sections)


def write_learning():
    """All four rows of `z` are unfitted. Training along NAD 10 triples all parts."""
    cells = [{"data": "linear", "index": 10}, {"data": "images", "index": -1}]
    results = make_results(cells, unfitted=4)
    plan = make_plan("learning", SIGMAS, 2 * [{"indices": [10]}])
    write_experiment(plan, results)
    course = []
    for row in results.to_dict("records"):
        for epoch in (0, 1, 2):
            if row["data"] == "linear":
                parts = {"v": 0.0101 * (1 + epoch), "nads": 0.02 * (1 + epoch)}
            else:
                parts = {"components": 0.0401, "evolution": 0.0801, "nads": 0.02}
            for part in parts:
                parts[part] += row["seed"] / 1000
            course.append(row | {"epoch": epoch} | parts)
    write_table(artifacts.REPORTS / "learning" / "course.csv", course)


def list_captions(section):
    """The captions of a section's figures, each on one line, by the figure's name."""
    captions = {}
    for picture in section.pictures:
        text = picture.figure._supxlabel.get_text()
        captions[picture.name] = " ".join(text.split())
    return captions
