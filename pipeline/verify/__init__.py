"""Whether the numbers of two runs agree within the spread of training, and with the
papers' published ones."""
