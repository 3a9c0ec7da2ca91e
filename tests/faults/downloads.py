"""Servers that misbehave and addresses that are none (group 8)."""

import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.archives import download
from tests.faults.cases import Case, Run, Stages
from tests.faults.repository import NOWHERE
from tests.small_images import Mirror

SECRET = "hunter2"


def head(handler, *headers):
    """A status line and headers, the latter as pairs."""
    handler.send_response(200)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()


def broken_status(handler):
    handler.wfile.write(b"HTTP/9.9 what is this\r\n\r\n")


def no_http(handler):
    handler.wfile.write(b"\x00\x01\x02\r\n" * 10)


def says_nothing(handler):
    pass


def cut_chunk(handler):
    head(handler, ("Transfer-Encoding", "chunked"))
    handler.wfile.write(b"1000\r\nabc")


def bad_chunk(handler):
    head(handler, ("Transfer-Encoding", "chunked"))
    handler.wfile.write(b"no length\r\nabc")


def cut_body(handler):
    head(handler, ("Content-Length", "100000"))
    handler.wfile.write(b"abc")


def many_headers(handler):
    head(handler, *((f"X-{number}", "y") for number in range(200)))


def long_header(handler):
    head(handler, ("X", "y" * 100_000))


def not_found(handler):
    handler.wfile.write(b"HTTP/1.1 404 gone\x1b[31m for ever" + b"." * 5000 + b"\r\nContent-Length: 0\r\n\r\n")


def round_and_round(handler):
    handler.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")


def to_a_file(handler):
    handler.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")


ANSWERS = (
    broken_status,
    no_http,
    says_nothing,
    cut_chunk,
    bad_chunk,
    cut_body,
    many_headers,
    long_header,
    not_found,
    round_and_round,
    to_a_file,
)
"""What a server may answer, so that no archive comes."""

ADDRESSES = [
    (f"http://me:{SECRET}@127.0.0.1:9/x", "url must not hold a user or a password"),
    (f"http://{SECRET}@127.0.0.1/x", "url must not hold a user or a password"),
    ("file:///etc/passwd", "url must begin with http:// or https://"),
    ("ftp://127.0.0.1/x", "url must begin with http:// or https://"),
    ("", "url must begin with http:// or https://"),
    ("cifar.tar.gz", "url must begin with http:// or https://"),
    ("http://127.0.0.1:9/a b", "url must not hold spaces"),
    ("http://127.0.0.1:9/a\nb", "url must not hold spaces"),
    ("http://127.0.0.1:9/ä", "url must not hold spaces"),
    ("http://127.0.0.1:x/", "url must name a host, and a port from 1 to 65,535 or none"),
    ("http://127.0.0.1:0/", "url must name a host, and a port from 1 to 65,535 or none"),
    ("http://127.0.0.1:99999/", "url must name a host, and a port from 1 to 65,535 or none"),
    ("http:///x", "url must name a host, and a port from 1 to 65,535 or none"),
    ("http://[::1/x", "url must name a host, and a port from 1 to 65,535 or none"),
]
"""Addresses, and how what is said of each begins."""


def endless(handler):
    head(handler)
    while True:
        handler.wfile.write(bytes(2**16))


def another_file(handler):
    head(handler, ("Content-Length", "9"))
    handler.wfile.write(b"a web pag")


def a_byte_now_and_then(handler):
    head(handler, ("Content-Length", "100000"))
    while True:
        handler.wfile.write(b"1")
        time.sleep(0.5)


def _served(answer: Callable, fallback: str | None, stages: Stages, folder: Path) -> Run:
    """The stage `download` from a server that answers so."""
    with Mirror() as mirror:
        mirror.answer = answer
        return _from(mirror.url, fallback, stages, folder)


def _from(url: str, fallback: str | None, stages: Stages, folder: Path, **environment: str | None) -> Run:
    environment = {"XDG_CACHE_HOME": str(folder / "cache")} | environment
    return download(stages, folder, None, images={"url": url, "fallback": fallback}, limit=100, **environment)


def _digits(folder: Path, run: Run) -> bool:
    """Whether digits were taken instead, with a reason and without secrets, and nothing is left of what came."""
    left = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    said = "could not be fetched from" in run.err or "has no place to be fetched to" in run.err
    return said and "USING HANDWRITTEN DIGITS" in run.err and SECRET not in run.err and not left


def _cases() -> Iterator[Case]:
    for answer in (*ANSWERS, endless, another_file, a_byte_now_and_then):
        for fallback in ("digits", None):
            slow = answer in (endless, a_byte_now_and_then)
            right = _digits if fallback else None
            action = functools.partial(_served, answer, fallback)
            yield Case(8, f"{answer.__name__}, then {fallback}", action, right, refusable=fallback is None, slow=slow)
    for url, _ in ADDRESSES:
        # By whoever changed the plan since; params.yaml refuses it before.
        yield Case(8, f"the address {url!r}", functools.partial(_from, url, "digits"), _digits)
    yield Case(8, "no server", functools.partial(_from, NOWHERE, "digits"), _digits, refusable=False)
    for name, environment in (
        ("no home", {"HOME": None, "XDG_CACHE_HOME": None}),
        ("a home that is no folder", {"HOME": "/dev/null", "XDG_CACHE_HOME": None}),
        ("a cache that cannot be made", {"XDG_CACHE_HOME": "/proc/none"}),
    ):
        yield Case(8, name, functools.partial(_from, NOWHERE, "digits", **environment), _digits, refusable=False)


def cases() -> list[Case]:
    """All cases of downloads."""
    return list(_cases())
