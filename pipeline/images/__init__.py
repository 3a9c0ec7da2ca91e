"""Real images: read from any of their usual forms, checked, and put into one canonical order."""
