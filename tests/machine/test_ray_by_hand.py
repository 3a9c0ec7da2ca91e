"""A Ray cluster that is started by hand, as docs/cluster.md has it: `ray start` on the head and on one more node, and its token."""

import functools
import os
import socket
import subprocess
import sys
import time

import psutil
import pytest
from structure import ROOT

pytestmark = pytest.mark.slow

ASK = """
import functools, operator, torch
from pipeline.machine import workers
from pipeline.project.errors import one_sentence
with one_sentence():
    print(sorted(workers.run(operator.add, range(4), functools.partial(int, 10), torch.device("cpu"))))
"""


RAY = [sys.executable, "-m", "ray.scripts.scripts"]


def reached(port):
    """Whether anything answers there."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of the shells of a head node without cores and of a node with one, and in their home folder the token."""
    pytest.importorskip("ray", reason="Ray is not installed (requirements-cluster.txt)")
    home = tmp_path_factory.mktemp("home")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    found = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "NADS_"))}
    found["PYTHONPATH"] = f"{ROOT}:{found.get('PYTHONPATH', '')}"
    found |= {"HOME": str(home), "RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}
    subprocess.run([*RAY, "get-auth-token", "--generate"], env=found, check=True, capture_output=True)
    shell = functools.partial(
        subprocess.Popen, env=found, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    start = [*RAY, "start", "--block"]
    head = shell([*start, "--head", f"--port={port}", "--include-dashboard=false", "--num-cpus=0"])
    while not reached(port):
        assert head.poll() is None
        time.sleep(0.1)
    second = shell([*start, f"--address=127.0.0.1:{port}", "--num-cpus=1"])
    yield found | {"NADS_EXECUTOR": "ray", "RAY_ADDRESS": f"127.0.0.1:{port}"}
    for shell in (second, head):
        family = psutil.Process(shell.pid).children(recursive=True)
        for process in (*family, shell):
            process.kill()
        shell.wait()


def asked(environment, folder):
    """Exit status, output and error output of a process that has four numbers added by the cluster."""
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, cwd=folder, text=True, capture_output=True, timeout=240
    )
    return done.returncode, done.stdout, done.stderr


def test_work_is_done_by_the_node_that_joined_by_hand(environment, tmp_path):
    assert asked(environment, tmp_path) == (0, "[(0, 10), (1, 11), (2, 12), (3, 13)]\n", "")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"RAY_AUTH_MODE": ""}, "RAY_AUTH_MODE=token is not set here, but the head node asks for a token"),
        ({"RAY_AUTH_TOKEN": "0" * 64}, "RPC error: InvalidAuthToken: Authentication token is missing or incorrect"),
        ({"HOME": "/nowhere"}, "Token authentication is enabled but no authentication token was found"),
    ],
)
def test_a_token_that_is_not_the_heads_ends_it_in_one_sentence(changed, reason, environment, tmp_path):
    status, output, said = asked(environment | changed, tmp_path)
    assert (status, output) == (1, "")
    assert said == (
        f"error: Ray at {environment['RAY_ADDRESS']} does not let this process in: {reason}; set RAY_AUTH_MODE=token and have the "
        "head's token in ~/.ray/auth_token, here and on every node (docs/cluster.md)\n"
    )
