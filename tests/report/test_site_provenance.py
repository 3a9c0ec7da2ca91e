"""What a report says of the code and the tables that it comes from."""

import hashlib
import re
import subprocess

from pipeline.report.site import provenance


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], cwd=folder, check=True)


def test_the_code_is_named_by_the_last_commit_that_changed_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance.sentence() == "The commit of the code is not known: there is no git repository here."
    git(".", "init", "-q")
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline/a.py").write_text("1")
    (tmp_path / "params.yaml").write_text("scale: laptop")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-02-03T04:05:06Z")
    git(".", "commit", "-q", "--allow-empty", "-m", "nothing")
    assert provenance.sentence() == "The commit of the code is not known: it is in no commit yet."
    git(".", "add", ".")
    git(".", "commit", "-qm", "code")
    said = provenance.sentence()
    assert re.fullmatch(r"Code of commit [0-9a-f]{10} of 2026-02-03\.", said)
    # The commit of a report, or of anything else, changes nothing.
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2027-02-03T04:05:06Z")
    (tmp_path / "index.html").write_text("page")
    git(".", "add", ".")
    git(".", "commit", "-qm", "page")
    assert provenance.sentence() == said
    (tmp_path / "params.yaml").write_text("scale: paper")
    assert provenance.sentence() == said[:-1] + ", with changes that are in no commit."
    git(".", "clone", "-q", "--depth", "1", f"file://{tmp_path}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    assert provenance.sentence() == "The commit of the code is not known: this clone is shallow."


def test_without_git_the_code_is_not_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    assert provenance.sentence() == "The commit of the code is not known: there is no git repository here."


def test_tables_are_named_by_the_start_of_their_digest(tmp_path):
    (tmp_path / "results.csv").write_text("a,b\n")
    assert provenance.digest(tmp_path / "results.csv") == hashlib.sha256(b"a,b\n").hexdigest()[:10]
