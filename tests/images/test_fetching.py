"""Downloads from servers that misbehave: the whole archive, or one sentence and nothing left behind, in a bounded time."""

import errno
import os
import resource
import time

import pytest
from small_images import Mirror, official

from pipeline import download
from pipeline.images import cifar10, fetching, sources
from pipeline.images.fetching import fetched
from pipeline.images.image_set import canonical
from pipeline.images.wanted import Wanted
from pipeline.project.errors import InputError
from tests.faults.downloads import ADDRESSES, ANSWERS, SECRET, head


def refusal(folder, url, **options):
    """The sentence of a failed download, which leaves nothing behind that was not there before."""
    before = sorted(folder.glob("*"))
    with pytest.raises(InputError) as refused:
        fetched(folder, url, **options)
    sentence = str(refused.value)
    assert sentence.isprintable() and sentence.startswith("CIFAR-10 could not be fetched from ")
    assert sentence.endswith("; name a copy with images.path or the environment variable CIFAR10")
    assert sorted(folder.glob("*")) == before
    return sentence


def test_a_corrupt_or_interrupted_download_is_never_used_and_fetched_again(tmp_path, monkeypatch):
    archive, source = official(tmp_path, monkeypatch)
    whole, cache = archive.read_bytes(), tmp_path / "cache"
    with Mirror(whole[:-100]) as mirror:
        assert "bytes that came are not the archive: its md5 is another" in refusal(cache, mirror.url)
        assert not list(cache.glob("*"))
        (cache / cifar10.ARCHIVE).write_bytes(whole[:500])  # a copy that someone cut
        mirror.content, mirror.requests = whole, 0
        assert canonical(sources.read(fetched(cache, mirror.url))).digest() == source.digest()
        assert [file.name for file in cache.glob("*")] == [cifar10.ARCHIVE]
        asked = mirror.requests
        assert asked == 1
        fetched(cache, mirror.url)
        assert mirror.requests == asked, "a whole copy is not fetched again"


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.__name__)
def test_a_broken_answer_gives_one_sentence_and_then_the_digits(tmp_path, monkeypatch, capsys, answer):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CIFAR10", raising=False)
    with Mirror() as mirror:
        mirror.answer = answer
        refusal(download.cache_folder(), mirror.url)
        assert download.find(Wanted(None, mirror.url, "digits")).name == "handwritten digits (not CIFAR-10)"
    assert "CIFAR-10 could not be fetched from" in capsys.readouterr().err


def test_a_body_without_end_is_cut_at_the_archives_size(tmp_path, monkeypatch):
    archive, _ = official(tmp_path, monkeypatch)
    sent = 0

    def endless(handler):
        nonlocal sent
        head(handler)
        while not mirror.over.is_set():
            handler.wfile.write(bytes(2**16))
            sent += 2**16

    with Mirror() as mirror:
        mirror.answer = endless
        size = archive.stat().st_size
        assert f"(more than its {size:,} bytes came)" in refusal(tmp_path / "cache", mirror.url)
    assert sent < size + 2**24, "what the sockets hold, and no more"


@pytest.mark.parametrize("where", ["body", "header", "chunk", "status"])
def test_a_byte_now_and_then_ends_at_the_deadline(tmp_path, where):
    beginnings = {
        "body": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
        "header": b"HTTP/1.1 200 OK\r\nX: ",
        "chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "status": b"HTTP/1.1 2",
    }

    def slow(handler):
        handler.wfile.write(beginnings[where])
        while not mirror.over.wait(0.05):
            handler.wfile.write(b"1")

    with Mirror() as mirror:
        mirror.answer = slow
        sentence = refusal(tmp_path / "cache", mirror.url, grace=0.3)
    assert "(only " in sentence and "bytes came in" in sentence


def test_a_slow_line_is_given_its_time(tmp_path, monkeypatch):
    # The least rate keeps a line of 160 kbit/s, and its deadline is hours.
    assert fetching.SLOWEST * 8 == 160_000
    assert cifar10.ARCHIVE_SIZE / fetching.SLOWEST + fetching.GRACE < 2.4 * 3600
    archive, _ = official(tmp_path, monkeypatch)
    whole = archive.read_bytes()

    def slow(handler):
        head(handler, ("Content-Length", str(len(whole))))
        for start in range(0, len(whole), 2000):
            handler.wfile.write(whole[start : start + 2000])
            time.sleep(0.01)

    with Mirror() as mirror:
        mirror.answer = slow
        assert fetched(tmp_path / "cache", mirror.url, grace=0.1).read_bytes() == whole


def test_a_chunked_body_and_a_redirection_are_followed(tmp_path, monkeypatch):
    archive, _ = official(tmp_path, monkeypatch)
    whole = archive.read_bytes()

    def redirected(handler):
        if handler.path != "/there":
            handler.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")
            return
        head(handler, ("Transfer-Encoding", "chunked"))
        handler.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(whole), whole))

    with Mirror() as mirror:
        mirror.answer = redirected
        assert fetched(tmp_path / "cache", mirror.url).read_bytes() == whole


@pytest.mark.parametrize(
    ("url", "sentence"),
    ADDRESSES,
)
def test_an_address_that_cannot_be_one_is_refused_with_the_plan(url, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}") as refused:
        Wanted(None, url, "digits")
    assert SECRET not in str(refused.value)


def test_neither_passwords_nor_keys_are_repeated(tmp_path):
    for url in (f"http://me:{SECRET}@127.0.0.1:9/x", f"http://127.0.0.1:9/x?key={SECRET}#{SECRET}"):
        assert SECRET not in refusal(tmp_path / "cache", url)


NOWHERE = "http://127.0.0.1:9/x"


def test_hosts_that_are_none_are_refused(tmp_path):
    for url in (
        NOWHERE,
        "http://[::1/x",
        f"http://{'a' * 70}.invalid/x",
        "http://..invalid/x",
        "https://127.0.0.1:9/x",
    ):
        refusal(tmp_path / "cache", url)


def test_a_cache_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    assert str(tmp_path / "file" / "cache")[:20] in refusal(tmp_path / "file" / "cache", NOWHERE)
    monkeypatch.setattr("pipeline.images.fetching.open", _refusing, raising=False)
    assert "Permission denied" in refusal(tmp_path / "cache", NOWHERE)


def _refusing(path, mode):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def test_a_full_disk_ends_with_one_sentence_and_leaves_nothing(tmp_path, monkeypatch):
    archive, _ = official(tmp_path, monkeypatch)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Mirror(archive.read_bytes()) as mirror:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            assert "File too large" in refusal(tmp_path / "cache", mirror.url)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
