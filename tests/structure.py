"""The import structure of the package, read from its source without running it."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERBS = ("plan", "download", "estimate", "generate", "train", "evaluate", "render", "prune", "verify", "profile")


def imports(path):
    """Files of the package that the file `path` imports itself, relative to the repository's root."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pipeline":
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "pipeline"]
        for name in names:
            parts = name.split(".")
            # Python runs the __init__ of every package on the way.
            for depth in range(1, len(parts) + 1):
                base = "/".join(parts[:depth])
                for candidate in (f"{base}.py", f"{base}/__init__.py"):
                    if (ROOT / candidate).exists() and candidate != "pipeline/__init__.py":
                        found.add(candidate)
    return found


def closure(*paths):
    """`paths` and everything that they import, directly or not."""
    seen, waiting = set(), list(paths)
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += imports(path)
    return seen


def room(path):
    """The folder of the package in which a file stands: ('nads'), or the file itself for a verb."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 else path
