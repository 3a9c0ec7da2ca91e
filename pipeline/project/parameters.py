"""params.yaml as a document, read as DVC reads it: YAML 1.2, every key once."""

import typing
from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from pipeline.project.errors import InputError

PARAMS = Path("params.yaml")


def read(path: Path = PARAMS) -> dict[str, typing.Any]:
    """Read the document in a file, without checking its values.

    Raises:
        InputError: The file is missing, not in UTF-8, not YAML, or not a mapping.
    """
    yaml = YAML(typ="safe")
    try:
        text = path.read_text(encoding="utf-8-sig")
        document = yaml.load(text)
    except FileNotFoundError:
        raise InputError(
            f"{path} is missing; run from the root of the repository",
            "missing-file",
            path=str(path),
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not in UTF-8 ({error}); save it in UTF-8",
            "unreadable-file",
            path=str(path),
        ) from None
    except DuplicateKeyError as error:
        sentences = list(_find_duplicates(yaml.compose(text)))
        # Of true and True, which are one key, there is none.
        sentences = sentences or [f"is not valid YAML: {error.problem}"]
        raise InputError(
            "\n".join(f"{path} {sentence}" for sentence in sentences),
            "unreadable-file",
            path=str(path),
        ) from None
    except YAMLError as error:
        message = " ".join(str(error).split())
        raise InputError(
            f"{path} is not valid YAML: {message}", "unreadable-file", path=str(path)
        ) from None
    if not isinstance(document, dict):
        raise InputError(
            f"{path} contains no mapping; write keys and values into it",
            "wrong-type",
            path=str(path),
        )
    return _normalise(document)


def _find_duplicates(node: Node) -> Iterator[str]:
    """Yield a sentence on each key that a mapping in a document has twice."""
    if isinstance(node, SequenceNode):
        for item in node.value:
            yield from _find_duplicates(item)
    if isinstance(node, MappingNode):
        lines = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = str(key.value)
            if name in lines:
                yield (
                    f"has the key {name!r} in lines {lines[name]} and {line}; move "
                    "what is below the second one to the first one, and remove the "
                    "second"
                )
            lines.setdefault(name, line)
            yield from _find_duplicates(value)


def _normalise(value: typing.Any) -> typing.Any:
    """Return a document whose keys are text, and whose floats have 12 significant
    digits.

    `dvc exp run -S 'eps2=range(0.1, 0.5, 0.2)'` writes 0.30000000000000004. Without
    rounding, the networks of 0.3 would be trained again.
    """
    if isinstance(value, dict):
        return {str(key): _normalise(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normalise(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.12g}")
    return value
