"""What Python finds in place of the package when a stage is started as a file or in this folder."""

raise SystemExit(
    "error: run stages from the root of the repository, as `python -m pipeline.train linear_pairs`"
)
