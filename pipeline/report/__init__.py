"""What the report shows: figures, tables and pages."""

import os

# Read when Matplotlib is imported: figures are for files alone.
os.environ["MPLBACKEND"] = "agg"
