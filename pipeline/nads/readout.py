"""The read-out: the linear layer that ends a network, over which C may be averaged
exactly.

One network gives, by the estimate's *method*,

- `plain`: the sample d dᵀ of C, of one vector d;
- `readout`: the expectation of that over the last linear layer. With f = aᵀφ(x) + b and
  the entries of a independent, of zero mean and variance s², E_a[d dᵀ] = s² JᵀJ, where
  J holds the derivatives of the features φ. PyTorch draws the weights uniformly from
  ±1/√F for F inputs, so s² = 1/3F.
"""

import dataclasses

import torch
from torch import nn

from pipeline.nads.estimator import Estimator


def inputs_of(
    layer: nn.Module, network: nn.Module, images: torch.Tensor
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """The inputs of each call of `layer` when `network` maps `images`, and the
    network's output."""
    inputs = []
    with layer.register_forward_pre_hook(lambda _, given: inputs.append(given[0])):
        return inputs, network(images)


def readout(network: nn.Module, shape: tuple[int, ...]) -> tuple[nn.Linear, float]:
    """The linear layer that ends `network` for inputs `shape` (C, H, W), and its
    variance s².

    s² is 1/3F where the weights are those of PyTorch's law: of at most 1/√F, and with a
    mean square within five standard errors of it; otherwise that mean square, whose
    expectation is s² whatever the law; 1/3F for weights that start at zero, since s²
    only scales C. Raises ValueError if the output at large noise is not that of a
    linear layer, or the mean of its weights not within five standard errors of 0.
    """
    linears = [module for module in network.modules() if isinstance(module, nn.Linear)]
    # At the image 0, what is added to the last layer's output could be 0 too.
    probe = 100 * torch.randn(8, *shape, generator=torch.Generator().manual_seed(0))
    for last in reversed(linears):
        with torch.no_grad():
            inputs, output = inputs_of(last, network, probe.to(last.weight.device))
            if len(inputs) == 1 and torch.equal(last(inputs[0]), output):
                break
    else:
        raise ValueError(
            "the network does not end in a linear layer, so its read-out cannot be averaged over "
            "exactly"
        )
    weights = last.weight.detach().flatten().cpu().double()
    usual = 1 / (3 * last.in_features)
    square = float((weights**2).mean())
    error = 5 / len(weights) ** 0.5
    if abs(weights.mean()) > error * square**0.5:
        raise ValueError("the last layer's weights do not have zero mean")
    # Of n uniform values, the mean square varies by √(0.8/n) of itself.
    uniform = weights.abs().max() < 1.0001 * (3 * usual) ** 0.5
    usually = uniform and abs(square / usual - 1) < error * 0.8**0.5
    return last, usual if usually or not square else square


def usable(
    network: nn.Module, estimator: Estimator, shape: tuple[int, ...]
) -> tuple[Estimator, int, str | None]:
    """The estimator, the number F of vectors that it takes of one network, and None.

    For a read-out that cannot be averaged over: the estimator with `plain`, 1, and the
    reason.
    """
    if estimator.method == "plain" or estimator.estimand == "output":
        return dataclasses.replace(estimator, method="plain"), 1, None
    try:
        last, _ = readout(network.eval(), shape)
    except ValueError as error:
        return dataclasses.replace(estimator, method="plain"), 1, str(error)
    return estimator, last.in_features, None
