"""A program that starts stages by forking: the libraries are imported once, and each stage is a process of its own all the same.

Started with the stages' modules as arguments, in a folder without params.yaml and with the tree under test on PYTHONPATH. Reads
one JSON object a line on stdin (`folder`, `argv`, `environment`, `out`, `err`, `limit`, `memory`, `kill`, `warm`) and answers each with
one on stdout: `code`, the exit status or minus the signal, and `seconds`.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import runpy
import signal
import sys
import time
import traceback


def stage(asked):
    """Be the stage, as `python -m` would start it in that folder; never returns."""
    os.setsid()
    os.chdir(asked["folder"])
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, asked["out"], os.O_WRONLY),
        (2, asked["err"], os.O_WRONLY),
    ):
        opened = os.open(path, flags | (os.O_CREAT | os.O_TRUNC if number else 0), 0o644)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    for name, value in asked["environment"].items():
        os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
    module, *arguments = asked["argv"]
    sys.argv[:] = [module, *arguments]
    sys.path.insert(0, asked["folder"])
    if asked["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    code = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        code = ending.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code or 0)


def waited(child, asked):
    """The exit status of a stage, ended if it takes too long or, after `kill` seconds, as asked."""
    began, killed = time.monotonic(), False
    while True:
        number, status = os.waitpid(child, os.WNOHANG)
        seconds = time.monotonic() - began
        if number:
            return {"code": os.waitstatus_to_exitcode(status), "seconds": seconds, "hung": False}
        if asked["kill"] is not None and seconds > asked["kill"] and not killed:
            killed = True
            os.killpg(child, signal.SIGKILL)
        if seconds > asked["limit"]:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return {"code": -signal.SIGKILL, "seconds": seconds, "hung": True}
        time.sleep(0.002)


def main():
    """Import everything, then serve until stdin ends."""
    for module in sys.argv[1:]:
        # Each stage itself is run anew, as `python -m` does.
        importlib.import_module(module)
        del sys.modules[module]
    # What the collector moves, each child would copy.
    gc.disable()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["warm"]:
            # What a stage computes once for all, such as digests of code, is then computed once for all cases too.
            os.chdir(asked["folder"])
            sys.argv[:] = asked["argv"]
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):
                runpy.run_module(asked["argv"][0], run_name="__main__")
            os.chdir("/")
            print(json.dumps({}), flush=True)
            continue
        gc.freeze()
        if not (child := os.fork()):
            gc.enable()
            stage(asked)
        print(json.dumps(waited(child, asked)), flush=True)
    # Some libraries complain of their own end.
    os._exit(0)


if __name__ == "__main__":
    main()
