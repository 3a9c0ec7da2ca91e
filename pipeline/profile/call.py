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
    words = [f"--input={size}"]
    words.append(f"--minutes={arguments.positive_number('minutes', minutes)}")
    words.append(f"--lr={arguments.positive_number('lr', lr)}")
    with prefix_errors("images, output and options: ", TypeError):
        if images is not None:
            words.append(f"--images={os.fspath(images)}")
        if output is not None:
            words.append(f"--output={os.fspath(output)}")
        names = [f"{name}={json.dumps(value)}" for name, value in options.items()]
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(network, nn.Module):
            file = f"{folder}/network.safetensors"
            state = network.state_dict()
            weights = {
                name: value.contiguous().clone() for name, value in state.items()
            }
            safetensors.torch.save_file(weights, file)
            words.append(f"--weights={file}")
            network = type(network)
        name = network if isinstance(network, str) else _import_path(network)
        return _run_command([name, *names, *words, "--json"])


def _import_path(network: Callable[..., nn.Module]) -> str:
    """Return `module:name` of a class or function."""
    module = getattr(network, "__module__", None)
    name = getattr(network, "__qualname__", None)
    if not callable(network) or module is None or name is None:
        raise InputError(
            f"a network is a name, a class, a function or a module, not a "
            f"{type(network).__name__}",
            "wrong-type",
        )
    if module == "__main__" or not name.isidentifier():
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
    command = [sys.executable, "-P", "-m", "pipeline.profile", *words]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as results:
        process = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
            stdout=results,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            lines = []
            for line in process.stderr:
                lines.append(line.rstrip())
                if not line.startswith("error: "):
                    print(line, end="", file=sys.stderr, flush=True)
        if process.returncode:
            errors = [line for line in lines if line.startswith("error: ")]
            message = "\n".join(errors or lines[-1:]).replace("error: ", "")
            raise InputError(message, "failed-jobs")
        results.seek(0)
        return json.load(results)
