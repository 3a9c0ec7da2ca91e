"""CIFAR-10's official archive, fetched into a folder: never more than its size, never for ever, never under its name until whole."""

import hashlib
import http.client
import os
import threading
import time
import typing
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from tqdm import tqdm

from pipeline.images import cifar10
from pipeline.images.names import shown
from pipeline.project.errors import InputError

PATIENCE = 20.0
"""Seconds that the other side may say nothing at all."""

GRACE, SLOWEST = 60.0, 20_000
"""Seconds after which at least as many bytes per second must have come on the average: the archive then takes 2.4 hours at most."""


class Interrupted(Exception):
    """What came is not the archive, or comes too slowly."""


def fetched(folder: str | Path, url: str, grace: float = GRACE) -> Path:
    """Path of the official archive in `folder`, fetched from `url` unless a whole copy is there already.

    A copy with a wrong checksum is never used. Raises InputError if it cannot be fetched whole.
    """
    path = Path(folder) / cifar10.ARCHIVE
    try:
        if not (path.is_file() and _md5(path) == cifar10.ARCHIVE_MD5):
            path.parent.mkdir(parents=True, exist_ok=True)
            _fetch(url, path, grace)
    except (OSError, http.client.HTTPException, ValueError, Interrupted) as error:
        reason = shown(" ".join(str(error).split()) or type(error).__name__)
        raise InputError(
            f"CIFAR-10 could not be fetched from {_place(url)} into {shown(folder)} ({reason}); name a copy with "
            f"images.path or the environment variable CIFAR10"
        ) from None
    return path


def _md5(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _place(url: str) -> str:
    """An address without what may hold a password or a key."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return "images.url"
    return shown(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}")


def _fetch(url: str, path: Path, grace: float) -> None:
    """Put the archive under `path`, once it is whole and its checksum is right."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            # A server may send its headers, or the lines between chunks, a byte at a time for ever, and each byte in time:
            # so the transfer is watched from outside.
            transfer = _Transfer(url, file)
            transfer.start()
            transfer.watch(grace)
        if _md5(part) != cifar10.ARCHIVE_MD5:
            raise Interrupted(f"the {transfer.received:,} bytes that came are not the archive: its md5 is another")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


class _Transfer(threading.Thread):
    """The body of what `url` answers, on its way into `file`; a daemon, so that one that hangs keeps no process alive."""

    def __init__(self, url: str, file: typing.BinaryIO) -> None:
        super().__init__(daemon=True)
        self.url, self.file = url, file
        self.received, self.given_up, self.error = 0, False, None

    def run(self) -> None:
        """Copy the body, and keep what goes wrong for whoever watches."""
        try:
            request = urllib.request.Request(self.url, headers={"User-Agent": "neural-anisotropy-directions"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                while not self.given_up and (block := response.read1(2**16)):
                    self.received += len(block)
                    if self.received > cifar10.ARCHIVE_SIZE:
                        raise Interrupted(f"more than its {cifar10.ARCHIVE_SIZE:,} bytes came")
                    self.file.write(block)
        except urllib.error.HTTPError as error:
            # It is a response too, and holds the connection.
            error.close()
            self.error = Interrupted(f"the server answers {error.code}, {error.reason}")
        except Exception as error:
            self.error = error

    def watch(self, grace: float) -> None:
        """Wait for the end; raises what the transfer raised, and Interrupted if it is too slow."""
        began = time.monotonic()
        with tqdm(total=cifar10.ARCHIVE_SIZE, unit="B", unit_scale=True, desc="CIFAR-10", disable=None) as bar:
            while self.is_alive():
                self.join(0.2)
                bar.update(self.received - bar.n)
                seconds = time.monotonic() - began
                if self.is_alive() and seconds > grace and self.received < SLOWEST * seconds:
                    self.given_up = True
                    raise Interrupted(f"only {self.received:,} bytes came in {seconds:.0f} seconds")
        if self.error:
            raise self.error
