"""The page of one network: what it responds to before training, what it is expected not to see, and what it was tried on."""

from pathlib import Path

import numpy as np

from pipeline.nads.response import frequencies
from pipeline.report.profile.document import document
from pipeline.report.profile.found import Found

__all__ = ["Found", "document", "write"]


def write(found: Found, folder: Path) -> None:
    """Write index.html and what it was drawn from: nads.npz, networks.csv, directions.csv and waves.csv."""
    np.savez(folder / "nads.npz", **vars(found.nads))
    found.results.to_csv(folder / "networks.csv", index=False)
    found.summary.to_csv(folder / "directions.csv")
    rows, columns = (frequencies(side) for side in found.waves.shape)
    lines = ["k_row,k_col,response"]
    lines += [f"{r},{c},{found.waves[i, j]:.6g}" for i, r in enumerate(rows) for j, c in enumerate(columns)]
    (folder / "waves.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(document(found), encoding="utf-8")
