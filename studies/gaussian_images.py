"""Write class folders of Gaussian images that have each class's mean and covariance.

    python -m studies.gaussian_images FOLDER

A review of paper 1 asks whether figure 7 depends on what is special in photographs. It
does not if the figure looks the same for these images. Reads data/images/. Writes
FOLDER/train/CLASS/*.png and FOLDER/test/CLASS/*.png, as many images as each class has.
Use them with `CIFAR10=FOLDER dvc repro`. Values are clipped to 0 … 255.
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image
from tqdm import tqdm

from pipeline.project import artifacts
from pipeline.project.errors import one_sentence
from pipeline.training.seeds import stream


def gaussian(images: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Images drawn from the normal distribution with the mean and covariance of others.

    Args:
        images: uint8, (M, 3, H, W).
        count: Number N of images to draw.
        rng: Source of randomness.

    Returns:
        uint8, (N, 3, H, W).
    """
    vectors = images.reshape(len(images), -1).astype(np.float64)
    mean = vectors.mean(0)
    # Mixtures of the centred images have exactly their covariance, without a D×D
    # factor.
    mixing = rng.standard_normal((count, len(vectors))) / np.sqrt(len(vectors) - 1)
    drawn = mean + mixing @ (vectors - mean)
    return (
        np.rint(drawn).clip(0, 255).astype(np.uint8).reshape(count, *images.shape[1:])
    )


def main() -> None:
    """Write the class folders."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    images = artifacts.read_images()
    for number, name in enumerate(tqdm(images["classes"], "classes", disable=None)):
        originals = images["train_images"][images["train_labels"] == number]
        for split in ("train", "test"):
            count = int((images[f"{split}_labels"] == number).sum())
            pictures = gaussian(
                originals, count, stream(0, "gaussian images", name, split)
            )
            place = folder / split / name
            place.mkdir(parents=True)
            for position, picture in enumerate(pictures):
                Image.fromarray(picture.transpose(1, 2, 0)).save(
                    place / f"{position:05}.png"
                )


if __name__ == "__main__":
    with one_sentence():
        main()
