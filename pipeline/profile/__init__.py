"""One network: its response before training, the directions that it is expected not to see, and its
accuracy along directions of both kinds."""
