"""What a grid of cells is: the experiment that asks for it, its data sets, and the training of each cell."""
