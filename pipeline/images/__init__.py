"""Images read from folders and archives, checked, and put into one canonical order."""
