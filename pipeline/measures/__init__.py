"""Measures of trained networks: boundaries, margins, gradients, rank correlation."""
