"""What the stages hand to each other on disk: the one place that knows which file holds what.

data/plan/                    images.json, nads.json, machine.json, {experiment}.json: what params.yaml asks for, checked
data/images/                  {train,test}_{images,labels}.npy, about.json
data/nads/                    {architecture}.npz: the fields of `pipeline.nads.NADs`; {architecture}.{estimand}.npz: the same of
                              the other estimand, for comparison
data/datasets/{experiment}/   cells.csv, directions.npz, draw-{seed}.npz; digests.json: of the draws' arrays; images.json: what the
                              pictures in the draws are
models/{experiment}/          {cell}.safetensors, training.csv, losses.csv; grid.json: what the networks are
reports/{experiment}/         results.csv, summary.csv, metrics.json; for some also boundaries.csv, cross_sections.npz,
                              changes.csv
"""

import contextlib
import json
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.project import formats
from pipeline.project.contents import (
    DRAW_SHAPES,
    IMAGE_SHAPES,
    NADS_SHAPES,
    About,
    Digests,
    Grid,
    Machine,
    images_digest,
)
from pipeline.project.errors import InputError

PLAN = Path("data/plan")
IMAGES = Path("data/images")
NADS = Path("data/nads")
DATASETS = Path("data/datasets")
MODELS = Path("models")
REPORTS = Path("reports")
FIGURES = REPORTS / "figures"
GRID = "grid.json"
DIGESTS = "digests.json"


def present(path: Path | str, stage: str) -> Path:
    """`path` itself; raises InputError naming the stage that makes it if it does not exist."""
    if not Path(path).exists():
        raise InputError(
            f"{path} is missing; `python -m pipeline.{stage}` makes it (`dvc repro` runs all stages in order)"
        )
    return Path(path)


def fresh(folder: Path | str) -> Path:
    """The empty folder `folder`: a stage owns its output whole, so what an earlier run left is removed."""
    folder = Path(folder)
    if folder.exists():
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_json(path: Path | str, value: typing.Any) -> None:
    """Write `value` as indented JSON."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@contextlib.contextmanager
def whole(path: Path, stage: str) -> Iterator[None]:
    """Context in which a file is read: where it is missing or damaged, it ends in one sentence that names the stage that makes it."""
    with formats.whole(present(path, stage), f"`python -m pipeline.{stage}` makes it again"):
        if not path.is_file() and not path.is_dir():
            raise ValueError("it is no regular file")  # reading a pipe would wait for ever
        yield


# The keys of finished cells hold the text of the next two, and of `about_pictures`, `directions` and `draw`: they stay as they are,
# and what they would stumble over is found before they are called, by `check_shared` and `check_draw`.


def _read_json(path: Path, stage: str) -> typing.Any:
    return json.loads(present(path, stage).read_text(encoding="utf-8"))


def _arrays(path: Path, stage: str) -> dict[str, np.ndarray]:
    with np.load(present(path, stage), allow_pickle=False) as file:
        return {key: file[key] for key in file}


def _json(kind: typing.Any, path: Path, stage: str) -> dict[str, typing.Any]:
    """The mapping in a JSON file, after checking that it is a `kind`."""
    with whole(path, stage):
        found = formats.typed(kind, path.read_bytes())
    return found if isinstance(found, dict) else vars(found)


def _table(path: Path, stage: str, wanted: Iterable[str]) -> pd.DataFrame:
    """The table in a CSV file, which has the columns `wanted`."""
    with whole(path, stage):
        return formats.table(path.read_bytes(), wanted)


def _npz(
    path: Path, stage: str, shapes: formats.Shapes, needed: Iterable[str], names: Iterable[str] | None = None
) -> dict[str, np.ndarray]:
    """The arrays of an .npz file (those of `names`), after checking that all that are `needed` are there, as `shapes` says."""
    with whole(path, stage):
        found = formats.arrays(path, shapes, names)
        formats.lacking(found, needed)
    return found


def planned(name: str) -> dict[str, typing.Any]:
    """What `plan` wrote of an experiment, of 'nads', 'images' or 'machine'."""
    return _json(Machine if name == "machine" else dict[str, typing.Any], PLAN / f"{name}.json", "plan")


def as_planned(kind: typing.Any, name: str, document: dict[str, typing.Any], **fixed: str) -> typing.Any:
    """What `planned` gives of `name` as an instance of the type `kind`; raises InputError if it is none, or has not the values `fixed`."""
    with formats.whole(PLAN / f"{name}.json", "`python -m pipeline.plan` makes it again"):
        found = formats.typed(kind, json.dumps(document))
        if wrong := [value for key, value in fixed.items() if document[key] != value]:
            raise ValueError(f"it is not of {wrong[0]}")
    return found


def about_images() -> dict:
    """What data/images holds: name, classes, counts, digest, mean and deviation."""
    return _json(About, IMAGES / "about.json", "download")


def about_pictures(experiment: str) -> dict | None:
    """What the pictures in an experiment's draws are, as `about_images` has it; None where it has no pictures."""
    path = DATASETS / experiment / "images.json"
    return _read_json(path, f"generate {experiment}") if path.exists() else None


