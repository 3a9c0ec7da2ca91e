"""Mistakes in params.yaml as sentences: unknown keys, and values that pydantic refuses."""

import dataclasses
import functools
import json
import typing

import pydantic

from pipeline.project.errors import InputError, nearest

Path = tuple[str, ...]  # the keys that lead to a value of params.yaml

_adapter = functools.cache(pydantic.TypeAdapter)


def value_at(document: typing.Any, path: Path, default: typing.Any) -> typing.Any:
    """The value at a path in a document, or `default` where there is none."""
    for key in path:
        if not isinstance(document, dict) or key not in document:
            return default
        document = document[key]
    return document


class Mistakes:
    """The mistakes in a document, each once, in the order in which they are met."""

    def __init__(self, document: dict[str, typing.Any]) -> None:
        self._document = document
        self._sentences: dict[str, None] = {}
        self._misspelt = False

    def add(self, path: Path, sentence: str, absence: bool = False) -> None:
        """Note a mistake at `path`, on one line.

        absence: whether something is not there; then a misspelt key explains it, if
        there is one.
        """
        if absence and self._misspelt:
            return
        place = f"params.yaml: {'.'.join(path)}" if path else "params.yaml"
        self._sentences[" ".join(f"{place}{sentence}".split())] = None

    def end(self) -> None:
        """Raise InputError with a line for each mistake, if there are any."""
        if self._sentences:
            raise InputError("\n".join(self._sentences))

    def keys(
        self, value: typing.Any, layout: dict, path: Path = ()
    ) -> dict[str, typing.Any]:
        """`value` without unknown keys, at every depth; each unknown key is noted as a
        mistake.

        layout: from each known key to the layout of its value, or to None for any
        value. An empty layout knows no keys, and notes none.
        """
        if not isinstance(value, dict | None):
            self.add(path, f" must be a mapping, not {value!r}")
            self._misspelt = True
        if not isinstance(value, dict):
            return {}
        known = {}
        for key, item in value.items():
            if key in layout:
                deeper = layout[key]
                known[key] = (
                    item if deeper is None else self.keys(item, deeper, (*path, key))
                )
            elif layout:
                kind = (
                    "architecture" if path[-1:] in (("nads",), ("networks",)) else "key"
                )
                self.add(path, f": unknown {kind} {key!r}; {nearest(key, layout)}")
                self._misspelt = True
        return known

    def typed(self, type_: typing.Any, value: typing.Any, *places: Path) -> typing.Any:
        """`value` as an instance of a type, without conversions; None, with its
        mistakes noted, where it does not fit. Keys that a dataclass does not have are
        left out.

        places: the document's mappings that `value` was merged from, in order of
        precedence.
        """
        if dataclasses.is_dataclass(type_):
            names = [field.name for field in dataclasses.fields(type_)]
            value = {name: value[name] for name in names if name in value}
        try:
            # From JSON, pydantic's strict mode takes a list for a tuple, and converts
            # nothing else.
            return _adapter(type_).validate_json(
                json.dumps(value, default=str), strict=True
            )
        except pydantic.ValidationError as error:
            for mistake in error.errors():
                self._refuse(mistake, places)
        return None

    def _refuse(self, mistake: typing.Any, places: tuple[Path, ...]) -> None:
        """Note one of pydantic's errors as a sentence."""
        keys = tuple(part for part in mistake["loc"] if isinstance(part, str))
        name = mistake["type"]
        given = mistake["input"]
        place = (*self._origin(places, keys), *keys)
        if name == "missing":
            self.add(
                (*places[-1], *keys[:-1]),
                f": the key {keys[-1]!r} is missing",
                absence=True,
            )
        elif name == "value_error":
            # Such a sentence begins with the key of the wrong value.
            sentence = str(mistake["ctx"]["error"])
            wrong = sentence.split()[0]
            where = (*self._origin(places, (*keys, wrong)), *keys)
            self.add(where, f": {sentence}", absence=sentence.endswith("is missing"))
        elif name.startswith("int") and isinstance(given, list):
            self.add(
                place, f": a range is [first, last, step] of whole numbers, not {given}"
            )
        else:
            self.add(
                place,
                f" {mistake['msg'].replace('Input should', 'must')}, not {given!r}",
            )

    def _origin(self, places: tuple[Path, ...], keys: Path) -> Path:
        """The first of the places that holds a value at `keys`; the first place where
        none does."""
        absent = object()
        holding = (
            p
            for p in places
            if value_at(self._document, (*p, *keys), absent) is not absent
        )
        return next(holding, places[0])
