"""Training: one network as a plain function, and many of them together on a GPU (`pipeline.training.ensembles`)."""

from pipeline.training.single import CLIP, SCHEDULES, Diverged, Outcome, Training, accuracy, arranged, logits, train

__all__ = ["CLIP", "SCHEDULES", "Diverged", "Outcome", "Training", "accuracy", "arranged", "logits", "train"]
