"""Locks on cells: between processes, gone with the process that held them."""

import errno
import fcntl
import os
import signal
import subprocess
import sys

import pytest
from structure import ROOT

from pipeline.machine.claims import Claims

HOLDER = """
import sys, time
from pipeline.machine.claims import Claims
with Claims(sys.argv[1]) as claims:
    print([claims.take(key) for key in sys.argv[2:]], flush=True)
    sys.stdin.readline()
    claims.release(sys.argv[2])
    print("released", flush=True)
    sys.stdin.readline()
"""
A, B, C = (letter * 64 for letter in "abf")


@pytest.fixture
def holder(tmp_path):
    """A process that has claimed A and B, lets go of A at the first line that it is sent, and ends at the second."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), A, B],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "[True, True]\n"
    yield process
    process.kill()
    process.communicate()


def test_what_another_process_claimed_is_not_to_be_had_until_it_lets_go(tmp_path, holder):
    with Claims(tmp_path) as claims:
        assert [claims.take(key) for key in (A, B, C)] == [False, False, True]
        print(file=holder.stdin, flush=True)
        assert holder.stdout.readline() == "released\n"
        assert [claims.take(key) for key in (A, B, C, A)] == [True, False, True, True]


def test_the_claims_of_a_killed_process_are_gone(tmp_path, holder):
    with Claims(tmp_path) as claims:
        assert not claims.take(A)
        holder.send_signal(signal.SIGKILL)
        claims.wait(A)
        assert holder.wait() == -signal.SIGKILL and claims.take(B)


def test_where_there_are_no_locks_every_claim_succeeds(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    (tmp_path / "file").touch()
    with Claims(tmp_path / "file") as claims:
        assert claims.take(A)
        claims.wait(A)
        claims.release(A)
    monkeypatch.setattr(fcntl, "lockf", no_locks)
    with Claims(tmp_path) as claims:
        assert claims.take(A)
