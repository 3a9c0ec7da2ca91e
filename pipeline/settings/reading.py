"""params.yaml as a document, read as DVC reads it: YAML 1.2, every key once."""

import typing
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from pipeline.project.errors import InputError


def read(path: Path | str = "params.yaml") -> dict[str, typing.Any]:
    """The unchecked document in the file at `path`.

    Raises InputError if it is missing, is not UTF-8 text, is not YAML, or is not a mapping.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} is missing; run from the root of the repository") from None
    try:
        document = YAML(typ="safe").load(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None
    except YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {_problem(error)}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path} must hold a mapping")
    return document


def _problem(error: YAMLError) -> str:
    """What is wrong with a text that is not YAML, and in which line, in one line itself."""
    text = str(error)
    if isinstance(error, MarkedYAMLError) and error.problem_mark:
        mark = error.problem_mark
        text = f"{error.problem} (line {mark.line + 1}, column {mark.column + 1})"
    return " ".join(text.split())
