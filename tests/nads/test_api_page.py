"""docs/api.md and the examples of the docstrings against the code."""

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
    heading, text = SECTIONS[name]
    signature = inspect.signature(getattr(nads, name))
    parameters = []
    expected = []
    for parameter in signature.parameters.values():
        parameters.append(parameter.replace(annotation=parameter.empty))
        has_default = parameter.default is not parameter.empty
        default = repr(parameter.default) if has_default else ""
        expected.append((parameter.name, default))
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    assert heading == f"{name}{plain}"
    rows = re.findall(r"^\| `(\w+)` \| (?:–|`(.*?)`) \| .{4,} \|$", text, re.M)
    assert rows == expected


def test_the_methods_of_nads_are_those_of_the_code():
    methods = dict(re.findall(r"^- `NADs\.(\w+)\((.*?)\)`", SECTIONS["NADs"][1], re.M))
    members = inspect.getmembers(nads.NADs, callable)
    public = {name for name, _ in members if not name.startswith("_")}
    assert methods.keys() == public
    for name, arguments in methods.items():
        parameters = list(inspect.signature(getattr(nads.NADs, name)).parameters)
        if "self" in parameters:
            parameters.remove("self")
        assert arguments == ", ".join(parameters)


def test_the_program_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program, printed = re.findall(r"```(?:python)?\n(.*?)```", PAGE, re.S)
    exec(compile(program, "docs/api.md", "exec"), {})
    found = capsys.readouterr().out
    # The numbers, which another processor rounds differently, are these to a tenth.
    number = r"\d+\.\d+"
    assert re.sub(number, "", found) == re.sub(number, "", printed)
    values = [float(text) for text in re.findall(number, found)]
    expected = [float(text) for text in re.findall(number, printed)]
    assert values == pytest.approx(expected, rel=0.1)
    assert {path.name for path in tmp_path.iterdir()} == {"mine.npz", "mine.png"}


@pytest.mark.parametrize("name", nads.__all__)
def test_the_example_in_a_docstring_prints_what_it_states(name, folder):
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(getattr(nads, name), name, globs=vars(nads).copy())
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
