"""Training: one network as a plain function, and many of them together on a GPU (`pipeline.training.ensembles`)."""

from pipeline.training.single import Diverged, Recipe, accuracy, arranged, logits, train

__all__ = ["Diverged", "Recipe", "accuracy", "arranged", "logits", "train"]
