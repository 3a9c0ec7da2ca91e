"""Training: one network as a plain function, and many of them together on a GPU (`pipeline.training.ensembles`)."""

from pipeline.training.single import SCHEDULES, Diverged, Outcome, Training, accuracy, arranged, logits, train

__all__ = ["SCHEDULES", "Diverged", "Outcome", "Training", "accuracy", "arranged", "logits", "train"]
