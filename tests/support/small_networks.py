"""The smallest network of every family, as params.yaml names its arguments."""

FAMILIES = {
    "logreg": {},
    "mlp": {"hidden": [6, 4]},
    "lenet": {},
    "vgg11": {"width": 0.125},
    "resnet18": {"width": 0.125},
    "densenet121": {"growth": 2, "blocks": [1, 1, 1, 1]},
    "vit": {"width": 16, "depth": 1},
    "mixer": {"width": 16, "depth": 1},
    "convmixer": {"width": 8, "depth": 1},
    "convnext": {"widths": [8, 8, 8], "depths": [1, 1, 1]},
}
