"""What one step of training takes on a GPU: eager, recorded, in lanes, in processes.

    python -m benchmarks.device [--networks lenet resnet18 …] [--minutes 9]

For every network and precision (float32; bfloat16; and tf32, float32 whose factors are
rounded to three digits, which the pipeline never uses):

- difference: the largest difference between the losses of a recorded and an eager
  training, relative to the loss, over `EPOCHS` epochs from the same weights.
- eager: milliseconds of a step of 128 samples of one network whose steps run by
  themselves.
- recorded: the same with recorded steps.
- N lanes: milliseconds per step, where N recorded networks share the GPU in turns;
  left out if there is no room for them.
- N processes: milliseconds per step, where N processes share the GPU, each with one
  recorded network.
- gigabytes: the most memory that one recorded network takes.

Each network is one line of JSON in the output file, written as soon as it is measured.
A table of all lines is printed at the end. The columns `eager` and `recorded` are those
of pipeline/grid/steps.csv, from which `plan` forecasts hours.
"""

import argparse
import functools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from pipeline import networks
from pipeline.machine import lanes, workers
from pipeline.training import loop
from pipeline.training.loop import BATCH, WARM_UP, Trainer, Training

NETWORKS = {
    "lenet": {"network": "lenet"},
    "mlp": {"network": "mlp", "hidden": [100, 20]},
    "resnet18": {"network": "resnet18"},
    "densenet121": {"network": "densenet121"},
    "vgg11": {"network": "vgg11"},
    "resnet18_quarter": {"network": "resnet18", "width": 0.25},
    "convnext": {"network": "convnext"},
    "vit": {"network": "vit"},
    "mixer": {"network": "mixer"},
    "convmixer": {"network": "convmixer"},
}
"""Architectures by name, the most wanted first."""

PRECISIONS = ("float32", "bfloat16", "tf32")

BATCHES = 8
"""Batches of an epoch."""

EPOCHS = 4
"""Epochs over which losses are compared."""

LANES = (2, 4, 8, 16, 32)
PROCESSES = (2, 4)

HOW = functools.partial(Training, lr=0.01, momentum=0.9, weight_decay=0.0)


def make_trainer(
    name: str, precision: str, device: torch.device, epochs: int, recorded: bool
) -> Trainer:
    """Make the training of an untrained network on noise.

    Args:
        name: Architecture in `NETWORKS`.
        precision: One of `PRECISIONS`.
        device: The GPU.
        epochs: Epochs of `BATCHES` batches.
        recorded: Whether steps are recorded.
    """
    is_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = is_tf32
    how = HOW(epochs, precision="float32" if is_tf32 else precision)
    recorder = lanes.Recorder()
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(BATCHES * BATCH, 1, 32, 32, generator=generator)
    y = torch.randint(0, 2, (len(x),), generator=generator)
    network = networks.build(networks.specification(NETWORKS[name]), 1, 2, 0)
    lanes.align_gradients(network)
    return Trainer(
        network,
        loop.channels_last(x, device),
        y.to(device),
        how,
        seed=0,
        record=recorder if recorded and lanes.can_record(device) else None,
    )


