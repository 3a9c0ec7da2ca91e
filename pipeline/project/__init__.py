"""What every part of the project shares: seeds, errors, the inputs' shape."""
