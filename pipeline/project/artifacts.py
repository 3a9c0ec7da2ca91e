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

import json
import typing
from pathlib import Path

import numpy as np
import pandas as pd

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


def _read_json(path: Path, stage: str) -> typing.Any:
    return json.loads(present(path, stage).read_text(encoding="utf-8"))


def planned(name: str) -> dict[str, typing.Any]:
    """What `plan` wrote of an experiment, of 'nads', 'images' or 'machine'."""
    return _read_json(PLAN / f"{name}.json", "plan")


def about_images() -> dict:
    """What data/images holds: name, classes, counts, digest, mean and deviation."""
    return _read_json(IMAGES / "about.json", "download")


def about_pictures(experiment: str) -> dict | None:
    """What the pictures in an experiment's draws are, as `about_images` has it; None where it has no pictures."""
    path = DATASETS / experiment / "images.json"
    return _read_json(path, f"generate {experiment}") if path.exists() else None


def images() -> dict:
    """The images as a dict: {train,test}_images uint8 (N, 3, 32, 32) mapped from disk, {train,test}_labels (N,), classes,
    and mean and deviation (3,) of the whole training split's values in [0, 1].
    """
    about = about_images()
    arrays = {
        f"{s}_{k}": np.load(IMAGES / f"{s}_{k}.npy", mmap_mode="r", allow_pickle=False)
        for s in ("train", "test")
        for k in ("images", "labels")
    }
    return arrays | {key: about[key] for key in ("classes", "mean", "deviation")}


def _arrays(path: Path, stage: str) -> dict[str, np.ndarray]:
    with np.load(present(path, stage), allow_pickle=False) as file:
        return {key: file[key] for key in file}


def nads(name: str, estimand: str | None = None) -> dict[str, np.ndarray]:
    """The NADs of an architecture as a dict of the arrays of `pipeline.nads.NADs`; estimand: the other one's, compared."""
    return _arrays(NADS / (f"{name}.npz" if estimand is None else f"{name}.{estimand}.npz"), "estimate")


def nad_file(path: str) -> np.ndarray:
    """The array in a user's .npy file of NADs; raises InputError if there is none that can be read without unpickling."""
    try:
        with open(path, "rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"the NADs {path} cannot be read: {error.strerror}") from None
    except (ValueError, EOFError, MemoryError) as error:
        raise InputError(f"{path} is not a .npy file of numbers: {' '.join(str(error).split())}") from None


def directions(experiment: str) -> dict[str, np.ndarray]:
    """An experiment's directions by name."""
    return _arrays(DATASETS / experiment / "directions.npz", f"generate {experiment}")


def draw(experiment: str, seed: int) -> dict[str, np.ndarray]:
    """The arrays of one seed's draw."""
    return _arrays(DATASETS / experiment / f"draw-{seed}.npz", f"generate {experiment}")


def drawn(experiment: str, seed: int) -> int:
    """Training samples in one seed's draw, of which the labels alone are read."""
    with np.load(
        present(DATASETS / experiment / f"draw-{seed}.npz", f"generate {experiment}"), allow_pickle=False
    ) as file:
        return len(file["train_labels"])


def draw_digests(experiment: str, seed: int) -> dict[str, str] | None:
    """The digests that `generate` noted of the arrays of one seed's draw; None where it noted none."""
    path = DATASETS / experiment / DIGESTS
    return _read_json(path, f"generate {experiment}").get(str(seed)) if path.exists() else None


def cells(experiment: str) -> list[dict[str, typing.Any]]:
    """The grid of an experiment, in the order of cells.csv."""
    return pd.read_csv(present(DATASETS / experiment / "cells.csv", f"generate {experiment}")).to_dict("records")


def grid(experiment: str) -> dict:
    """What the trained networks of an experiment are: scale, seeds, precision, specifications by architecture."""
    return _read_json(MODELS / experiment / GRID, f"train {experiment}")


def cell_name(cell: dict[str, typing.Any], coordinates: tuple[str, ...]) -> str:
    """The name of a cell: architecture, coordinates and seed, for example lenet-1-800-seed0."""
    return "-".join([cell["architecture"], *(str(cell[c]) for c in coordinates), f"seed{cell['seed']}"])
