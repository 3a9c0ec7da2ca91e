"""The command line of the stages: its help, and the experiment that it names."""

import argparse
from collections.abc import Sequence


def parser(document: str, name: str) -> argparse.ArgumentParser:
    """The parser of `python -m pipeline.{name}`, whose help is the module's docstring."""
    return argparse.ArgumentParser(
        f"python -m pipeline.{name}",
        description=document,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def no_arguments(document: str, name: str, arguments: Sequence[str] | None = None) -> None:
    """End with the help, or where an argument is given that the command does not take."""
    parser(document, name).parse_args(arguments)


def experiment(
    document: str, name: str, known: Sequence[str], arguments: Sequence[str] | None = None
) -> str:
    """The name of the experiment on the command line."""
    reader = parser(document, name)
    reader.add_argument("experiment", choices=known, help="whose part of the pipeline it is")
    return reader.parse_args(arguments).experiment
