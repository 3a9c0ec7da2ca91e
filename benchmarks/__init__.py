"""The measurements behind the numbers of docs/: speed, agreement with the papers, error rates."""
