"""The read-out, the linear layer that ends a network, over whose random weights the covariance C is averaged exactly.

Two samples of the same C can be had from one network (the *method*):

- `plain`: one vector d, of the covariance d dᵀ;
- `readout`: the expectation over the last linear layer taken exactly. With f = aᵀφ(x) + b and the entries of a
  independent, of zero mean and variance s², E_a[d dᵀ] = s² JᵀJ, where J holds the derivatives of the features φ.
  PyTorch draws a linear layer's weights uniformly from ±1/√F for F inputs, so s² = 1/3F.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

import torch
from torch import nn

from pipeline.nads.estimator import Estimator


def readout(network: nn.Module, probe: torch.Tensor) -> tuple[nn.Linear, float]:
    """The linear layer that ends `network` and the variance s² of its weights, after checking on `probe` (N, C, H, W).

    s² is 1/3F where the weights look drawn as PyTorch draws a linear layer's by default (mean square within five
    standard errors); otherwise their own mean square, whose expectation is s² whatever the law, so that C stays exact
    on average. Raises ValueError if the output is not that of the last linear layer, or if that layer's weights do not
    look independent with zero mean (mean and neighbours' product within five standard errors of 0).
    """
    linears = [module for module in network.modules() if isinstance(module, nn.Linear)]
    if linears:
        with torch.no_grad(), _inputs_of(linears[-1]) as seen:
            output = network(probe)
        if len(seen) == 1 and torch.equal(linears[-1](seen[0]), output):
            weights, inputs = linears[-1].weight.detach().flatten().double(), linears[-1].in_features
            square, error = float((weights**2).mean()), 5 / len(weights) ** 0.5
            if not square or abs(weights.mean()) > error * square**0.5:
                raise ValueError("the last layer's weights do not have zero mean")
            if abs((weights[1:] * weights[:-1]).mean()) > error * square:
                raise ValueError("the last layer's weights are not independent")
            # Of n uniform values, the mean square varies by √(0.8/n) of itself.
            usual = 1 / (3 * inputs)
            return linears[-1], usual if abs(square / usual - 1) < error * 0.8**0.5 else square
    raise ValueError("the network does not end in a linear layer, so its read-out cannot be averaged over exactly")


@contextlib.contextmanager
def _inputs_of(module: nn.Module) -> Iterator[list[torch.Tensor]]:
    """Context that gives a list to which every input of `module` is appended."""
    seen = []
    handle = module.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        yield seen
    finally:
        handle.remove()


def features(network: nn.Module, last: nn.Linear) -> Callable[[torch.Tensor], torch.Tensor]:
    """The features φ of a network: the function from images (N, C, H, W) to the inputs (N, F) of its layer `last`."""

    def function(images):
        with _inputs_of(last) as seen:
            network(images)
        return seen[0]

    return function


def usable(network: nn.Module, estimator: Estimator, shape: tuple[int, ...]) -> tuple[Estimator, str | None]:
    """The estimator that a network allows, with `plain` in place of an impossible `readout`, and the reason or None.

    network: a torch module for inputs of `shape` (C, H, W), put in eval mode.
    """
    if estimator.method == "readout":
        try:
            readout(network.eval(), torch.zeros(1, *shape))
        except ValueError as error:
            return dataclasses.replace(estimator, method="plain"), str(error)
    return estimator, None


def vectors_of(network: nn.Module, estimator: Estimator, shape: tuple[int, ...]) -> int:
    """The number F of vectors that one network gives: that of its features under `readout`, else 1."""
    if estimator.method == "plain":
        return 1
    return readout(network.eval(), torch.zeros(1, *shape))[0].in_features
