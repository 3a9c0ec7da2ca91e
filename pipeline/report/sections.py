"""The sections of the report, in its order."""

import importlib

from pipeline.report.page import TITLES

PARTS = {name: importlib.import_module(f"pipeline.report.{name}") for name in TITLES}
"""The modules that make the sections, by experiment or 'nads'."""
