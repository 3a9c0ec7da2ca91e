"""The command `profile` as a call in Python."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import safetensors.torch
from torch import nn

from pipeline.machine import code
from pipeline.nads import arguments
from pipeline.project.errors import InputError, prefix_errors
from pipeline.training.shapes import INPUT, Shape


def profile(
    network: str | type | Callable[..., nn.Module] | nn.Module,
    images: str | os.PathLike | None = None,
    *,
    shape: Shape = INPUT,
    minutes: float = 10,
    lr: float = 0.5,
    output: str | os.PathLike | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Profile a network: what it is sensitive to, and what it may miss.

    Runs the command `profile` in a new process, which imports the network's file as it
    is now.

    Args:
        network: A name such as 'lenet' or 'my_networks:Mixer', a class or function of
            an imported file, or, with `images`, a trained module of such a class.
        images: CIFAR-10's archive or class folders, for a trained module.
        shape: (C, H, W) of one input.
        minutes: About how long it takes.
        lr: Learning rate of the first step.
        output: Folder of the page; profile-NETWORK in the current folder without it.
        **options: The network's own arguments.

    Returns:
        What the command prints with `--json`: the path of the page, and for each
        network its accuracies along NADs and how far they can be trusted.

    Raises:
        InputError: For a network that cannot be profiled and for other wrong values.

    >>> found = profile("logreg", shape=(1, 8, 8), minutes=0.01, side=8)
    >>> found["page"]
    'profile-LogReg-1-8-8/index.html'
    >>> found["networks"]["LogReg-1-8-8"]["accuracies"][0]["index"]
    0
    """
    size = "x".join(map(str, arguments.input_shape(shape)))
    words = [f"--input={size}", f"--minutes={minutes}", f"--lr={lr}", "--json"]
    if images is not None:
        words.append(f"--images={images}")
    if output is not None:
        words.append(f"--output={output}")
    with prefix_errors("options: ", TypeError):
        words += [f"{name}={json.dumps(value)}" for name, value in options.items()]
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(network, nn.Module):
            file = f"{folder}/network.safetensors"
            safetensors.torch.save_model(network, file)
            words.append(f"--weights={file}")
            network = type(network)
        return _run_command([_name(network), *words])


def _name(network: str | Callable[..., nn.Module]) -> str:
    """Return a network's name on the command line, `module:name` for a class."""
    if isinstance(network, str):
        return network
    with prefix_errors("a network has a name or is in a file: ", AttributeError):
        module = network.__module__
        name = network.__qualname__
    if module == "__main__":
        raise InputError(
            f"{name} is defined in this program itself; put it into a file such as "
            "my_networks.py and import it, as other processes import it too",
            "outside-own",
            name=name,
        )
    return f"{module}:{name}"


def _run_command(words: list[str]) -> dict[str, Any]:
    """Run the command, passing on what it prints, and return its results."""
    folders = [str(code.PACKAGE.parent), *filter(None, sys.path)]
    message = "the process was killed"
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "pipeline.profile", *words],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for message in process.stderr:
            print(message, end="", file=sys.stderr, flush=True)
        results = process.stdout.read()
    if process.returncode:
        raise InputError(message.strip().removeprefix("error: "), "failed-jobs")
    return json.loads(results)
