"""The kind and the fields of an InputError are what tests assert.

Its wording is in tests/messages.json, for all tests together.
"""

import contextlib
import json
import re

import pytest
from structure import ROOT

from pipeline.project.errors import InputError

FILE = ROOT / "tests/messages.json"

SENTENCES = []
"""The messages that the present test has provoked."""

WRITTEN = {}
"""Messages by test, to be written to the file."""


@contextlib.contextmanager
def refused(kind, **fields):
    """Context that must raise an InputError of a kind, with these of its fields."""
    with pytest.raises(InputError) as caught:
        yield caught
    error = caught.value
    assert error.kind == kind, f"{error.kind}: {error}"
    found = {name: error.fields.get(name) for name in fields}
    assert found == fields
    assert kind == "settings" or "\n" not in str(error)
    SENTENCES.append(str(error))


def check_wording(test, folder, write):
    """Compare the messages of a test with the file, or note them for it.

    Args:
        test: The test's id.
        folder: Folder of all tests' temporary folders.
        write: Whether to note them.
    """
    text = "\n".join(dict.fromkeys(SENTENCES))
    text = re.sub(f"{folder}/[^/ ]*", "<folder>", text)
    text = text.replace(str(ROOT), "<root>")
    if write:
        WRITTEN[test] = text
    else:
        expected = json.loads(FILE.read_text(encoding="utf-8")).get(test)
        command = f"python -m pytest {test.partition('::')[0]} --write-messages"
        assert text == expected, f"if the new wording is right, run `{command}`"


def write_wording():
    """Replace the messages of all test files of which there are new ones."""
    files = {test.partition("::")[0] for test in WRITTEN}
    messages = dict(WRITTEN)
    for test, text in json.loads(FILE.read_text(encoding="utf-8")).items():
        file = test.partition("::")[0]
        if file not in files and (ROOT / file).exists():
            messages[test] = text
    text = json.dumps(messages, indent=2, ensure_ascii=False, sort_keys=True)
    FILE.write_text(f"{text}\n", encoding="utf-8")
