"""Programs that make numbers of docs/: what networks do, agreement with the papers, error rates."""
