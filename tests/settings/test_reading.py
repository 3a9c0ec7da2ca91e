"""params.yaml is read as DVC reads it, and what cannot be read ends with a sentence."""

import pytest
from dvc.utils.serialize import load_yaml
from structure import ROOT

from pipeline.project.errors import InputError
from pipeline.settings import read


def typed(value):
    """A value with the types of all that is in it, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), value


@pytest.mark.parametrize(
    "text",
    [
        (ROOT / "params.yaml").read_text(encoding="utf-8"),
        "a: 010\nb: 0o10\nc: 1:30\nd: yes\ne: 1e-5\nf: ~\ng: 1.0e-5\nh: 0,5\ni: .5\nj: 1_000\n",
        "a: &x [1, 2]\nb: *x\n",
        "a: &x {b: 1}\nc: {<<: *x, d: 2}\n",
        "\ufeffa: 1\n",
        "a: é\r\nb: 2\r\n",
        "---\na: 1\n...\n",
    ],
)
def test_a_document_is_what_dvc_takes_it_for(text, tmp_path):
    path = tmp_path / "params.yaml"
    path.write_bytes(text.encode())
    assert typed(read(path)) == typed(load_yaml(path))


def test_yaml_is_of_version_1_2(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 010\r\nb: yes\r\nc: 1e-5\r\n")
    assert typed(read(path)) == typed({"a": 10, "b": "yes", "c": 1e-5})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: 1\nb: 2\na: 3\n", 'not valid YAML: found duplicate key "a" with value "3"'),
        (b"a: 1\n  b: 2\n", "not valid YAML: mapping values are not allowed in this context"),
        (b"a:\n  b: 1\n c: 2\n", "not valid YAML: did not find expected key (line 3, column 2)"),
        (b"a:\n\tb: 1\n", "not valid YAML: found character that cannot start any token (line 2"),
        (b"a: [1, 2\nb: 3\n", "not valid YAML: did not find expected ',' or ']' (line 2, column"),
        (b"a: *x\n", "not valid YAML: found undefined alias"),
        (b"- a\n- b\n", "must hold a mapping"),
        (b"", "must hold a mapping"),
        ("a: é".encode("latin-1"), "not UTF-8 text (byte 3); save it as UTF-8"),
        ("a: é".encode("utf-16"), "not UTF-8 text (byte 0); save it as UTF-8"),
    ],
)
def test_what_is_no_document_is_refused_with_one_sentence(content, words, tmp_path):
    path = tmp_path / "params.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path} ") and words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="^params.yaml is missing; run from the root of the repo"):
        read()
