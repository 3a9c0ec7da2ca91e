"""The command line of the stages."""

import pytest

from pipeline.project import command

KNOWN = ["fourier", "linear_pairs"]


def test_the_command_line_names_one_experiment(capsys):
    assert command.experiment("What it is.", "train", KNOWN, ["linear_pairs"]) == "linear_pairs"
    for arguments, sentence in (
        ([], "the following arguments are required: experiment"),
        (["linear_pairs", "fourier"], "unrecognized arguments: fourier"),
        (["cats"], "invalid choice: 'cats' (choose from"),
    ):
        with pytest.raises(SystemExit) as caught:
            command.experiment("What it is.", "train", KNOWN, arguments)
        error = capsys.readouterr().err
        assert caught.value.code == 2 and sentence in error and "python -m pipeline.train" in error


def test_help_is_the_modules_docstring(capsys):
    with pytest.raises(SystemExit) as caught:
        command.experiment("What it is.\n\nAs it stands:\n    here", "train", KNOWN, ["--help"])
    output = capsys.readouterr().out
    assert (
        caught.value.code == 0
        and "What it is.\n\nAs it stands:\n    here" in output
        and "{fourier,linear_pairs}" in output
    )


def test_a_command_without_arguments_takes_none(capsys):
    assert command.no_arguments("What it is.", "plan", []) is None
    with pytest.raises(SystemExit):
        command.no_arguments("What it is.", "plan", ["smoke"])
    assert "unrecognized arguments: smoke" in capsys.readouterr().err
