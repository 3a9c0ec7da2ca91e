"""Locks on cells: between processes, gone with the process that held them."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest
from structure import ROOT

from pipeline.machine.claims import Claims

HOLDER = """
import sys
from pipeline.machine.claims import Claims
with Claims(sys.argv[1]) as claims:
    print([claims.take(key) for key in sys.argv[2:]], flush=True)
    sys.stdin.readline()
    claims.release(sys.argv[2])
    sys.stdin.readline()
"""
A, B, C = (letter * 64 for letter in "abf")


@pytest.fixture
def holder(tmp_path):
    """A process that has claimed A and B, and lets go of A when it is sent a line."""
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


def test_what_another_process_claimed_is_not_to_be_had_until_it_lets_go_or_ends(
    tmp_path, holder
):
    with Claims(tmp_path) as claims:
        assert [claims.take(key) for key in (A, B, C)] == [False, False, True]
        print(file=holder.stdin, flush=True)
        claims.wait(A)
        assert [claims.take(key) for key in (A, B, C)] == [True, False, True]
        holder.kill()
        claims.wait(B)
        assert claims.take(B)


def test_where_there_are_no_locks_every_claim_succeeds(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    with Claims(tmp_path / "new") as claims:
        assert claims.take(A)
        claims.wait(A)
        claims.release(A)
