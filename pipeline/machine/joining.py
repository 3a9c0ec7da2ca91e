"""How this process joins a Ray cluster that runs already, or starts a Ray of this machine: with one sentence where it cannot."""

import contextlib
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator

import ray
import ray.exceptions
from ray._private.authentication import authentication_token_setup

from pipeline.machine import workers
from pipeline.project.errors import InputError

LEFT_OUT = [".git", ".dvc", ".cells", ".venv", "data", "models", "reports"]
"""Folders at the root of the project that do not travel with its code."""


def _reached(address: str) -> None:
    """Raise InputError unless something answers at HOST:PORT: Ray itself would try for minutes."""
    found = re.fullmatch(r"\[?([^\[\]]+?)\]?:(\d{1,5})", address)
    if found is None:
        raise InputError(f"RAY_ADDRESS is {address!r}; it must be HOST:PORT of a running head node of Ray")
    try:
        socket.create_connection((found[1], int(found[2])), 10).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"nothing answers at RAY_ADDRESS, {address} ({' '.join(str(error).split())}); start a head node there with `ray start "
            "--head`, or unset it for a Ray of this machine alone"
        ) from None


@contextlib.contextmanager
def _mute() -> Iterator[None]:
    """A context in which nothing reaches stderr, not even what Ray's compiled code writes there past Python."""
    sys.stderr.flush()
    with open(os.devnull, "w") as nowhere:
        kept = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _admitted(address: str) -> None:
    """Raise InputError where the head node does not take this process's token: Ray itself would try for 20 seconds, a line of its
    own each, and not say why it gives up. What else may be wrong is left to `ray.init`.
    """
    try:
        # Before the client is made: without a token, that would end this process with no word.
        authentication_token_setup.ensure_token_if_auth_enabled(create_token_if_missing=False)
        with _mute():
            ray._raylet.GcsClient(address=address)
    except ray.exceptions.AuthenticationError as error:
        asked = os.environ.get("RAY_AUTH_MODE", "").lower() == "token"
        reason = (
            error.message.strip(" .")
            if asked
            else "RAY_AUTH_MODE=token is not set here, but the head node asks for a token"
        )
        raise InputError(
            f"Ray at {address} does not let this process in: {reason}; set RAY_AUTH_MODE=token and have the head's token in "
            "~/.ray/auth_token, here and on every node (docs/cluster.md)"
        ) from None
    except ray.exceptions.RayError:
        pass


def join(address: str | None) -> None:
    """Join the Ray cluster whose head node is at HOST:PORT, or start a Ray of this machine alone, which ends with this process.

    Raises InputError where that cannot be done.
    """
    # Ray reads this where it starts: what it would tell its makers is nobody's business.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address:
        _reached(address)
        _admitted(address)
    # The cores of a machine that are ours may be fewer than it has, and Ray would count them all.
    started = {} if address else {"num_cpus": workers.cores(), "include_dashboard": False}
    code = {"working_dir": os.getcwd(), "excludes": [f"/{name}" for name in LEFT_OUT]}
    heeded = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address or "local", runtime_env=code, log_to_driver=False, logging_level="ERROR", **started)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise InputError(
            f"Ray cannot be used at {address or 'this machine'}: {' '.join(str(error).split())}; docs/cluster.md shows how it is started"
        ) from None
    finally:
        signal.signal(signal.SIGTERM, heeded)  # it puts a handler of its own in its place
