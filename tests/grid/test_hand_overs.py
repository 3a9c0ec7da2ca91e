"""What one stage hands to another, damaged in every way: each ends in one sentence that names the file and what makes it again."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from hand_overs import ABOUT, lay_down_images, nads_of_file
from small_grids import ARCHITECTURES, in_this_process, lay_down_nads, lay_down_plan, orthonormal, plan_of

from pipeline import download, estimate, evaluate, generate, render, train
from pipeline.machine import workers
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import flip, linear_pairs, nad_sweep, nads, style
from pipeline.report.site import document

PLANS = {
    "linear_pairs": ({"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}, {"indices": (1, 9)}),
    "nad_sweep": ({"eps": 1.0, "sigma": {"logreg": 1.0}}, {"indices": (0, 9)}),
    "flip": ({}, {}),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A small run of three experiments, all stages done but `render`, of which nothing is drawn."""
    folder = tmp_path_factory.mktemp("tree")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DVC_ROOT", str(folder))
        patch.setattr(workers, "run", in_this_process)
        patch.setattr(render, "IN_ORDER", (nads, nad_sweep, linear_pairs, flip))
        patch.setattr(style, "save", lambda *_: None)
        patch.setattr(document, "document", lambda *_: "")
        rng = np.random.default_rng(0)
        arrays = {
            f"{s}_images": rng.integers(0, 256, (ABOUT[s], 3, 32, 32)).astype(np.uint8) for s in ("train", "test")
        }
        lay_down_images(arrays | {f"{s}_labels": np.arange(ABOUT[s]) % 4 for s in ("train", "test")})
        artifacts.write_json(
            artifacts.PLAN / "images.json", {"path": None, "url": "https://example.org", "fallback": None}
        )
        request = Request(ARCHITECTURES["logreg"], Source(networks=4))
        estimator = Estimator("secant", "plain", 50.0, "many", False, False)
        plan = NADsPlan("smoke", 0, estimator, {"logreg": request})
        artifacts.write_json(artifacts.PLAN / "nads.json", dataclasses.asdict(plan))
        lay_down_nads(logreg=orthonormal())
        symmetric = nads_of_file(orthonormal(), (1, 32, 32), symmetry="none", estimand="secant", method="plain")
        np.savez(artifacts.NADS / "logreg.npz", **symmetric)
        for name, (settings, grid) in PLANS.items():
            lay_down_plan(plan_of(name, settings, {"logreg": grid}, seeds=(0,), samples=(40, 16)))
            for stage in (generate, train, evaluate):
                stage.main(name)
        yield folder


STAGES = {
    "download": download.main,
    "estimate": estimate.main,
    **{f"{stage.__name__.rpartition('.')[2]} {name}": (lambda stage=stage, name=name: stage.main(name))
       for stage in (generate, train, evaluate) for name in PLANS},
    "render": render.main,
}  # fmt: skip

HAND_OVERS = [  # file, the stage that makes it, one that reads it
    ("data/plan/images.json", "plan", "download"),
    ("data/plan/machine.json", "plan", "estimate"),
    ("data/plan/machine.json", "plan", "train linear_pairs"),
    ("data/plan/machine.json", "plan", "evaluate linear_pairs"),
    ("data/plan/nads.json", "plan", "estimate"),
    ("data/plan/nads.json", "plan", "render"),
    ("data/plan/linear_pairs.json", "plan", "generate linear_pairs"),
    ("data/plan/linear_pairs.json", "plan", "train linear_pairs"),
    ("data/plan/linear_pairs.json", "plan", "render"),
    ("data/images/about.json", "download", "generate flip"),
    ("data/images/about.json", "download", "render"),
    ("data/images/train_images.npy", "download", "generate flip"),
    ("data/images/test_labels.npy", "download", "generate flip"),
    ("data/nads/logreg.npz", "estimate", "generate linear_pairs"),
    ("data/nads/logreg.npz", "estimate", "render"),
    ("data/datasets/linear_pairs/cells.csv", "generate linear_pairs", "train linear_pairs"),
    ("data/datasets/linear_pairs/cells.csv", "generate linear_pairs", "evaluate linear_pairs"),
    ("data/datasets/linear_pairs/directions.npz", "generate linear_pairs", "train linear_pairs"),
    ("data/datasets/linear_pairs/directions.npz", "generate linear_pairs", "evaluate linear_pairs"),
    ("data/datasets/linear_pairs/directions.npz", "generate linear_pairs", "render"),
    ("data/datasets/nad_sweep/directions.npz", "generate nad_sweep", "render"),
    ("data/datasets/linear_pairs/draw-0.npz", "generate linear_pairs", "train linear_pairs"),
    ("data/datasets/flip/draw-0.npz", "generate flip", "evaluate flip"),
    ("data/datasets/linear_pairs/digests.json", "generate linear_pairs", "train linear_pairs"),
    ("data/datasets/flip/images.json", "generate flip", "train flip"),
    ("data/datasets/flip/images.json", "generate flip", "evaluate flip"),
    ("models/linear_pairs/grid.json", "train linear_pairs", "evaluate linear_pairs"),
    ("models/linear_pairs/training.csv", "train linear_pairs", "evaluate linear_pairs"),
    ("models/linear_pairs/losses.csv", "train linear_pairs", "evaluate linear_pairs"),
    ("models/linear_pairs/logreg-1-9-seed0.safetensors", "train linear_pairs", "evaluate linear_pairs"),
    ("models/nad_sweep/losses.csv", "train nad_sweep", "render"),
    ("reports/linear_pairs/results.csv", "evaluate linear_pairs", "render"),
    ("reports/linear_pairs/summary.csv", "evaluate linear_pairs", "render"),
    ("reports/linear_pairs/boundaries.csv", "evaluate linear_pairs", "render"),
    ("reports/linear_pairs/cross_sections.npz", "evaluate linear_pairs", "render"),
    ("reports/nad_sweep/metrics.json", "evaluate nad_sweep", "render"),
    ("reports/flip/changes.csv", "evaluate flip", "render"),
    ("reports/flip/summary.csv", "evaluate flip", "render"),
]  # fmt: skip


