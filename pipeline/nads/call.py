"""The estimate of NADs as one call, for your own programs."""

import functools
import operator
from collections.abc import Callable

import torch
from torch import nn

from pipeline.nads import arguments
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import run_in_process, start_estimate
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.jacobian import Sampler
from pipeline.networks import Symmetry, checks, custom, passes
from pipeline.project.errors import InputError, notice, prefix_errors


def _device_name(device: object) -> str:
    """Return the name of a device that can be used.

    Args:
        device: What PyTorch takes for a device.

    Raises:
        InputError: If it cannot be used.
    """
    reasons = (AssertionError, RuntimeError, TypeError)
    with prefix_errors("device: ", *reasons, kind="missing-device"):
        value = torch.zeros(1, device=device)
        value.item()  # the device meta has no values
    return str(value.device)


@custom.usual_defaults()
def estimate(
    make: Callable[[], nn.Module],
    shape: tuple[int, int, int],
    networks: int,
    *,
    estimand: str = "secant",
    method: str = "readout",
    step: float = 100.0,
    point: str = "normal",
    symmetry: str = "none",
    error: float | None = None,
    first: int | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> NADs:
    """Estimate the NADs of the untrained networks that `make()` builds (paper 1, §4).

    The call works inside `torch.inference_mode` and `torch.autocast` too.

    Args:
        make: Builds a torch module from (N, C, H, W) to (N, 1), its weights drawn by
            torch in each call.
        shape: (C, H, W) of one input.
        networks: Number of networks, at most.
        estimand: 'secant', (f(x + h eᵢ) − f(x − h eᵢ)) / 2h, as the published NADs;
            'gradient', ∇f(x), the formula as printed; or 'output', f(x) itself, of
            networks from images to images.
        method: 'readout' averages exactly over the weights of the last linear layer;
            'plain' takes one vector of each network.
        step: The secant's half-width h, in units of the input.
        point: The image x: 'normal', one standard-normal image; 'many', a new one for
            each network; or 'zero'.
        symmetry: The symmetry over which C is averaged: 'none', 'transposition' or
            'square', or 'measured', that of the smallest error; with '+channels' at its
            end also over the channels.
        error: Relative error of C at which the estimate stops.
        first: Number of leading directions, without any D×D matrix, rounded up to a
            multiple of the channels that C is averaged over. There are fewer where C
            has fewer eigenvalues above a millionth of the largest.
        seed: Seed of weights and image.
        device: Where the networks run, 'cuda' for a GPU. Weights are drawn on the CPU.

    Raises:
        InputError: For values that cannot be run, for networks as `checks.check` does,
            for a C that is zero or not finite, and for estimates that do not fit into
            memory.
        TypeError: For values of another type.

    >>> from torch import nn
    >>> def make():
    ...     layers = [nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)]
    ...     return nn.Sequential(*layers)
    >>> nads = estimate(make, shape=(1, 4, 4), networks=8)
    >>> nads.directions.shape, nads.method, nads.error < 0.5
    ((16, 16), 'readout', True)
    """
    if isinstance(make, nn.Module) or not callable(make):
        kind = "network" if isinstance(make, nn.Module) else type(make).__name__
        raise InputError(
            "estimate needs a function that builds a new network, such as `lambda: "
            f"Net()`, not a {kind}",
            "wrong-type",
        )
    device = _device_name(device)
    # Numbers of NumPy and PyTorch become Python's.
    step = float(step)
    networks = operator.index(networks)
    seed = operator.index(seed)
    if error is not None:
        error = float(error)
    if first is not None:
        first = operator.index(first)
    shape = arguments.input_shape(shape)
    with prefix_errors("", ValueError):
        averaged = Symmetry.parse(symmetry)
    if first is not None and averaged.square == "measured":
        raise InputError(
            "a symmetry is only measured for all directions; state the symmetry, or "
            "leave out first",
            "conflict",
        )
    with prefix_errors("", ValueError):
        has_symmetry = symmetry not in ("none", "measured")
        estimator = Estimator(estimand, method, step, point, has_symmetry, False)
        source = Source(networks, error, shape, first)
    output_shape = source.input if estimand == "output" else (1,)
    build = functools.partial(custom.build, make)
    build_contiguous = functools.partial(build, contiguous=True)
    if passes.needs_contiguous("the network", build, build_contiguous, source.input):
        build = build_contiguous
    for text in checks.check("the network", build, source.input, output_shape):
        notice(text)
    sampler = Sampler(build, source.input, (seed, "library"), estimator, device)
    estimation = start_estimate(sampler, source, averaged)
    estimation.run(run_in_process, "NADs")
    return estimation.nads()
