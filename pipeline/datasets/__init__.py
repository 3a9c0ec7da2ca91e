"""Data sets as functions of arrays: linearly separable ones (`separable`), Fourier directions (`fourier`), pictures (`pictures`)."""
