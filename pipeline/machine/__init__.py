"""Where work runs (processes, a GPU, Dask), the store of finished work, digests of
source code."""
