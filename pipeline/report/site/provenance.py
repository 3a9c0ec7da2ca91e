"""Where a report comes from: the commit of the code that made it, and digests of the tables it was made from.

The commit is the last one that changed `CODE`, with its own date, and not the one that is checked out: a page that named that
one could never be part of it, and would differ after every commit of something else. So rendering twice gives the same bytes, also
after the page itself was committed. The tables are named by their digests, which no commit changes.
"""

import hashlib
import subprocess
from pathlib import Path

CODE = ("pipeline", "params.yaml")
"""What decides a report, apart from the libraries."""

DIGITS = 10
"""Digits of a commit's or a table's digest that are written: git's own choice grows with the repository."""


def sentence() -> str:
    """The commit of the code in the working directory, or why it is not known."""
    try:
        if _git("rev-parse", "--is-shallow-repository") == "true":
            return "The commit of the code is not known: this clone is shallow."
        last = _git("log", "-1", "--format=%H %cs", "--", *CODE)
        changed = _git("status", "--porcelain", "--", *CODE)
    except OSError:
        return "The commit of the code is not known: there is no git repository here."
    if not last:
        return "The commit of the code is not known: it is in no commit yet."
    digest, date = last.split()
    with_changes = ", with changes that are in no commit" if changed else ""
    return f"Code of commit {digest[:DIGITS]} of {date}{with_changes}."


def _git(*words: str) -> str:
    """What a git command prints, without taking git's locks; raises OSError where it fails or there is no git."""
    done = subprocess.run(["git", "--no-optional-locks", *words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr)
    return done.stdout.strip()


def digest(path: Path) -> str:
    """The first digits of the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]
