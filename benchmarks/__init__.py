"""Comparisons of speed behind numbers of docs/, both sides in turns in one call."""
