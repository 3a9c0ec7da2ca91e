"""What decides a cell: seeds, D(v) and direct sums, Fourier directions, altered pictures, one
network's training.

A *cell* is one training run. Nothing here knows grids, files or processes, and nothing is imported
but torch and NumPy, so the digest of this folder stands for all of ours that decides a cell's
weights beside its network and its experiment.
"""
