"""What figures and tables call an architecture."""

from pipeline.project.shapes import SIDE

LABELS = {
    "logreg": "LogReg",
    "mlp": "MLP",
    "lenet": "LeNet",
    "vgg11": "VGG-11",
    "resnet18": "ResNet-18",
    "densenet121": "DenseNet-121",
}


def label(specification):
    """How a figure names the architecture: for example 'MLP (100, 20)' or 'ResNet-18, width ×0.125'."""
    arguments = dict(specification)
    network = arguments.pop("network")
    if network not in LABELS:
        described = ", ".join(f"{key} {value}" for key, value in arguments.items())
        return network.rpartition(":")[2] + (f" ({described})" if described else "")
    name = LABELS[network]
    if "hidden" in arguments:
        name += f" ({', '.join(map(str, arguments['hidden']))})"
    if arguments.get("width", 1) != 1:
        name += f", width ×{arguments['width']:g}"
    if network == "lenet" and arguments.get("downsampling", "pool") != "pool":
        name += {"stride": ", stride for pooling", "none": ", no pooling"}[arguments["downsampling"]]
    if network == "resnet18" and arguments.get("downsampling") == "none":
        name += ", no pooling"
    if not arguments.get("skip", True):
        name += ", no skip connections"
    if arguments.get("growth", 32) != 32:
        name += f", growth {arguments['growth']}"
    if arguments.get("side", SIDE) != SIDE:
        name += f", {arguments['side']}×{arguments['side']}"
    return name
