"""The file that Python takes for the package where a stage is started as a file or from here."""

raise SystemExit(
    "error: run stages from the root of the repository, as `python -m pipeline.train linear_pairs`"
)
