"""Values of params.yaml as instances of dataclasses, and every mistake in them as one sentence."""

import dataclasses
import difflib
import functools
import itertools
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
"""Numbers that a list may hold, its ranges written out."""

MOST, UNKNOWN = 50, 20
"""Mistakes that are said of one document, and unknown keys of one mapping; of the others their number is."""

SHOWN, SENTENCE = 80, 2_000
"""Characters of a wrong value that a sentence repeats, and of a sentence."""

_adapter = functools.cache(pydantic.TypeAdapter)
_hints = functools.cache(typing.get_type_hints)


class Mistakes:
    """The mistakes found so far in one document, a sentence each."""

    def __init__(self) -> None:
        # A mapping, which keeps their order and finds each at once.
        self._said: dict[str, None] = {}
        self.misspelt: set[tuple[str, str]] = set()
        """Place and key that an unknown one was most likely meant to be: what its being missing leads to is not said too."""

    def add(self, sentence: str) -> None:
        """Note a mistake, once and on one line, whatever text of the user's is in it."""
        sentence = " ".join(sentence.split())
        self._said[sentence if len(sentence) <= SENTENCE else f"{sentence[: SENTENCE - 1]}…"] = None

    @property
    def sentences(self) -> list[str]:
        """A sentence for each mistake, in the order in which they were found."""
        return list(self._said)

    def end(self) -> None:
        """Raise InputError with the first `MOST` of them, if there are any."""
        sentences = self.sentences
        if len(sentences) > MOST:
            where, others = sentences[0].partition(":")[0], len(sentences) - MOST
            sentences = [*sentences[:MOST], f"{where}: and {others:,} more mistakes like these"]
        if sentences:
            raise InputError("\n".join(sentences))

    def known(self, mapping: dict, names: Collection[str], at: str, kind: str = "key") -> None:
        """Note every key of `mapping` that is none of `names`."""
        unknown = [key for key in mapping if key not in names]
        for key in unknown[:UNKNOWN]:
            self.add(f"{at}: unknown {kind} {shown(key)}; {nearest(key, names)}")
            meant = difflib.get_close_matches(key, names, n=1)
            self.misspelt |= {(at, name) for name in meant if name not in mapping}
        if len(unknown) > UNKNOWN:
            self.add(f"{at}: and {len(unknown) - UNKNOWN:,} more that are unknown")

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
            hints = _hints(kind)
            self.known(value, hints, at)
            return {key: self._prepared(hints[key], value[key], joined(at, key)) for key in value if key in hints}
        if origin is tuple and parts[0] is int and isinstance(value, list):
            ranges = [_range(item, at) if isinstance(item, list) else [item] for item in value]
            if (count := sum(map(len, ranges))) > LONGEST:
                raise InputError(f"{at} holds {count:,} numbers, its ranges written out, more than {LONGEST:,}")
            return list(itertools.chain.from_iterable(ranges))
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
    try:
        text = repr(value)
    except ValueError:
        # Python writes out no number of more than a few thousand digits.
        return "a number of thousands of digits"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
