"""params.yaml as a document, read as DVC reads it: YAML 1.2, every key once."""

import io
import math
import re
import typing
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent

from pipeline.project import unchanged
from pipeline.project.errors import InputError
from pipeline.settings.typed import Mistakes, joined, shown

BYTES = 1_000_000
"""Length of the longest file that is read."""

DIGITS = 400
"""Digits of the longest whole number that is read: no setting is near it, and longer ones take ever longer to print."""

SMALLEST = 1e-30
"""Size of the smallest number but zero: float32 keeps little or nothing of smaller ones, and so would be zero without a word."""

DEPTH, VALUES = 50, 50_000
"""How deep lists and mappings may stand within each other, and how many keys and values a document may hold where each alias is
written out: few aliases of aliases stand for more than any memory holds."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Characters that no name of a file or a class has: all that control a terminal, but for tabs and ends of lines."""


def read(path: Path | str = "params.yaml") -> dict[str, typing.Any]:
    """The unchecked document in the file at `path`.

    Raises InputError if it is missing, is not UTF-8, is not YAML, or is not a mapping of values that JSON could hold.
    """
    if not Path(path).exists():
        raise InputError(f"{path} is missing; run from the root of the repository")
    if not Path(path).is_file():
        raise InputError(f"{path} is not a file")
    with open(path, "rb") as file:
        text = file.read(BYTES + 1)
    unchanged.note(path, text)
    if len(text) > BYTES:
        raise InputError(f"{path} holds more than {BYTES:,} bytes")
    try:
        return parsed(text.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def parsed(text: str, where: str = "params.yaml") -> dict[str, typing.Any]:
    """The document that `text` is; raises InputError as `read` does."""
    mistakes = Mistakes()
    try:
        _check_size(text, where)
        document = YAML(typ="safe").load(io.StringIO(text))
    except YAMLError as error:
        raise InputError(f"{where} is not valid YAML: {_problem(error)}") from None
    except InputError:
        raise
    except Exception as error:
        # What the library's constructors of dates, numbers and other tagged values raise.
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__} "
        raise InputError(f"{where} cannot be read: {kind}{' '.join(str(error).split())}") from None
    if not isinstance(document, dict):
        raise InputError(f"{where} must hold a mapping")
    _check(document, where, mistakes)
    mistakes.end()
    return document


def _problem(error: YAMLError) -> str:
    """What is wrong with a text that is not YAML, and in which line."""
    mark = getattr(error, "problem_mark", None)
    # Of an anchor that stands twice, the library's message begins with the first.
    problem = (getattr(error, "problem", None) or "").replace(
        "second occurrence", "found a second anchor of the same name"
    )
    return " ".join((f"{problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else str(error)).split())


def _check_size(text: str, where: str) -> None:
    """Raise InputError if the document in `text` is deeper than `DEPTH`, holds more than `VALUES`, or holds itself.

    By the parser's events, before any of it is made: what makes it calls itself at each depth, and writes out merged aliases.
    """
    # Of each list or mapping that has not ended, outermost first: its anchor, what it holds so far, how deep that is. The first
    # stands for the document's surroundings.
    unfinished, anchors = [[None, 0, 0]], {}
    for event in YAML(typ="safe").parse(io.StringIO(text)):
        if isinstance(event, CollectionStartEvent):
            unfinished.append([event.anchor, 1, 0])
            anchors[event.anchor] = None
            size, depth = 0, 0
        elif isinstance(event, CollectionEndEvent):
            anchor, size, depth = unfinished.pop()
            depth += 1
            anchors[anchor] = size, depth
        elif isinstance(event, AliasEvent):
            if anchors.get(event.anchor, (1, 0)) is None:
                raise InputError(f"{where} holds a list or mapping that holds itself (*{event.anchor})")
            size, depth = anchors.get(event.anchor, (1, 0))
        elif isinstance(event, NodeEvent):
            size, depth = 1, 0
            anchors[event.anchor] = size, depth
        else:
            continue
        last = unfinished[-1]
        last[1], last[2] = last[1] + size, max(last[2], depth)
        if len(unfinished) - 1 + depth > DEPTH:
            raise InputError(f"{where} holds lists and mappings more than {DEPTH} deep in each other")
        if last[1] > VALUES:
            raise InputError(f"{where} holds more than {VALUES:,} values")


def _check(value: typing.Any, at: str, mistakes: Mistakes) -> None:
    """Note every value that JSON could not hold."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                mistakes.add(f"{at}: the key {shown(key)} must be text; put it in quotes")
            elif CONTROL.search(key):
                mistakes.add(f"{at}: the key {shown(key)} holds a control character")
            _check(item, joined(at, key if isinstance(key, str) else shown(key)), mistakes)
    elif isinstance(value, list):
        for item in value:
            _check(item, at, mistakes)
    elif isinstance(value, float):
        if not math.isfinite(value):
            mistakes.add(f"{at} must be a finite number, not {value}")
        elif 0 < abs(value) < SMALLEST:
            mistakes.add(f"{at} must be 0 or at least {SMALLEST} in size, not {value}: float32 keeps nothing of it")
    elif isinstance(value, int):
        if abs(value) >= 10**DIGITS:
            mistakes.add(f"{at} is a number of more than {DIGITS} digits")
    elif isinstance(value, str):
        if CONTROL.search(value):
            mistakes.add(f"{at} holds a control character, {shown(value)}")
    elif value is not None:
        mistakes.add(f"{at} must be text, a number, true, false, null, a list or a mapping, not {shown(value)}")
