"""The settings in params.yaml, as typed and checked plans.

The dataclass that a value becomes says which values are allowed, beside the code that
uses it. This folder holds the rules between values. Only the stage `plan` uses it.
"""

from pipeline.config.scales import Plans, plans
from pipeline.project.parameters import read

__all__ = ["Plans", "plans", "read"]
