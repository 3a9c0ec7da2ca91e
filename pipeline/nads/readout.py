"""The read-out: the linear layer that ends a network, over which C may be averaged
exactly.

One network contributes, by the estimate's *method*,

- `plain`: the sample d dᵀ of C, of one vector d;
- `readout`: the expectation of d dᵀ over the last linear layer. With f = aᵀφ(x) + b and
  the entries of a independent, of zero mean and variance s², E_a[d dᵀ] = s² JᵀJ, where
  J holds the derivatives of the features φ. PyTorch draws the weights uniformly from
  ±1/√F for F inputs, so s² = 1/3F.
"""

import dataclasses

import torch
from torch import nn

from pipeline.nads.estimator import Estimator


def calls_of(
    layer: nn.Module, network: nn.Module, images: torch.Tensor
) -> tuple[list[tuple[torch.Tensor, torch.Tensor]], torch.Tensor]:
    """Run a network and record the calls of one of its layers.

    Args:
        layer: A layer of the network.
        network: The network.
        images: (N, C, H, W).

    Returns:
        The input and the output of each call of the layer, and the network's output.
    """
    calls = []

    def record(module, arguments, keywords, result):
        values = (*arguments, *keywords.values())
        x = next(value for value in values if isinstance(value, torch.Tensor))
        # A copy, which what follows cannot change in place.
        calls.append((x, result.clone()))

    with layer.register_forward_hook(record, with_kwargs=True):
        output = network(images)
    return calls, output


def find_readout(network: nn.Module, shape: tuple[int, ...]) -> tuple[nn.Linear, float]:
    """Find the linear layer that ends a network, and the variance of its weights.

    The variance s² is 1/3F if the weights are those of PyTorch's distribution: at most
    1/√F, and with a mean square within five standard errors of 1/3F. Otherwise it is
    the mean square, whose expectation is s² whatever the distribution. It is 1/3F for
    weights that start at zero, since s² only scales C.

    Args:
        network: The network, in eval mode.
        shape: (C, H, W) of one input.

    Returns:
        The layer and s².

    Raises:
        ValueError: If the output at large noise is not that of a linear layer, or the
            mean of its weights not within five standard errors of 0.
    """
    last = _last_layer(network, shape)
    weights = last.weight.detach().flatten().cpu().double()
    default = 1 / (3 * last.in_features)
    square = float((weights**2).mean())
    error = 5 / len(weights) ** 0.5
    if abs(weights.mean()) > error * square**0.5:
        raise ValueError("the last layer's weights do not have zero mean")
    is_bounded = weights.abs().max() < 1.0001 * (3 * default) ** 0.5
    # The mean square of n uniform values varies by √(0.8/n) of itself.
    is_near = abs(square / default - 1) < error * 0.8**0.5
    if square == 0 or (is_bounded and is_near):
        return last, default
    return last, square


def _last_layer(network: nn.Module, shape: tuple[int, ...]) -> nn.Linear:
    """Return the linear layer whose output is that of the network."""
    # At the image 0, what is added to the last layer's output could be 0 too.
    images = 100 * torch.randn(8, *shape, generator=torch.Generator().manual_seed(0))
    layers = [module for module in network.modules() if isinstance(module, nn.Linear)]
    for layer in reversed(layers):
        with torch.no_grad():
            calls, output = calls_of(layer, network, images.to(layer.weight.device))
            if len(calls) == 1 and torch.equal(calls[0][1], output):
                return layer
    raise ValueError(
        "the network is not seen to end in a linear layer, so its read-out cannot be "
        "averaged over exactly"
    )


def resolve_method(
    network: nn.Module, estimator: Estimator, shape: tuple[int, ...]
) -> tuple[Estimator, int, str | None]:
    """Replace the method `readout` by `plain` for a network that does not allow it.

    Args:
        network: An untrained network of the estimate.
        estimator: The estimator that was asked for.
        shape: (C, H, W) of one input.

    Returns:
        The estimator to use, the number F of vectors that it takes from one network,
        and the reason if the network does not allow `readout`.
    """
    plain = dataclasses.replace(estimator, method="plain")
    if estimator.method == "plain" or estimator.estimand == "output":
        return plain, 1, None
    try:
        last, _ = find_readout(network.eval(), shape)
    except ValueError as error:
        return plain, 1, str(error)
    return estimator, last.in_features, None
