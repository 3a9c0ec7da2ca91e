"""Values of params.yaml as instances of dataclasses, and every mistake in them as one sentence."""

import dataclasses
import difflib
import functools
import json
import typing
from collections.abc import Collection, Iterable

import pydantic

from pipeline.project.errors import InputError, nearest

KINDS = {
    "int": "a whole number",
    "float": "a finite number",
    "bool": "true or false",
    "string": "text",
    "tuple": "a list",
    "dict": "a mapping",
    "dataclass": "a mapping",
}
"""What pydantic's errors ask for, by the beginnings of their names."""

LONGEST = 10_000
"""Numbers that a range in a list may stand for."""

SHOWN = 80
"""Characters of a wrong value that a sentence repeats."""

_adapter = functools.cache(pydantic.TypeAdapter)


class Mistakes:
    """The mistakes found so far in one document, a sentence each."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.misspelt: set[tuple[str, str]] = set()
        """Place and key that an unknown one was most likely meant to be: what its being missing leads to is not said too."""

    def add(self, sentence: str) -> None:
        """Note a mistake, once and on one line, whatever text of the user's is in it."""
        sentence = " ".join(sentence.split())
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def end(self) -> None:
        """Raise InputError with all of them, if there are any."""
        if self.sentences:
            raise InputError("\n".join(self.sentences))

    def known(self, mapping: dict, names: Collection[str], at: str, kind: str = "key") -> None:
        """Note every key of `mapping` that is none of `names`."""
        for key in mapping:
            if key not in names:
                self.add(f"{at}: unknown {kind} {shown(key)}; {nearest(key, names)}")
                meant = difflib.get_close_matches(key, names, n=1)
                self.misspelt |= {(at, name) for name in meant if name not in mapping}

    def required(self, mapping: dict, names: Iterable[str], at: str) -> None:
        """Note every one of `names` that `mapping` lacks."""
        for name in names:
            if name not in mapping and (at, name) not in self.misspelt:
                self.add(f"{at}: the key {name!r} is missing")

    def mapping(self, value: typing.Any, at: str) -> dict | None:
        """`value` if it is a mapping; None, and the mistake noted, if it is not."""
        if isinstance(value, dict):
            return value
        self.add(f"{at} must be a mapping, not {shown(value)}")
        return None

    def typed(self, kind: typing.Any, value: typing.Any, at: str) -> typing.Any:
        """`value` as an instance of the type `kind`, nothing converted; None, and its mistakes noted, where it is none.

        In a list of whole numbers, a list of three stands for a range: first, last, step.
        """
        try:
            value = self._prepared(kind, value, at)
            # By way of JSON, where pydantic's strict mode takes a list for a tuple and nothing else for anything.
            return _adapter(kind).validate_json(json.dumps(value), strict=True)
        except pydantic.ValidationError as error:
            for found in error.errors():
                self._refuse(found, at)
        except InputError as error:
            self.add(str(error))
        return None

    def _prepared(self, kind: typing.Any, value: typing.Any, at: str) -> typing.Any:
        """`value` with its ranges written out; unknown keys of dataclasses, which pydantic passes over, are noted."""
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if dataclasses.is_dataclass(kind) and isinstance(value, dict):
            hints = typing.get_type_hints(kind)
            self.known(value, hints, at)
            return {key: self._prepared(hints[key], value[key], joined(at, key)) for key in value if key in hints}
        if origin is tuple and parts[0] is int and isinstance(value, list):
            return [number for item in value for number in (_range(item, at) if isinstance(item, list) else [item])]
        return value

    def _refuse(self, error: dict, at: str) -> None:
        """Note one of pydantic's errors in words."""
        keys = [part for part in error["loc"] if isinstance(part, str)]
        place, name, given = joined(at, *keys), error["type"], shown(error["input"])
        if name == "missing":
            self.required({}, keys[-1:], joined(at, *keys[:-1]))
        elif name == "value_error":
            if not any(place == at for at, _ in self.misspelt):
                self.add(f"{place}: {error['ctx']['error']}")
        elif name == "literal_error":
            choices = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").replace("None", "null")
            self.add(f"{place} must be one of {choices}, not {given}")
        else:
            wanted = next((words for start, words in KINDS.items() if name.startswith(start)), None)
            self.add(f"{place} must be {wanted}, not {given}" if wanted else f"{place}: {error['msg']}")


def _range(triple: list, at: str) -> range:
    """The numbers that [first, last, step] stands for in a list, `last` included; raises InputError where it stands for none."""
    if not (
        len(triple) == 3 and all(type(part) is int for part in triple) and triple[0] <= triple[1] and triple[2] > 0
    ):
        raise InputError(f"{at}: a range is [first, last, step] of whole numbers, not {shown(triple)}")
    first, last, step = triple
    # The length of a range this long does not even fit into the integer that len() gives.
    if (last - first) // step >= LONGEST:
        raise InputError(f"{at}: the range {shown(triple)} holds more than {LONGEST:,} numbers")
    return range(first, last + 1, step)


def joined(at: str, *keys: str) -> str:
    """The place of a value: file, colon, and its keys with dots between them."""
    for key in keys:
        at = f"{at}.{key}" if ": " in at else f"{at}: {key}"
    return at


def shown(value: typing.Any) -> str:
    """A wrong value as a sentence repeats it: not all of it, if it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
