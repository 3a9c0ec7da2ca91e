"""params.yaml as a document, read as DVC reads it: YAML 1.2, every key once."""

import io
import itertools
import math
import typing
from collections.abc import Iterable
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pipeline.project.errors import InputError
from pipeline.settings.typed import Mistakes, joined, shown

DIGITS = 400
"""Digits of the longest whole number that is read: no setting is near it, and longer ones take ever longer to print."""

DEPTH, VALUES = 50, 100_000
"""How deep lists and mappings may stand within each other, and how many values a document may hold where each alias is written
out: few aliases of aliases stand for more than any memory holds, and one of what it stands in for endlessly many."""


def read(path: Path | str = "params.yaml") -> dict[str, typing.Any]:
    """The unchecked document in the file at `path`.

    Raises InputError if it is missing, is not UTF-8, is not YAML, or is not a mapping of values that JSON could hold.
    """
    try:
        return parsed(Path(path).read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; run from the root of the repository") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def parsed(text: str, where: str = "params.yaml") -> dict[str, typing.Any]:
    """The document that `text` is; raises InputError as `read` does."""
    mistakes = Mistakes()
    try:
        document = YAML(typ="safe").load(io.StringIO(text))
        if not isinstance(document, dict):
            raise InputError(f"{where} must hold a mapping")
        _check_size(document, where)
        _check(document, where, mistakes)
    except YAMLError as error:
        raise InputError(f"{where} is not valid YAML: {_problem(error)}") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"{where} cannot be read: {' '.join(str(error).split())}") from None
    mistakes.end()
    return document


def _problem(error: YAMLError) -> str:
    """What is wrong with a text that is not YAML, and in which line."""
    mark = getattr(error, "problem_mark", None)
    problem = f"{error.problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else str(error)
    return " ".join(problem.split())


def _inner(value: typing.Any) -> Iterable[typing.Any]:
    """The values in a mapping or a list."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _check_size(document: dict, where: str) -> None:
    """Raise InputError if a document is deeper than `DEPTH` or holds more than `VALUES`."""
    layer, count = [document], 0
    for _ in range(DEPTH):
        layer = list(itertools.islice(itertools.chain.from_iterable(map(_inner, layer)), VALUES + 1))
        count += len(layer)
        if not layer:
            return
        if count > VALUES:
            raise InputError(f"{where} holds more than {VALUES:,} values")
    raise InputError(f"{where} holds lists and mappings more than {DEPTH} deep in each other")


def _check(value: typing.Any, at: str, mistakes: Mistakes) -> None:
    """Note every value that JSON could not hold."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                mistakes.add(f"{at}: the key {shown(key)} must be text; put it in quotes")
            _check(item, joined(at, str(key)), mistakes)
    elif isinstance(value, list):
        for item in value:
            _check(item, at, mistakes)
    elif isinstance(value, float):
        if not math.isfinite(value):
            mistakes.add(f"{at} must be a finite number, not {value}")
    elif isinstance(value, int):
        if abs(value) >= 10**DIGITS:
            mistakes.add(f"{at} is a number of more than {DIGITS} digits")
    elif not (value is None or isinstance(value, str)):
        mistakes.add(f"{at} must be text, a number, true, false, null, a list or a mapping, not {shown(value)}")
