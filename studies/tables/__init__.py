"""The generated tables of the pages; `python -m studies.tables` writes them."""
