"""The page that people show each other, reports/index.html: one file that opens from disk."""
