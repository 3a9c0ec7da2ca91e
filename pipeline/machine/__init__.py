"""Where work runs (processes, a GPU, Ray), the store of finished work, digests of source code."""
