"""Stage `estimate`: the NADs of every architecture that the scale uses -> data/nads/{architecture}.npz."""

import dataclasses
import sys

import numpy as np
import torch

from pipeline import anisotropy, architectures, artifacts, grid, params
from pipeline.errors import one_sentence


def sample(_, recipe):
    """One network's sample; runs in a worker."""
    return anisotropy.sample(**recipe)


def method_for(name, chosen):
    """The estimator of an architecture: params.yaml's, with `plain` in place of `readout` where that cannot be used."""
    if chosen.estimator.method == "readout":
        shape = architectures.input_shape(1)
        network = architectures.build(chosen.architectures[name], shape[0], 1, chosen.seed).eval()
        try:
            anisotropy.readout(network, torch.zeros(1, *shape))
        except ValueError as error:
            print(f"notice: {name}: {error}; its NADs use `plain`, which needs far more networks", file=sys.stderr)
            return dataclasses.replace(chosen.estimator, method="plain")
    return chosen.estimator


def main():
    """Estimate and write the NADs, architecture by architecture."""
    chosen = params.load()
    architectures.check(chosen.architectures)
    folder = artifacts.fresh(artifacts.NADS)
    errors = {}
    estimators = {name: method_for(name, chosen) for name in chosen.nads}
    recipes = [
        {
            "specification": chosen.architectures[name],
            "name": name,
            "number": number,
            "seed": chosen.seed,
            "estimator": estimators[name],
        }
        for name, count in chosen.nads.items()
        for number in range(count)
    ]
    covariances = {name: anisotropy.Covariance(params.D) for name in chosen.nads}
    early, due = {}, 0
    for position, result in grid.run(sample, recipes, dict, torch.device("cpu"), "estimate"):
        if isinstance(result, Exception):
            raise result
        early[position] = result
        # Networks are added in their order, whichever finishes first: the sums are then the same in every run.
        while due in early:
            name = recipes[due]["name"]
            covariances[name].add(early.pop(due))
            due += 1
            if covariances[name].count == chosen.nads[name]:
                symmetry = architectures.symmetry(chosen.architectures[name])
                nads = anisotropy.directions_of(
                    covariances.pop(name),
                    estimators[name],
                    symmetry if chosen.estimator.symmetry else "none",
                    architectures.input_shape(1),
                )
                np.savez(folder / f"{name}.npz", **dataclasses.asdict(nads))
                errors[name] = {
                    "error": round(nads.error, 4),
                    "networks": nads.networks,
                    "first_singular_value": float(f"{np.sqrt(nads.eigenvalues[0]):.4g}"),
                }
                print(
                    f"{name}: NADs from {nads.networks} networks, relative error of C {nads.error:.3f}, "
                    f"first singular value {np.sqrt(nads.eigenvalues[0]):.4g}"
                )
    artifacts.write_json(artifacts.REPORTS / "nads.json", errors)


if __name__ == "__main__":
    with one_sentence():
        main()
