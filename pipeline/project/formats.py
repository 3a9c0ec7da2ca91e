"""How a file that one stage hands to another is read: JSON, tables, arrays, each checked against what it must hold.

Whatever a reader finds wrong is a ValueError here or an exception of its library; `whole` makes it one sentence.
"""

import contextlib
import csv
import functools
import io
import typing
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.project.errors import InputError

TEXT = ("architecture", "data", "estimand", "images", "operation", "test_set")
"""Columns of tables that are text, whatever it looks like."""

WHOLE = ("epoch", "first", "fitted", "index", "index_1", "index_2", "k_col", "k_row", "last", "n", "seed", "seeds")
"""Columns that are whole numbers, and never empty."""

FRACTIONS = ("accuracy", "best_accuracy", "best_mean", "changed", "mean", "train_accuracy")
"""Columns that are numbers from 0 to 1."""

NEVER_EMPTY = ("accuracy", "changed", "loss", "mean", "relative_change", "train_accuracy")
"""Columns of numbers that have one in every row, as those of whole numbers do."""

NUMBERS = (
    *FRACTIONS,
    "best_std",
    "loss",
    "margin_1",
    "margin_2",
    "relative_change",
    "std",
    "steps",
    "tilt",
    "train_loss",
)
"""Columns that are numbers, and may be empty. The type of any other column is what its values look like."""

Shapes = Mapping[str, tuple[str, tuple[int | str, ...]]]
"""Arrays by name: the letters of the types that each may have (`numpy.dtype.kind`), and its shape, where a letter is one number."""

REASON = 200
"""Characters of a library's own words that a sentence repeats."""

_adapter = functools.cache(lambda kind: _pydantic().TypeAdapter(kind))


def _pydantic():
    import pydantic  # takes a fifth of a second to import, which every worker process would take

    return pydantic


@contextlib.contextmanager
def whole(what: Path | str, remedy: str) -> Iterator[None]:
    """Context in which a file is read: what goes wrong there ends in an InputError.

    what: the file; remedy: what to do about it. A file that this user may not read is left to `pipeline.project.errors.refusal`.
    """
    try:
        yield
    except (InputError, PermissionError):
        raise
    except FileNotFoundError:
        raise InputError(f"{what} is missing; {remedy}") from None
    except Exception as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        reason = reason if len(reason) <= REASON else f"{reason[: REASON - 1]}…"
        raise InputError(f"{what} is damaged ({reason}); {remedy}") from None


def typed(kind: typing.Any, document: bytes | str) -> typing.Any:
    """A JSON document as an instance of the type `kind`, nothing converted; raises ValueError, naming the first place, if it is none."""
    try:
        return _adapter(kind).validate_json(document, strict=True)
    except _pydantic().ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def table(contents: bytes, wanted: Iterable[str]) -> pd.DataFrame:
    """A CSV file's table; raises ValueError unless it is whole and has rows, and the columns `wanted`.

    Names are text: an architecture may be called NA or 1e3.
    """
    if contents and not contents.endswith(b"\n"):
        raise ValueError("it ends in the middle of a line")
    header, *rows = csv.reader(io.StringIO(contents.decode("utf-8"), newline="")) if contents else [[]]
    if lacking := [column for column in wanted if column not in header]:
        raise ValueError(f"it has no column {lacking[0]}")
    if not rows:
        raise ValueError("it has no rows")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} values for {len(header)} columns")
    kinds = dict.fromkeys(TEXT, str) | dict.fromkeys(WHOLE, "int64")
    kinds |= dict.fromkeys(NUMBERS, "float64")
    found = pd.read_csv(
        io.BytesIO(contents),
        dtype={column: kind for column, kind in kinds.items() if column in header},
        keep_default_na=False,
        na_values={column: [""] for column in header if column not in TEXT},
    )
    for column in NEVER_EMPTY:
        if column in header and found[column].isna().any():
            raise ValueError(f"the column {column} has an empty place")
    for column in (column for column in FRACTIONS if column in header):
        if not found[column].dropna().between(0, 1).all():
            raise ValueError(f"the column {column} has a value that is not from 0 to 1")
    return found


def arrays(path: Path, shapes: Shapes, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, all or those of `names`; raises ValueError unless those that `shapes` names are as it says."""
    if not path.is_dir() and not zipfile.is_zipfile(path):
        raise ValueError("it is no .npz file")
    with np.load(path, allow_pickle=False) as file:
        found = {name: file[name] for name in (file if names is None else names)}
    if odd := [name for name, array in found.items() if not isinstance(array, np.ndarray)]:
        raise ValueError(f"{odd[0]} is no array")
    check_shapes(found, shapes)
    return found


def check_shapes(found: Mapping[str, np.ndarray], shapes: Shapes) -> None:
    """Raise ValueError unless every array of `found` that `shapes` names has a type and the shape that it says."""
    sizes: dict[str, int] = {}
    for name, (kinds, shape) in shapes.items():
        if name not in found:
            continue
        array = found[name]
        fits = array.dtype.kind in kinds and array.ndim == len(shape)
        if not fits or any(
            sizes.setdefault(one, n) != n if isinstance(one, str) else one != n for one, n in zip(shape, array.shape)
        ):
            wanted = "×".join(str(sizes.get(one, one)) for one in shape) or "none"
            raise ValueError(
                f"{name} is of shape {'×'.join(map(str, array.shape)) or 'none'} and type {array.dtype}, not {wanted}"
            )


def lacking(found: Iterable[str], names: Iterable[str]) -> None:
    """Raise ValueError unless all `names` are among those that were found."""
    if missing := sorted(set(names) - set(found)):
        raise ValueError(f"there is no {missing[0]}")
