"""Stage `check`: every value of params.yaml, at every scale and for every experiment, before any work starts.

It writes nothing; it runs again whenever params.yaml changes, also where no other stage reads the changed key.
"""

import collections

from pipeline import artifacts, experiments, networks, params
from pipeline.nads import anisotropy
from pipeline.project.errors import InputError, one_sentence
from pipeline.project.shapes import SIDE

CIFAR10_CLASSES = 10
"""Outputs with which a network is tried where the images decide how many there are: they may not be here yet."""


def check_file(name, source):
    """Raise InputError unless a file of NADs can be used."""
    try:
        anisotropy.imported(artifacts.rows_of(source.file), source.input, source.file)
    except InputError as error:
        raise InputError(f"nads.{name}: {error}") from None


def main():
    """End with one sentence if anything in params.yaml cannot be run."""
    document = params.read()
    chosen = params.parse(document)
    uses, count = collections.defaultdict(set), 0
    for scale in document["scales"]:
        for name, source in params.parse(document, scale=scale).nads.items():
            if source.file is None:
                uses[name].add((source.input, 1))
            elif scale == chosen.scale:
                check_file(name, source)
        for name in experiments.names():
            module = experiments.find(name)
            at = params.parse(document, module, scale)
            for architecture in at.grid.networks:
                shape = (module.CHANNELS, SIDE, SIDE)
                uses[architecture].add((shape, module.OUTPUTS or CIFAR10_CLASSES))
            count += len(module.cells(at)) if scale == chosen.scale else 0
    networks.check(chosen.architectures, uses)
    print(f"params.yaml is sound; scale {chosen.scale} has {count} cells to train")


if __name__ == "__main__":
    with one_sentence():
        main()
