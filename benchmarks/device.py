"""What a step of training takes on an accelerator: alone, in stacks, and beside other
processes.

    python -m benchmarks.device [--networks lenet resnet18 …] [--device auto]

*Alone* is `pipeline.training.loop` with one network. *Kernels* is the same step
recorded as a CUDA graph and played back, which is what the device itself needs; the
rest is the host's. *Stack* is `pipeline.training.stack`, where the network suits it, by
the network. *Processes* is that of several which share the device, each with one
network, by the network. Milliseconds, one measurement each; ratios of two that stand in
one line say more than either.
"""

import argparse
import functools
import subprocess
import sys
import time
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn

from pipeline import networks as table
from pipeline.machine import workers
from pipeline.training import loop, stack
from pipeline.training.loop import BATCH, Training

NETWORKS = {
    "lenet": ({"network": "lenet"}, 64),
    "mlp": ({"network": "mlp", "hidden": [100, 20]}, 64),
    "vit": ({"network": "vit"}, 16),
    "mixer": ({"network": "mixer"}, 16),
    "convnext": ({"network": "convnext"}, 16),
    "convmixer": ({"network": "convmixer"}, 1),
    "resnet18_quarter": ({"network": "resnet18", "width": 0.25}, 1),
    "resnet18": ({"network": "resnet18"}, 1),
    "vgg11": ({"network": "vgg11"}, 1),
    "densenet121": ({"network": "densenet121"}, 1),
}
"""Name → architecture, and the networks of its stack."""

TRAINING = functools.partial(Training, lr=0.01, momentum=0.0, weight_decay=0.0)
PROCESSES = 4
SECONDS = 8  # for which the processes are counted


def built(name: str, count: int) -> list[nn.Module]:
    """Untrained networks of one input channel and two classes."""
    specification = table.specification(NETWORKS[name][0])
    return [table.build(specification, 1, 2, seed) for seed in range(count)]


def data(steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and classes of so many steps."""
    return torch.randn(steps * BATCH, 1, 32, 32), torch.randint(0, 2, (steps * BATCH,))


def wait(device: torch.device) -> float:
    """The time when the device has done all that it was told."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
    return time.perf_counter()


def alone(name: str, precision: str, device: torch.device, steps: int) -> float:
    """Seconds of a step of one network, from the second epoch on."""
    (x, y) = data(steps)
    times = []
    loop.train(
        *built(name, 1),
        loop.channels_last(x, device),
        y.to(device),
        TRAINING(3, precision=precision),
        0,
        lambda _: times.append(wait(device)),
    )
    return (times[3] - times[1]) / (2 * steps)


def kernels(name: str, precision: str, device: torch.device, steps: int) -> float:
    """Seconds of a step of one network that is recorded and played back."""
    (network,) = built(name, 1)
    (x, y) = data(1)
    network.to(device, memory_format=torch.channels_last).train()
    x = loop.channels_last(x, device)
    y = y.to(device)
    parameters = [*network.parameters()]
    optimiser = loop.optimiser_of(parameters, TRAINING(1))

    def step() -> None:
        optimiser.zero_grad(set_to_none=False)
        with torch.autocast(
            "cuda", torch.bfloat16, precision == "bfloat16", cache_enabled=False
        ):
            output = network(x)
        F.cross_entropy(output.float(), y).backward()
        nn.utils.clip_grad_norm_(parameters, loop.CLIP)
        optimiser.step()

    aside = (
        torch.cuda.Stream()
    )  # a first few steps, of which PyTorch wants none on the main one
    with torch.cuda.stream(aside):
        for _ in range(4):
            step()
    wait(device)
    with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
        step()
    graph.replay()
    started = wait(device)
    for _ in range(steps):
        graph.replay()
    return (wait(device) - started) / steps


def stacked(name: str, device: torch.device, steps: int) -> float:
    """Seconds of a step of a stack in float32, by the network."""
    count = NETWORKS[name][1]
    times = []
    networks = built(name, count)
    (x, y) = data(steps)
    for epochs in (1, 1, 3):  # the first has starts in it
        started = wait(device)
        stack.train(
            networks,
            [(x.to(device), y.to(device))] * count,
            TRAINING(epochs),
            [0] * count,
        )
        times.append(wait(device) - started)
    return (times[2] - times[1]) / (2 * steps * count)


def process(
    name: str, precision: str, device: torch.device, steps: int, start: float
) -> None:
    """Train one network over and over, and print its steps in `SECONDS` from `start`
    on."""
    (network,) = built(name, 1)
    (x, y) = data(steps)
    done = 0
    how = TRAINING(1, precision=precision)
    x = loop.channels_last(x, device)
    y = y.to(device)
    loop.train(network, x, y, how, 0)
    time.sleep(max(0, start - time.time()))
    while time.time() < start + SECONDS:
        loop.train(network, x, y, how, 0)
        wait(device)
        done += steps
    print(done / (time.time() - start))


def processes(name: str, precision: str, device: torch.device, steps: int) -> float:
    """Seconds of a step of several processes that share the device, by the network."""
    start = time.time() + 20  # by when all of them have loaded PyTorch
    words = [
        "--device",
        device.type,
        "--steps",
        str(steps),
        "--process",
        name,
        precision,
    ]
    command = [sys.executable, "-m", "benchmarks.device", *words, str(start)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    return 1 / sum(float(each.communicate()[0]) for each in running)


def lines(name: str, device: torch.device, steps: int) -> Iterator[str]:
    """What is printed of one network: a line for each precision."""
    for precision in ("float32", "bfloat16"):
        found = {"alone": alone(name, precision, device, steps)}
        if device.type == "cuda":
            found["kernels"] = kernels(name, precision, device, steps)
        if precision == "float32" and (count := NETWORKS[name][1]) > 1:
            found[f"stack of {count}"] = stacked(name, device, steps)
        found[f"{PROCESSES} processes"] = processes(name, precision, device, steps)
        times = ", ".join(
            f"{label} {1e3 * value:.3g}" for label, value in found.items()
        )
        yield f"{name} {precision}: {times}"


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS)
    )
    parser.add_argument("--steps", type=int, default=40, help="of an epoch")
    parser.add_argument("--device", default="auto", help="as in params.yaml")
    parser.add_argument("--process", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    device = workers.device_of(chosen.device)
    if chosen.process:
        name, precision, start = chosen.process
        process(name, precision, device, chosen.steps, float(start))
        return
    print(f"ms of a step on {workers.place(device)}, torch {torch.__version__}")
    for name in chosen.networks:
        for line in lines(name, device, chosen.steps):
            print(line, flush=True)


if __name__ == "__main__":
    main()
