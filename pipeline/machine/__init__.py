"""Where work runs (processes, a GPU, Ray), the store of finished work, and digests of source
code."""
