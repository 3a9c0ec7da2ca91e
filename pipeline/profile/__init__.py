"""One network: what it responds to before training, what it is expected not to see, and what it
learns along directions of either kind."""
