"""`python -m pipeline`: the commands."""

import argparse

import pipeline

parser = argparse.ArgumentParser(
    "python -m pipeline",
    description=pipeline.__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
)
parser.add_argument("--version", action="version", version=pipeline.__version__)
parser.parse_args()
parser.print_help()
