"""What a stage is started with: standard streams that are closed, full or that nobody reads, and locales."""

import os
import subprocess
import sys

import pytest
from structure import ROOT

PROGRAM = """
import os, pathlib, sys
from pipeline.project.errors import one_sentence

if __name__ == "__main__":
    with one_sentence():
        with open("kept", "w") as file:
            os.write(1, b"printed by a library")
            os.write(2, b"said by a library")
            file.write("kept")
        assert sys.stdin.read() == ""
        print(*os.listdir("names"), flush="flush" in sys.argv)
        print("the end")
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a program that runs as the stages do, by its name in a package."""
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages/__init__.py").write_text("import pipeline\n")
    (tmp_path / "stages/one.py").write_text(PROGRAM)
    (tmp_path / "names" / "Größe 猫").mkdir(parents=True)
    return tmp_path


def run(folder, words="", **environment):
    """The program as a shell starts it with some words, redirections among them: exit status, stdout and stderr."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment}
    line = f'"{sys.executable}" -m stages.one {words}'
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("words", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_nothing_that_is_printed_gets_into_a_file_where_a_stream_is_closed(words, folder):
    code, out, err = run(folder, words)
    assert code == 0 and "Traceback" not in out + err
    assert (folder / "kept").read_text() == "kept"


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(0)", "raise InputError('It is wrong.')"])
def test_a_command_that_is_called_by_its_path_needs_no_standard_output(end, folder):
    program = (
        f"from pipeline.project.errors import InputError, one_sentence\nwith one_sentence():\n    print(1)\n    {end}\n"
    )
    (folder / "command.py").write_text(program)
    line = f'"{sys.executable}" command.py >&-'
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == ((1, "error: It is wrong.\n") if "Input" in end else (0, ""))


@pytest.mark.parametrize("words", ["", "flush"])
def test_where_nobody_reads_what_it_prints_a_stage_ends_as_others_do(words, folder):
    reading, writing = os.pipe()
    os.close(reading)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    program = PROGRAM.replace('os.write(1, b"printed by a library")', "pass")
    (folder / "stages/one.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "stages.one", words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    assert done.returncode == 141 and done.stderr == b"said by a library"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["", "flush"])
def test_a_disk_that_is_full_of_what_is_printed_is_said_in_one_sentence(words, unbuffered, folder):
    (folder / "stages/one.py").write_text(PROGRAM.replace('os.write(1, b"printed by a library")', "pass"))
    code, _, err = run(folder, f"{words} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert code == 1 and err.count("\n") == 1
    assert "error: the disk is full: a file below " in err and "or what this prints, cannot be written" in err


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "no_such.ISO-8859-1"])
def test_a_name_is_the_same_in_all_locales(locale, folder):
    code, out, err = run(folder, LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (code, out) == (0, "printed by a libraryGröße 猫\nthe end\n"), err


@pytest.mark.parametrize("problem", ["MemoryError()", "OSError('libtorch.so: cannot open\\nshared object file')"])
def test_a_library_that_cannot_be_loaded_is_said_in_one_sentence(problem, folder):
    (folder / "stages/one.py").write_text(f"raise {problem}\n")
    code, out, err = run(folder)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("error: the libraries that this needs cannot be loaded (")
