"""The look of figures: what their titles look like."""

import pytest

from pipeline.report import style


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("four words in all", ["four words in all"]),
        ("aaaa bbbb cccc dddd eeee", ["aaaa bbbb cccc", "dddd eeee"]),
        ("", [""]),
    ],
)
def test_a_title_has_as_few_lines_as_fit_and_none_of_one_word_left(text, lines):
    assert style.wrap_evenly(text, 20).split("\n") == lines
