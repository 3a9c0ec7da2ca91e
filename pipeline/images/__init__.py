"""Real images: read from any of their usual forms, checked, and put into one canonical order."""

from pipeline.images.sources import ImageSet, Split, canonical, digits, fetched, read

__all__ = ["ImageSet", "Split", "canonical", "digits", "fetched", "read"]
