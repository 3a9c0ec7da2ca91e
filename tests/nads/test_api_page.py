"""docs/api.md against the code: every public name, its arguments and defaults, and its
program; the examples of the docstrings."""

import doctest
import inspect
import re

import pytest
from structure import ROOT

from pipeline import nads

PAGE = (ROOT / "docs/api.md").read_text(encoding="utf-8")
SECTIONS = {
    heading.partition("(")[0]: (heading, text)
    for heading, text in re.findall(
        r"^## `([^\n]*)`\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S
    )
}


def test_the_page_has_all_public_names():
    assert sorted(SECTIONS) == sorted(nads.__all__)


@pytest.mark.parametrize("name", nads.__all__)
def test_arguments_and_defaults_are_those_of_the_code(name):
    (heading, text) = SECTIONS[name]
    signature = inspect.signature(getattr(nads, name))
    parameters = [
        each.replace(annotation=each.empty) for each in signature.parameters.values()
    ]
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    assert heading == f"{name}{plain}"
    rows = re.findall(r"^\| `(\w+)` \| (?:–|`(.*?)`) \| .{4,} \|$", text, re.M)
    defaults = [
        "" if each.default is each.empty else repr(each.default) for each in parameters
    ]
    assert rows == list(zip(plain.parameters, defaults, strict=True))


def test_the_methods_of_nads_are_those_of_the_code():
    methods = dict(re.findall(r"^- `NADs\.(\w+)\((.*?)\)`", SECTIONS["NADs"][1], re.M))
    public = {
        name for name, _ in inspect.getmembers(nads.NADs, callable) if name[0] != "_"
    }
    assert methods.keys() == public
    for name, words in methods.items():
        parameters = inspect.signature(getattr(nads.NADs, name)).parameters
        assert words == ", ".join(each for each in parameters if each != "self")


def test_the_program_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program, printed = re.findall(r"```(?:python)?\n(.*?)```", PAGE, re.S)
    exec(compile(program, "docs/api.md", "exec"), {})
    # The numbers, which another processor rounds differently, are these to a tenth.
    numbers = r"\d+\.\d+"
    (made, values), (text, expected) = (
        (
            re.sub(numbers, "", words),
            [float(number) for number in re.findall(numbers, words)],
        )
        for words in (capsys.readouterr().out, printed)
    )
    assert made == text and values == pytest.approx(expected, rel=0.1)
    assert {path.name for path in tmp_path.iterdir()} == {"mine.npz", "mine.png"}


@pytest.mark.parametrize("name", nads.__all__)
def test_the_example_in_a_docstring_says_what_it_prints(name, folder):
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(getattr(nads, name), name, globs=vars(nads).copy())
    assert example.examples and not doctest.DocTestRunner().run(example).failed
