"""Mistakes in params.yaml as sentences, each with its place in the file."""

import functools
import json
import typing
from collections.abc import Iterable

import pydantic

from pipeline.config.layout import Strict, keys_of
from pipeline.project.errors import InputError, Kind, suggest

Path = tuple[str, ...]  # the keys that lead to a value of params.yaml

ABSENT = object()
"""The value of a key that a mapping does not have."""

UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
"""pydantic's names for an unknown key of a model and of a dataclass."""

WORDS = {"Input should": "must", "an object": "a mapping", "valid array": "list"}
"""pydantic's words for what params.yaml has, and ours."""

OUT_OF_RANGE = (
    "finite_number",
    "greater_than",
    "greater_than_equal",
    "less_than",
    "less_than_equal",
)
"""pydantic's names for a number that is too small or too large."""


class Mistakes:
    """The mistakes in a document, each once, in the order in which they are found."""

    def __init__(self, document: dict[str, typing.Any]) -> None:
        self._document = document
        self._found: dict[str, InputError] = {}

    def add(
        self, path: Path, sentence: str, kind: Kind = "value", **fields: typing.Any
    ) -> None:
        """Note a mistake.

        Args:
            path: Keys that lead to it from the top level.
            sentence: What is wrong; it continues the place, so it begins with a colon
                or a verb.
            kind: The kind of the mistake.
            fields: What the sentence states beside the place.
        """
        name = ".".join(path)
        place = f"params.yaml: {name}" if path else "params.yaml"
        line = " ".join(f"{place}{sentence}".split())
        fields["place"] = name
        self._found.setdefault(line, InputError(line, kind, **fields))

    def unknown(
        self, path: Path, names: Iterable[str], known: Iterable[str], noun: str = "key"
    ) -> list[str]:
        """Note every unknown name in a mapping, and return the unknown names.

        Args:
            path: Keys that lead to the mapping.
            names: The names in it.
            known: Names that it may have.
            noun: What the names are of.
        """
        unknown = [name for name in names if name not in known]
        kind = "unknown-key" if noun == "key" else "unknown-name"
        for name in unknown:
            sentence = f": unknown {noun} {name!r}; {suggest(name, known)}"
            self.add(path, sentence, kind, name=name)
        return unknown

    def end(self) -> None:
        """Raise InputError if there are mistakes, with a line for each of them.

        Its field `mistakes` lists them as InputErrors.
        """
        if self._found:
            mistakes = list(self._found.values())
            raise InputError("\n".join(self._found), "settings", mistakes=mistakes)

    def typed(self, type_: typing.Any, value: typing.Any, *layers: Path) -> typing.Any:
        """Return a value as an instance of a type, or None and note its mistakes.

        Args:
            type_: A pydantic model, a dataclass, or a type that pydantic knows.
            value: The value, as YAML gives it.
            layers: Places of the mappings that `value` was merged from; the first one
                overrides those after it.
        """
        # From JSON, pydantic's strict mode takes a list for a tuple, and converts
        # nothing else.
        text = json.dumps({"value": value}, default=str)
        try:
            return _holder(type_).model_validate_json(text).value
        except pydantic.ValidationError as error:
            errors = error.errors()
        misspelt = any(error["type"] in UNKNOWN_KEY for error in errors)
        for error in errors:
            # A misspelt key explains a missing one.
            if not (misspelt and error["type"] == "missing"):
                self._refuse(type_, error, layers)
        return None

    def _refuse(
        self, type_: typing.Any, error: typing.Any, layers: tuple[Path, ...]
    ) -> None:
        """Note one of pydantic's errors."""
        # Without 'value' of the holder, and without the positions in lists.
        keys = tuple(part for part in error["loc"][1:] if isinstance(part, str))
        given = error["input"]
        place = (*self._layer_with(keys, layers), *keys)
        if error["type"] == "missing":
            parent = (*layers[-1], *keys[:-1])
            self.add(
                parent,
                f": the key {keys[-1]!r} is missing; add it",
                "missing-key",
                name=keys[-1],
            )
        elif error["type"] in UNKNOWN_KEY:
            self.unknown(place[:-1], keys[-1:], _keys_at(type_, keys[:-1]))
        elif error["type"] == "value_error":
            # The sentence begins with the key of the wrong value.
            sentence = str(error["ctx"]["error"])
            wrong_key = sentence.split()[0]
            layer = self._layer_with((*keys, wrong_key), layers)
            known = wrong_key in _keys_at(type_, keys)
            fields = {"name": wrong_key} if known else {}
            self.add((*layer, *keys), f": {sentence}", **fields)
        elif error["type"].startswith("int") and isinstance(given, list):
            self.add(
                place,
                f": {given} is not a range; write [first, last, step] in whole numbers",
                "wrong-type",
                value=given,
            )
        else:
            requirement = error["msg"]
            for word, ours in WORDS.items():
                requirement = requirement.replace(word, ours)
            sentence = f" {requirement}, not {given!r}"
            self.add(place, sentence, _kind_of(error["type"]), value=given)

    def _layer_with(self, keys: Path, layers: tuple[Path, ...]) -> Path:
        """Return the first layer that has these keys, or the first one of all."""
        for layer in layers:
            value = self._document
            for key in (*layer, *keys):
                value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
            if value is not ABSENT:
                return layer
        return layers[0]


def _kind_of(type_: str) -> Kind:
    """Return the kind of one of pydantic's types of errors."""
    if type_ == "literal_error":
        return "unknown-name"
    return "out-of-range" if type_ in OUT_OF_RANGE else "wrong-type"


@functools.cache
def _holder(type_: typing.Any) -> type[Strict]:
    """Return a model with one value, whose strictness holds for dataclasses in it."""
    return pydantic.create_model("Holder", __base__=Strict, value=(type_, ...))


def _keys_at(type_: typing.Any, path: Path) -> list[str]:
    """Return the keys of the mapping at a path below a type."""
    for key in path:
        if typing.get_origin(type_) is dict:
            type_ = typing.get_args(type_)[1]
        else:
            type_ = typing.get_type_hints(type_)[key]
    return keys_of(type_)
