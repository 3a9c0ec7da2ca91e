"""The page reports/index.html of a run: one file that opens from disk, with explorers.

The article in docs/site uses the same explorers.
"""
