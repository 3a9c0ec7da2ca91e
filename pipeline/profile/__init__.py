"""Command `profile`, and the same as one call: what a network, or several side by side,
are sensitive to and what they may miss."""

from pipeline.profile.call import profile

__all__ = ["profile"]