def synchronise(device: torch.device) -> float:
    """Wait until the device has done all that it was told; return the time."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def check_recorded(trainer: Trainer) -> None:
    """Raise RuntimeError if steps were to be recorded and were not."""
    if trainer.lr is not None and not trainer.replays:
        raise RuntimeError("the steps of a network could not be recorded")


def difference(name: str, precision: str, device: torch.device) -> float:
    """Return the largest relative difference of losses, recorded against eager."""
    losses = []
    for recorded in (False, True):
        with lanes.on(lanes.new_stream(device)):
            trainer = make_trainer(name, precision, device, EPOCHS, recorded)
            while not trainer.finished:
                trainer.advance()
            losses.append(trainer.losses.cpu())
        check_recorded(trainer)
    eager, recorded = losses
    return float(((recorded - eager) / eager).abs().max())


def milliseconds(
    name: str,
    precision: str,
    device: torch.device,
    steps: int,
    recorded: bool = True,
    count: int = 1,
) -> float:
    """Return the milliseconds of a step, per network, of networks that take turns.

    Args:
        name: Architecture in `NETWORKS`.
        precision: One of `PRECISIONS`.
        device: The GPU.
        steps: Measured steps of each network.
        recorded: Whether steps are recorded.
        count: Number of networks, each with a stream of its own.
    """
    started = WARM_UP + 1
    epochs = 1 + (started + steps) // BATCHES
    running = []
    for _ in range(count):
        stream = lanes.new_stream(device)
        with lanes.on(stream):
            trainer = make_trainer(name, precision, device, epochs, recorded)
            for _ in range(started):
                trainer.advance()
        check_recorded(trainer)
        running.append((trainer, stream))
    before = synchronise(device)
    for _ in range(steps):
        for trainer, stream in running:
            with lanes.on(stream):
                trainer.advance()
    return 1e3 * (synchronise(device) - before) / (steps * count)


def process(name: str, precision: str, device: torch.device, steps: int) -> None:
    """Say when this process is ready, wait for a line, and print its milliseconds."""
    milliseconds(name, precision, device, steps)
    print("ready", flush=True)
    sys.stdin.readline()
    print(milliseconds(name, precision, device, steps))


def in_processes(
    name: str, precision: str, device: torch.device, steps: int, count: int
) -> float:
    """Return the milliseconds of a step, per network, of processes that run at once."""
    words = ["--device", device.type, "--steps", str(steps)]
    command = [sys.executable, "-m", "benchmarks.device", *words]
    command += ["--process", name, precision]
    running = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(count)
    ]
    for child in running:
        child.stdout.readline()
    for child in running:
        child.stdin.write("go\n")
        child.stdin.flush()
    speeds = [1 / float(child.communicate()[0]) for child in running]
    return 1 / sum(speeds)


def has_room(count: int, size: int, device: torch.device) -> bool:
    """Whether the device has room for so many networks of `size` bytes."""
    if device.type != "cuda":
        return True
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info(device)
    return count * size < lanes.MEMORY_FRACTION * free


def measure(
    name: str, precision: str, device: torch.device, steps: int
) -> dict[str, Any]:
    """Return all that is measured of one network, by the names of the columns."""
    row = {"network": name, "precision": precision}
    row["difference"] = difference(name, precision, device)
    row["eager"] = milliseconds(name, precision, device, steps, recorded=False)
    size = 0
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    row["recorded"] = milliseconds(name, precision, device, steps)
    if device.type == "cuda":
        row["gigabytes"] = torch.cuda.max_memory_allocated(device) / 1e9
        # More than is allocated: a graph keeps what it has reserved.
        size = torch.cuda.max_memory_reserved(device)
    for count in LANES:
        if has_room(count, size, device):
            row[f"{count} lanes"] = milliseconds(
                name, precision, device, steps, count=count
            )
    for count in PROCESSES:
        row[f"{count} processes"] = in_processes(name, precision, device, steps, count)
    return row


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=[*NETWORKS])
    parser.add_argument("--steps", type=int, default=64, help="measured steps")
    parser.add_argument("--device", default="auto", help="as in params.yaml")
    parser.add_argument("--minutes", type=float, default=9, help="start none later")
    parser.add_argument("--out", type=Path, default=Path("device.jsonl"))
    parser.add_argument("--process", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    device = workers.find_device(asked.device)
    if asked.process:
        process(*asked.process, device, asked.steps)
        return
    started = time.monotonic()
    rows = []
    asked.out.write_text("")
    for precision in PRECISIONS:
        for name in asked.networks:
            if time.monotonic() - started > 60 * asked.minutes:
                break
            row = measure(name, precision, device, asked.steps)
            rows.append(row)
            with asked.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, file=sys.stderr, flush=True)
    where = workers.device_name(device)
    print(f"milliseconds of a step, {where}, torch {torch.__version__}")
    print(pd.DataFrame(rows).to_string(index=False, float_format="{:.3g}".format))


if __name__ == "__main__":
    main()