def images() -> dict:
    """The images as a dict: {train,test}_images uint8 (N, 3, H, W) mapped from disk, {train,test}_labels (N,), classes,
    and mean and deviation (3,) of the whole training split's values in [0, 1].
    """
    about, arrays = about_images(), {}
    for split in ("train", "test"):
        found = {}
        for kind in IMAGE_SHAPES:
            path = IMAGES / f"{split}_{kind}.npy"
            with whole(path, "download"):
                found[kind] = np.lib.format.open_memmap(path, mode="r")
                formats.check_shapes(found, IMAGE_SHAPES)
                if len(found[kind]) != about[split]:
                    raise ValueError(f"it has {len(found[kind])} of {about[split]} {kind}")
                if kind == "labels" and not np.isin(found[kind], np.arange(len(about["classes"]))).all():
                    raise ValueError("a label is no class's number")
            arrays[f"{split}_{kind}"] = found[kind]
    splits = [tuple(arrays[f"{split}_{kind}"] for kind in IMAGE_SHAPES) for split in ("train", "test")]
    if images_digest(about["classes"], splits) != about["digest"]:
        raise InputError(
            f"the images in {IMAGES} are not those of its about.json, something has altered them; "
            "`python -m pipeline.download` makes them again"
        )
    return arrays | {key: about[key] for key in ("classes", "mean", "deviation")}


def nads(name: str, estimand: str | None = None) -> dict[str, np.ndarray]:
    """The NADs of an architecture as a dict of the arrays of `pipeline.nads.NADs`; estimand: the other one's, compared."""
    path = NADS / (f"{name}.npz" if estimand is None else f"{name}.{estimand}.npz")
    found = _npz(path, "estimate", NADS_SHAPES, NADS_SHAPES)
    with whole(path, "estimate"):
        if np.prod(found["shape"]) != found["directions"].shape[1]:
            raise ValueError("its directions are not of its shape")
        if not np.isfinite(found["directions"]).all():
            raise ValueError("its directions are no finite numbers")
    return found


