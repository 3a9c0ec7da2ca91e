"""The script of the networks that train in the reader's browser, for the page and its
workers."""

import base64
from pathlib import Path

from docs.site.assemble import assemble

TRAINING = Path(__file__).parent / "training"

FILES = ("network.js", "nads.js", "worker.js")


def read_kernel() -> bytes:
    """training/kernel.wat as a module of WebAssembly."""
    return assemble((TRAINING / "kernel.wat").read_text(encoding="utf-8"))


def compose_engine(kernel: bytes) -> str:
    """The script.

    Args:
        kernel: A module of WebAssembly. Where it does not compile, the script computes
            in JavaScript.
    """
    texts = [(TRAINING / name).read_text(encoding="utf-8") for name in FILES]
    letters = base64.b64encode(kernel).decode()
    return "\n".join([f'const KERNEL = "{letters}";', *texts])
