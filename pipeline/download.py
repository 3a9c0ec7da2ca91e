"""Stage `download`: write the images in canonical order to data/images/.

Also writes reports/images.json. The stage looks for images in this order: images.path
of params.yaml, the environment variable CIFAR10, the archive of an earlier download,
images.url. If CIFAR-10 cannot be downloaded, it uses images.fallback.
"""

import numpy as np

from pipeline.images import sources
from pipeline.images.image_set import SPLITS
from pipeline.images.settings import SizedImageSettings
from pipeline.project import artifacts, command
from pipeline.project.errors import notice, one_sentence
from pipeline.project.progress import progress


def main() -> None:
    """Read the images, sort them, and write them."""
    settings = artifacts.read_plan("images", SizedImageSettings)
    with progress("reading images"):
        images = sources.find(settings, settings.size)
    mean, deviation = images.statistics()
    about = {
        "name": images.name,
        "classes": images.classes,
        "train": len(images.images["train"]),
        "test": len(images.images["test"]),
        "digest": images.digest(),
    }
    statistics = {"mean": mean, "deviation": deviation}
    origin = {"source": images.source, "notices": images.notices}
    with artifacts.output(artifacts.IMAGES) as folder:
        for split in SPLITS:
            np.save(folder / f"{split}_images.npy", images.images[split])
            np.save(folder / f"{split}_labels.npy", images.labels[split])
        artifacts.write_json(folder / "about.json", about | statistics)
    artifacts.write_json(artifacts.REPORTS / "images.json", about | origin)
    for text in images.notices:
        notice(text)
    print(
        f"{images.name}: {about['train']} training and {about['test']} test images of "
        f"{len(images.classes)} classes, from {images.source}"
    )


if __name__ == "__main__":
    with one_sentence():
        command.make_parser(__doc__, "download").parse_args()
        main()
