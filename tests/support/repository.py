"""A copy of the repository at smoke scale, in which tests run DVC and the stages."""

import contextlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from structure import ROOT


def smallest():
    """params.yaml that asks for the smallest NADs and, of `fourier`, for the smallest
    grid."""
    document = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    smoke = document["scales"]["smoke"] | {"nads": {"lenet": 2}}
    for name, part in smoke.items():
        if isinstance(part, dict) and "networks" in part:
            lenet = "lenet_colour" if name == "colours" else "lenet"
            smoke[name] = part | {"networks": {lenet: part["networks"][lenet]}}
    smoke["fourier"]["networks"] = {"logreg": {"step": 16}}
    document |= {"scale": "smoke", "scales": {"smoke": smoke}}
    document["images"]["url"] = "http://127.0.0.1:9/cifar-10-python.tar.gz"
    document["estimator"]["compare"] = False
    return yaml.safe_dump(document, sort_keys=False)


def run(*command, where, **keywords):
    """Run a command in `where`; returns its output, fails with it otherwise."""
    done = subprocess.run(
        command,
        cwd=where,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **keywords,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


class Copy:
    """A copy of the repository at smoke scale, without network and without CIFAR-10,
    after its first `dvc repro`.

    prepare: changes the copy before that; targets: the stages that are run, all where
    there are none; environment: beside the copy's own; git: whether the copy is a git
    repository.
    """

    def __init__(
        self, root, prepare=lambda copy: None, targets=(), environment=(), git=True
    ):
        self.root = root
        left_out = (
            ".git",
            "data",
            "models",
            ".cells",
            ".venv",
            "cache",
            "tmp",
            "dvc.lock",
        )
        ignored = shutil.ignore_patterns(*left_out, "__pycache__", ".pytest_cache")
        shutil.copytree(ROOT, root, ignore=ignored)
        text = re.sub(
            r"^scale: \w+", "scale: smoke", self.read("params.yaml"), flags=re.M
        )
        text = re.sub(
            r"url: \S+", "url: http://127.0.0.1:9/cifar-10-python.tar.gz", text
        )
        self.write("params.yaml", text)
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(root.parent),
            "LANG": "C.UTF-8",
            "XDG_CACHE_HOME": str(root.parent / "cache"),
            **dict(environment),
        }
        prepare(self)
        commands = (
            "init -q",
            "config user.name test",
            "config user.email test@example.org",
        )
        for command in (*commands, "add -A", "commit -qm smoke") if git else ():
            run("git", *command.split(), where=root, env=self.environment)
        self.output = self.dvc("repro", *targets)

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path, text):
        (self.root / path).write_text(text, encoding="utf-8")

    def dvc(self, *arguments):
        return run(
            sys.executable,
            "-m",
            "dvc",
            *arguments,
            where=self.root,
            env=self.environment,
        )

    def started(self, *arguments, **environment):
        """A stage without DVC, as a process in a group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", f"pipeline.{arguments[0]}", *arguments[1:]],
            cwd=self.root,
            env=self.environment | environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def stage(self, *arguments, check=True, **environment):
        """A stage without DVC, when it has ended: returncode, stdout and stderr."""
        process = self.started(*arguments, **environment)
        out, err = process.communicate()
        assert not check or process.returncode == 0, err
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    @contextlib.contextmanager
    def edited(self, path, old, new):
        """Context in which a file has `new` in place of `old`, which it holds once."""
        text = self.read(path)
        assert text.count(old) == 1, (path, old)
        self.write(path, text.replace(old, new))
        try:
            yield
        finally:
            self.write(path, text)

    def models(self, name="linear_pairs"):
        return {
            path.name: path.read_bytes()
            for path in (self.root / "models" / name).iterdir()
        }

    def cells(self):
        """The files in the store."""
        return set((self.root / ".cells").rglob("*.safetensors"))


def ran(output):
    """The stages that DVC says it ran."""
    return re.findall(r"Running stage '([\w@]+)'", output)


def trained(output):
    """How many cells were trained, by experiment."""
    return {
        name: int(count)
        for name, count in re.findall(r"(\w+): (\d+) cells trained", output)
    }
