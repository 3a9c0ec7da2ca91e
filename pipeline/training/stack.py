"""Training of many small networks at once on one device: their weights lie in stacked
tensors.

A GPU spends the time of one small network on starting kernels; in a stack, each layer
of all networks is one batched product (`torch.func.vmap`). Networks with batch norm or
dropout cannot be stacked.
"""

from collections.abc import Iterable, Sequence

import torch
import torch.nn.functional as F
from torch import nn

from pipeline.training.loop import (
    BATCH,
    SCHEDULES,
    Diverged,
    Labelled,
    Outcome,
    Training,
    autocast,
    optimiser_of,
    outcome,
)


def train(
    networks: Sequence[nn.Module],
    sets: Iterable[Labelled],
    training: Training,
    seeds: Sequence[int],
) -> list[Outcome | Diverged]:
    """Train M networks in place, each on its own set as `pipeline.training.loop.train`
    would, on the sets' device.

    networks: alike but for their weights; sets: M pairs of inputs (N, C, H, W) and
    class numbers (N,), of equal shapes; seeds: of the orders. The outcome of a network
    whose loss is not finite is Diverged; the other networks are trained all the same.
    """
    x, y = map(torch.stack, zip(*sets, strict=True))
    device = x.device
    weights, _ = torch.func.stack_module_state(
        [network.to(device) for network in networks]
    )
    base = networks[0].train()
    optimiser = optimiser_of(weights.values(), training)

    def loss(one, x, y):
        output = torch.func.functional_call(base, one, (x,)).to(x.dtype)
        value = F.cross_entropy(output, y)
        return value, (value.detach(), (output.detach().argmax(1) == y).sum())

    gradients = torch.func.vmap(torch.func.grad(loss, has_aux=True))
    orders = [torch.Generator().manual_seed(seed) for seed in seeds]
    count, samples = x.shape[:2]
    batches = -(-samples // BATCH)
    rates = iter(SCHEDULES[training.schedule](training.epochs * batches, training.lr))
    losses = torch.zeros(count, training.epochs, batches, device=device, dtype=x.dtype)
    every = torch.arange(count, device=device)[:, None]
    for epoch in range(training.epochs):
        correct = torch.zeros(count, device=device)
        shuffled = torch.stack(
            [torch.randperm(samples, generator=order) for order in orders]
        )
        for batch, rows in enumerate(shuffled.to(device).split(BATCH, dim=1)):
            with autocast(device, training.precision):
                gradient, (value, right) = gradients(
                    weights, x[every, rows], y[every, rows]
                )
            for name, clipped in clip(gradient, training.clip).items():
                weights[name].grad = clipped
            optimiser.param_groups[0]["lr"] = next(rates)
            optimiser.step()
            losses[:, epoch, batch] = value
            correct += right
    losses = losses.cpu()
    correct = correct.cpu()
    outcomes = []
    for position, network in enumerate(networks):
        network.load_state_dict(
            {name: value[position] for name, value in weights.items()}
        )
        try:
            outcomes.append(outcome(losses[position], correct[position], samples))
        except Diverged as error:
            outcomes.append(error)
    return outcomes


def clip(gradients: dict[str, torch.Tensor], most: float) -> dict[str, torch.Tensor]:
    """Stacked gradients (M, …), those of each network scaled to a norm of at most
    `most`.

    As `torch.nn.utils.clip_grad_norm_` does it for one network.
    """
    squares = torch.stack([g.flatten(1).square().sum(1) for g in gradients.values()])
    scale = (most / (squares.sum(0).sqrt() + 1e-6)).clamp(max=1)
    return {
        name: g * scale.view(-1, *[1] * (g.dim() - 1)) for name, g in gradients.items()
    }
