"""The command lines of stages: help, and the name of an experiment."""

import argparse
from collections.abc import Sequence


def parser(document: str, name: str) -> argparse.ArgumentParser:
    """The parser of `python -m pipeline.{name}`, whose help is the module's docstring."""
    return argparse.ArgumentParser(
        f"python -m pipeline.{name}",
        description=document,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def experiment(document: str, name: str, known: Sequence[str]) -> str:
    """The experiment's name from the command line; ends the command unless it is among
    `known`."""
    reader = parser(document, name)
    reader.add_argument(
        "experiment", choices=known, help="whose part of the pipeline it is"
    )
    return reader.parse_args().experiment
