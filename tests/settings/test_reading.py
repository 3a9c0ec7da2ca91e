"""params.yaml is read as DVC reads it, and whatever is no mapping of plain values ends with a sentence."""

import math

import pytest
from dvc.utils.serialize import parse_yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from structure import ROOT

from pipeline.project.errors import InputError
from pipeline.settings import reading
from pipeline.settings.reading import BYTES, DEPTH, DIGITS, SMALLEST, parsed, read
from tests.faults.values import NO_DOCUMENTS, SCALARS


def by_dvc(text):
    """The document as DVC has it."""
    return parse_yaml(text, "params.yaml")


def typed(value):
    """A value with the types of all that is in it, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), repr(value)


@pytest.mark.parametrize("scalar", SCALARS)
def test_scalars_are_what_dvc_takes_them_for(scalar):
    text = f"a: {scalar}\n"
    assert typed(parsed(text)) == typed(by_dvc(text))


def test_yaml_is_of_version_1_2():
    text = "a: 010\nb: 0o10\nc: 1:30\nd: yes\ne: 1e-5\nf: ~\n"
    assert typed(parsed(text)) == typed({"a": 10, "b": 8, "c": "1:30", "d": "yes", "e": 1e-5, "f": None})


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [1, 2]\nb: *x\n",
        "a: &x {b: 1}\nc: {<<: *x, d: 2}\n",
        "\ufeffa: 1\n",
        "a: 1\r\nb: 2\r\n",
        "---\na: 1\n...\n",
        "%YAML 1.1\n---\na: 010\nb: 1:30\n",
        "a: &x {b: 1}\nc: &y {<<: *x, d: 2}\ne: {<<: [*y, *x], b: 3}\n",
        "a: {\tb: 1}\n",
        "a: 1\rb: 2\r",
        "a: x\u2028b: 2\n",
        "a: !!omap [d: 1]\n",
        "? " + "x" * 5000 + "\n: 1\n",
        'a: "\\U0001F600 \\t|<$\\\\frac$"\n',
    ],
)
def test_documents_are_what_dvc_takes_them_for(text):
    assert typed(parsed(text)) == typed(by_dvc(text))


def test_the_shipped_file_is_what_dvc_takes_it_for():
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert typed(parsed(text)) == typed(by_dvc(text)) == typed(read(ROOT / "params.yaml"))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.text("0123456789+-.:_eExob~yYnNfF", min_size=1, max_size=8))
def test_any_scalar_is_what_dvc_takes_it_for(scalar):
    text = f"a: {scalar}\n"
    try:
        expected = by_dvc(text)
    except Exception:
        expected = None
    try:
        found = parsed(text)
    except InputError:
        # No YAML, or a number that is none, or a date, of which DVC makes what JSON does not hold.
        value = expected and expected["a"]
        assert (
            expected is None
            or not isinstance(value, (bool, int, str))
            and not (isinstance(value, float) and math.isfinite(value) and not 0 < abs(value) < SMALLEST)
        )
    else:
        assert typed(found) == typed(expected)


@pytest.mark.parametrize(
    ("text", "sentence"),
    NO_DOCUMENTS,
)
def test_what_is_no_document_is_refused_with_one_sentence(text, sentence):
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert str(caught.value) == f"params.yaml{sentence}"


def test_numbers_too_long_for_python():
    for text, sentence in (
        (f"a: {'9' * 5000}", "^params.yaml cannot be read: Exceeds the limit"),
        (
            f"? 0x{'f' * 5000}\n: 1",
            "^params.yaml( is not valid YAML|: the key a number of thousands of digits must be text)",
        ),
    ):
        with pytest.raises(InputError, match=sentence) as caught:
            parsed(text)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", ["a{}: &a{} [{}]", "a{}: &a{} {{<<: [{}], z: 1}}", "a{}: &a{} {{b: [{}]}}"])
def test_aliases_of_aliases_fill_neither_memory_nor_time(line):
    """30 generations, in each of which ten of the last: 10³⁰ values. Merged ones are written out while the file is read."""
    lines = ["a0: &a0 {x: 1}", *(line.format(n + 1, n + 1, ", ".join([f"*a{n}"] * 10)) for n in range(30))]
    with pytest.raises(InputError, match="^params.yaml holds more than 50,000 values$"):
        parsed("\n".join(lines))


def test_what_is_just_small_enough_is_read(monkeypatch):
    assert parsed(f"a: {'9' * DIGITS}") == {"a": 10**DIGITS - 1}
    deep = parsed(f"a: {'[' * (DEPTH - 1)}{']' * (DEPTH - 1)}")["a"]
    for _ in range(DEPTH - 2):
        (deep,) = deep
    assert deep == []
    # One for each key and each value, those of an alias once more.
    monkeypatch.setattr(reading, "VALUES", 20)
    assert parsed("a: {b: &x [1, 2, 3, 4, 5], c: *x, d: [1]}")
    with pytest.raises(InputError, match="^params.yaml holds more than 20 values$"):
        parsed("a: {b: &x [1, 2, 3, 4, 5], c: *x, d: [1, 2]}")


def test_several_mistakes_are_said_at_once():
    with pytest.raises(InputError) as caught:
        parsed("a: .inf\nb: {c: [1, .nan, .nan], 1: {d: 2020-01-01}}\ntrue: .inf\n", "mine.yaml")
    assert str(caught.value).split("\n") == [
        "mine.yaml: a must be a finite number, not inf",
        "mine.yaml: b.c must be a finite number, not nan",
        "mine.yaml: b: the key 1 must be text; put it in quotes",
        "mine.yaml: b.1.d must be text, a number, true, false, null, a list or a mapping, not datetime.date(2020, 1, 1)",
        "mine.yaml: the key True must be text; put it in quotes",
        "mine.yaml: True must be a finite number, not inf",
    ]


def test_a_file_that_is_missing_or_no_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="^params.yaml is missing; run from the root of the repository$"):
        read()
    (tmp_path / "params.yaml").write_bytes("a: é".encode("latin-1"))
    with pytest.raises(InputError, match=r"^params.yaml is not UTF-8 text \(byte 3\); save it as UTF-8$"):
        read()
    (tmp_path / "params.yaml").write_text("a: é\n", encoding="utf-8")
    assert read() == {"a": "é"}
    (tmp_path / "params.yaml").write_bytes("a: é".encode("utf-16"))
    with pytest.raises(InputError, match=r"^params.yaml is not UTF-8 text \(byte 0\); save it as UTF-8$"):
        read()
    (tmp_path / "params.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert read() == {"a": 1}
    (tmp_path / "params.yaml").write_text(f"a: {'x' * (BYTES - 3)}")
    assert len(read()["a"]) == BYTES - 3
    (tmp_path / "params.yaml").write_text(f"a: {'x' * (BYTES - 2)}")
    with pytest.raises(InputError, match="^params.yaml holds more than 1,000,000 bytes$"):
        read()
    (tmp_path / "other.yaml").write_text("1\n")
    with pytest.raises(InputError, match=r"other.yaml must hold a mapping$"):
        read(tmp_path / "other.yaml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="^folder is not a file$"):
        read("folder")
