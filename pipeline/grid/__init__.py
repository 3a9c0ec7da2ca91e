"""A grid of cells: their data sets, jobs, keys, training and evaluation."""
