"""The making of one cell, which is one training run: seeds, D(v) and direct sums,
Fourier directions, altered pictures, and a network's training.

Nothing here knows grids, files or processes, or imports anything but torch and NumPy. A
cell's weights are therefore decided by this folder, its network's file and its
experiment's file.
"""