def altered_table(path, alter):
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    alter(table).to_csv(path, index=False)


def altered_arrays(path, alter):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file}
    np.savez(path, **alter(arrays))


def altered_json(path, alter):
    path.write_text(json.dumps(alter(json.loads(path.read_text()))))


def turned(path):
    """One bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def folder(path):
    path.unlink()
    path.mkdir()


def first(arrays):
    """The arrays, and the name of the first of more than one number."""
    return arrays, next(name for name in arrays if arrays[name].ndim)


def reshaped(arrays):
    arrays, name = first(arrays)
    return arrays | {name: np.zeros((2, 3, 5, 7))}


def as_text(arrays):
    arrays, name = first(arrays)
    return arrays | {name: np.full(arrays[name].shape, "x")}


def without_first(arrays):
    arrays, name = first(arrays)
    return {key: value for key, value in arrays.items() if key != name}


def retyped(document):
    """A document whose every value is of another type."""
    return {key: [value] for key, value in document.items()}


ANY = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a folder": folder,
    "noise": lambda path: path.write_bytes(np.random.default_rng(0).bytes(999)),
}
BY_KIND = {
    ".csv": {
        **{
            f"without {position}": lambda path, p=position: altered_table(path, lambda t: t.drop(columns=t.columns[p]))
            for position in (0, 1, 2, 4)
        },
        "without rows": lambda path: altered_table(path, lambda table: table[:0]),
        "without the last row": lambda path: altered_table(path, lambda table: table[:-1]),
        "cut in a row": lambda path: path.write_text(path.read_text()[:-3] + "\n" if "," in path.read_text()[-3:] else path.read_text()[:-1]),
        "text for numbers": lambda path: altered_table(path, lambda table: table.assign(seed="many")),
        "a field too many": lambda path: path.write_text(path.read_text().replace("\nlogreg,", "\nlogreg,0,", 1)),
        "another network": lambda path: path.write_text(path.read_text().replace("logreg", "lenet")),
    },
    ".npz": {
        "another shape": lambda path: altered_arrays(path, reshaped),
        "text": lambda path: altered_arrays(path, as_text),
        "without the first": lambda path: altered_arrays(path, without_first),
        "one bit": turned,
    },
    ".npy": {
        "another shape": lambda path: np.save(path, np.zeros((4, 4))),
        "text": lambda path: np.save(path, np.array(["x"] * 20)),
        "fewer": lambda path: np.save(path, np.load(path)[1:]),
    },
    ".json": {
        "a list": lambda path: path.write_text("[]"),
        "null": lambda path: path.write_text("null"),
        "nothing in it": lambda path: path.write_text("{}"),
        "values of another type": lambda path: altered_json(path, retyped),
        "nested": lambda path: path.write_text("[" * 100_000),
        "Latin-1": lambda path: path.write_bytes(b'{"name": "\xe9"}'),
    },
    ".safetensors": {"one bit": turned},
}  # fmt: skip

HARMLESS = {
    ("linear_pairs/digests.json", "nothing in it"),
    ("linear_pairs/digests.json", "missing"),
    ("flip/images.json", "missing"),
    ("nad_sweep/directions.npz", "without the first"),
}
"""Digests that are not there are made again; data without images.json are without pictures; of NADs the report shows the spectrum."""


CONTRADICTED = ("cells.csv", "results.csv")
"""Tables that others repeat: where two contradict each other, it may be the other that is named."""


def cases():
    for path, maker, reader in HAND_OVERS:
        name = path.rpartition("/")[2]
        kind = name[name.rindex(".") :]
        for damage, apply in (ANY | BY_KIND[kind]).items():
            if ("/".join(path.split("/")[-2:]), damage) not in HARMLESS:
                # Figures take their time.
                marks = [pytest.mark.slow] if reader == "render" and "reports" in path else []
                yield pytest.param(path, maker, reader, apply, id=f"{path} {damage} {reader}", marks=marks)


@pytest.mark.parametrize(("path", "maker", "reader", "damage"), list(cases()))
def test_a_damaged_hand_over_is_one_sentence(tree, path, maker, reader, damage):
    path = tree / path
    kept = path.with_name("kept")
    shutil.copyfile(path, kept)
    try:
        damage(path)
        with pytest.raises(InputError) as caught:
            STAGES[reader]()
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        kept.rename(path)
    said = str(caught.value)
    assert "\n" not in said and len(said) < 500
    if path.name in CONTRADICTED:
        assert "`python -m pipeline." in said and "linear_pairs" in said
    else:
        assert str(path.relative_to(tree)) in said and f"`python -m pipeline.{maker}`" in said


def test_the_whole_run_is_read_by_every_stage(tree):
    """What the cases start from is not itself damaged."""
    for name, stage in STAGES.items():
        if name not in ("download", "estimate"):
            stage()
