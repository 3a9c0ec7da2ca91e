"""An experiment's grid: its cells' data sets, keys, training, evaluation and cost."""
