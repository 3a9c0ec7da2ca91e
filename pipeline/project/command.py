"""The command lines of stages: help, and the name of an experiment."""

import argparse
from collections.abc import Sequence


def make_parser(document: str, name: str) -> argparse.ArgumentParser:
    """Make the parser of `python -m pipeline.{name}`.

    Args:
        document: Docstring of the command's module, which is its help.
        name: Name of the module.
    """
    return argparse.ArgumentParser(
        f"python -m pipeline.{name}",
        description=document,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def read_experiment(document: str, name: str, known: Sequence[str]) -> str:
    """Return the experiment's name from the command line.

    Any other name ends the command.

    Args:
        document: Docstring of the command's module, which is its help.
        name: Name of the module.
        known: Names of the experiments.
    """
    parser = make_parser(document, name)
    parser.add_argument("experiment", choices=known, help="name of the experiment")
    return parser.parse_args().experiment