def nad_file(path: str) -> np.ndarray:
    """The array in a user's .npy file of NADs; raises InputError if there is none that can be read without unpickling."""
    try:
        if not Path(path).is_file() and not Path(path).is_dir() and Path(path).exists():
            raise InputError(f"the NADs {path} cannot be read: it is no regular file")
        with open(path, "rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"the NADs {path} cannot be read: {error.strerror}") from None
    except Exception as error:
        # A damaged header is read as Python's literals, of which Python's own parsers raise nearly anything.
        raise InputError(f"{path} is not a .npy file of numbers: {' '.join(str(error).split())}") from None


def directions(experiment: str) -> dict[str, np.ndarray]:
    """An experiment's directions by name."""
    return _arrays(DATASETS / experiment / "directions.npz", f"generate {experiment}")


def draw(experiment: str, seed: int) -> dict[str, np.ndarray]:
    """The arrays of one seed's draw."""
    return _arrays(DATASETS / experiment / f"draw-{seed}.npz", f"generate {experiment}")


def vectors(experiment: str, names: Iterable[str]) -> dict[str, np.ndarray]:
    """An experiment's directions by name, as `directions` gives them, after checking that those of `names` are among them."""
    path, stage = DATASETS / experiment / "directions.npz", f"generate {experiment}"
    found = _npz(path, stage, {}, names)
    with whole(path, stage):
        for name, vector in found.items():
            formats.check_shapes(found, {name: ("fiu", ("K",) if vector.ndim == 1 else ("K", "D"))})
            if not np.isfinite(vector).all() and not name.endswith("-eigenvalues"):
                raise ValueError(f"{name} is of other than finite numbers")
    return found


def labels(experiment: str, seed: int, split: str) -> np.ndarray:
    """The labels (N,) of one seed's draw, of which nothing else is read."""
    path, name = DATASETS / experiment / f"draw-{seed}.npz", f"{split}_labels"
    return _npz(path, f"generate {experiment}", DRAW_SHAPES, [], [name])[name]


def drawn(experiment: str, seed: int) -> int:
    """Training samples in one seed's draw; raises InputError where this, or what all draws share, is not whole."""
    check_shared(experiment)
    return len(labels(experiment, seed, "train"))


def draw_digests(experiment: str, seed: int) -> dict[str, str] | None:
    """The digests that `generate` noted of the arrays of one seed's draw; None where it noted none."""
    path = DATASETS / experiment / DIGESTS
    return _json(Digests, path, f"generate {experiment}").get(str(seed)) if path.exists() else None


def checked_pictures(experiment: str) -> dict | None:
    """What `about_pictures` gives, after checking that it is whole."""
    path = DATASETS / experiment / "images.json"
    return _json(About, path, f"generate {experiment}") if path.exists() else None


def check_shared(experiment: str, names: Iterable[str] = ()) -> None:
    """Raise InputError unless what an experiment's data share is whole: what the pictures are, and directions, also those of `names`."""
    checked_pictures(experiment)
    vectors(experiment, names)


def check_draw(experiment: str, seed: int) -> dict[str, np.ndarray]:
    """What `draw` gives, after checking that it is whole: both splits, and all that was noted of it."""
    needed = {f"{split}_labels" for split in ("train", "test")} | set(draw_digests(experiment, seed) or ())
    path, stage = DATASETS / experiment / f"draw-{seed}.npz", f"generate {experiment}"
    found = _npz(path, stage, DRAW_SHAPES, needed)
    with whole(path, stage):
        formats.lacking(found, [name.replace("train_", "test_") for name in found])
        for split in ("train", "test"):
            counts = {len(array) for name, array in found.items() if name.startswith(f"{split}_")}
            if len(counts) > 1:
                raise ValueError(f"its {split} arrays are of unequal length")
    return found


def cells(experiment: str, wanted: Iterable[str] = (), planned: Sequence[Mapping] = ()) -> list[dict[str, typing.Any]]:
    """The grid of an experiment, in the order of cells.csv; wanted: columns that it must have; planned: the cells that it must be."""
    path, stage = DATASETS / experiment / "cells.csv", f"generate {experiment}"
    columns = dict.fromkeys(key for cell in planned for key in cell)
    found = _table(path, stage, ["architecture", "seed", *wanted, *columns])
    with whole(path, stage):
        if planned:
            keys = [column for column in columns if not any(isinstance(cell[column], float) for cell in planned)]
            same_cells(found, pd.DataFrame(planned), keys)
    return found.to_dict("records")


def trained(
    experiment: str, name: str, coordinates: Sequence[str], wanted: Sequence[str], cells: Sequence[Mapping]
) -> pd.DataFrame:
    """A table of models/{experiment}, 'training' or 'losses', with rows for each of the cells and for no other."""
    keys = ["architecture", "seed", *coordinates]
    path, stage = MODELS / experiment / f"{name}.csv", f"train {experiment}"
    found = _table(path, stage, [*keys, *wanted])
    with whole(path, stage):
        same_cells(found, pd.DataFrame(cells), keys)
        # One row of every epoch, or one row: as many of each cell of an architecture.
        counts = found.groupby(keys).size()
        if (counts.groupby(level=0).nunique() > 1).any() or ("epoch" not in found and (counts > 1).any()):
            raise ValueError("it does not have as many rows of every network")
    return found


def same_cells(rows: pd.DataFrame, others: pd.DataFrame, keys: Sequence[str]) -> None:
    """Raise ValueError unless two tables have rows of the same `keys`."""
    here, there = (set(some[list(keys)].itertuples(index=False, name=None)) for some in (rows, others))
    if odd := sorted(here ^ there, key=str):
        what = ", ".join(f"{key} {value}" for key, value in zip(keys, odd[0]))
        raise ValueError(f"it has {'no' if odd[0] in there else 'a'} row of {what}")


def evaluated(experiment: str, name: str, wanted: Sequence[str]) -> pd.DataFrame:
    """A table of reports/{experiment}: 'results', 'summary', 'boundaries' or 'changes', which has the columns `wanted`."""
    return _table(REPORTS / experiment / f"{name}.csv", f"evaluate {experiment}", wanted)


def metrics(experiment: str, kind: typing.Any, architectures: Iterable[str]) -> dict[str, typing.Any]:
    """What reports/{experiment}/metrics.json holds of each of some architectures, as instances of the type `kind`."""
    path, stage = REPORTS / experiment / "metrics.json", f"evaluate {experiment}"
    found = _json(dict[str, typing.Any], path, stage)
    with whole(path, stage):
        formats.lacking(found, architectures)
        return {name: formats.typed(kind, json.dumps(found[name])) for name in architectures}


def cross_sections(experiment: str, shape: tuple[int, int], names: Sequence[str]) -> dict[str, np.ndarray]:
    """The cross-sections of the cells of `names`, each of `shape`."""
    path = REPORTS / experiment / "cross_sections.npz"
    shapes = dict.fromkeys(names, ("f", shape))
    return _npz(path, f"evaluate {experiment}", shapes, names)


def grid(experiment: str, architectures: Iterable[str] = ()) -> dict:
    """What the trained networks of an experiment are: scale, seeds, precision, specifications of all `architectures` and others."""
    path, stage = MODELS / experiment / GRID, f"train {experiment}"
    found = _json(Grid, path, stage)
    with whole(path, stage):
        formats.lacking(found["architectures"], architectures)
        for specification in found["architectures"].values():
            formats.lacking(specification, ["network"])
    return found


def cell_name(cell: dict[str, typing.Any], coordinates: tuple[str, ...]) -> str:
    """The name of a cell: architecture, coordinates and seed, for example lenet-1-800-seed0."""
    return "-".join([cell["architecture"], *(str(cell[c]) for c in coordinates), f"seed{cell['seed']}"])
