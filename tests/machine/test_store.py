"""Finished cells: kept whole or not at all, found by content, indifferent to prose in the code; bit rot is found."""

import errno
import os
import pickle

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch

from pipeline.machine import store
from pipeline.project.errors import InputError


def test_what_is_kept_is_found_again(tmp_path):
    kept = store.Store(tmp_path)
    assert kept.get("ab12") is None
    weights = {"w": torch.randn(3, 4).to(memory_format=torch.contiguous_format)}
    kept.put("ab12", weights, {"loss": 0.5})
    assert kept.get("ab12") == {"loss": 0.5}
    assert torch.equal(safetensors.torch.load_file(kept.path("ab12"))["w"], weights["w"])
    assert [p.suffix for p in tmp_path.rglob("*") if p.is_file()] == [".safetensors"]


def test_a_damaged_cell_is_as_if_it_were_not_there(tmp_path):
    kept = store.Store(tmp_path)
    kept.put("ab12", {"w": torch.ones(100)}, {"loss": 0.5})
    path = kept.path("ab12")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-7])
    assert kept.get("ab12") is None


def test_a_failed_write_leaves_nothing(tmp_path):
    kept = store.Store(tmp_path)
    with pytest.raises(TypeError):
        kept.put("ab12", {"w": torch.ones(2)}, {"loss": object()})
    assert kept.get("ab12") is None and not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_digests_tell_values_shapes_and_types_apart():
    a = np.arange(4.0)
    assert store.digest(a) == store.digest(a[::1].copy())
    assert len({store.digest(a), store.digest(a.reshape(2, 2)), store.digest(a.astype("f4")), store.digest(a + 1)}) == 4
    assert store.digest({"a": 1, "b": 2}) == store.digest({"b": 2, "a": 1}) != store.digest({"a": 1, "b": 3})


def test_a_cell_lies_in_a_folder_of_its_keys_first_two_letters(tmp_path):
    kept = store.Store(tmp_path)
    kept.put("ab12", {"w": torch.ones(2, 3).T}, {"accuracy": 1.0})
    path = tmp_path / "ab" / "ab12.safetensors"
    assert kept.path("ab12") == path and path.stat().st_mode & 0o777 == 0o444
    kept.put("ab12", {"w": torch.zeros(1)}, {"accuracy": 0.5})
    assert kept.get("ab12") == {"accuracy": 0.5} and kept.get("ab13") is None


def test_the_store_lies_in_the_main_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    assert store.default_folder() == tmp_path / ".cells"
    monkeypatch.delenv("DVC_ROOT")
    assert str(store.default_folder()) == ".cells"


def test_numbers_that_json_has_no_words_for_have_no_digest():
    with pytest.raises(ValueError, match="JSON compliant"):
        store.digest({"sigma": float("nan")})
    assert store.digest(b"x") != store.digest("x")


def rotten(path):
    """Yields after each bit of a file in turn has been turned; the file is whole again at the end."""
    content = path.read_bytes()
    path.chmod(0o644)
    for bit in range(8 * len(content)):
        turned = bytearray(content)
        turned[bit // 8] ^= 1 << bit % 8
        path.write_bytes(turned)
        yield bit
    path.write_bytes(content)


@pytest.mark.slow
def test_one_turned_bit_anywhere_is_found(tmp_path, capsys):
    cells, sums = store.Store(tmp_path), store.Sums(tmp_path, "key")
    cells.put("ab12", {"w": torch.tensor([1.0, -2.5]), "n": torch.tensor(3)}, {"losses": [0.5, 1e-05], "steps": None})
    sums.put(7, {"halves": np.arange(3.0), "squares": np.array([1.5])})
    for path, get in ((cells.path("ab12"), lambda: cells.get("ab12")), (sums._path(7), lambda: sums.get(7))):
        assert [bit for bit in rotten(path) if get() is not None] == []
        assert get() is not None
    capsys.readouterr()
    path = cells.path("ab12")
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert cells.get("ab12") is None
    assert capsys.readouterr().err == (
        f"notice: {path} is damaged and counts as not kept: the digest is not that of the contents\n"
    )


def test_a_copy_of_a_cell_is_checked_too(tmp_path):
    kept, copy = store.Store(tmp_path), tmp_path / "copy.safetensors"
    kept.put("ab12", {"w": torch.tensor([1.0, -2.5])}, {"loss": 0.5})
    copy.write_bytes(kept.path("ab12").read_bytes())
    assert torch.equal(store.tensors(copy, "train flip")["w"], torch.tensor([1.0, -2.5]))
    for content in (copy.read_bytes()[:-1] + b"x", copy.read_bytes()[:-1], b""):
        copy.write_bytes(content)
        with pytest.raises(
            InputError, match=r"^\S+/copy.safetensors is damaged \(.*\); `python -m pipeline.train flip`"
        ):
            store.tensors(copy, "train flip")
    safetensors.torch.save_file({"w": torch.ones(2)}, copy)
    assert store.tensors(copy, "train flip")["w"].sum() == 2, "a file from elsewhere has no digest"


def test_what_has_no_digest_is_not_kept_until_it_is_made_again(tmp_path, capsys):
    kept = store.Store(tmp_path)
    kept.path("ab12").parent.mkdir()
    safetensors.torch.save_file({"w": torch.ones(2)}, kept.path("ab12"), {"outcome": '{"loss": 0.5}'})
    assert kept.get("ab12") is None and not kept.holds("ab12")
    kept.put("ab12", {"w": torch.ones(2)}, {"loss": 0.5})
    assert kept.get("ab12") == {"loss": 0.5} and kept.holds("ab12") and not kept.holds("ab13")
    assert capsys.readouterr().err == ""


def test_digests_tell_names_types_shapes_bytes_and_outcomes_apart_and_not_their_order():
    a, b = torch.arange(4.0), torch.zeros(2)
    same = store.note({"a": a, "b": b}, {"loss": 1})
    assert store.note({"b": b, "a": a}, {"loss": 1}) == same
    others = [
        store.note({"b": a, "a": b}, {"loss": 1}),
        store.note({"a": a.reshape(2, 2), "b": b}, {"loss": 1}),
        store.note({"a": a.view(torch.int32), "b": b}, {"loss": 1}),
        store.note({"a": a, "b": -b}, {"loss": 1}),
        store.note({"a": a, "b": b}, {"loss": 2}),
        store.note({"a": a}, {"loss": 1}),
    ]
    assert len({same, *others}) == 1 + len(others)


def test_a_file_has_one_entry_of_metadata_since_several_have_no_order(tmp_path):
    cells, sums = store.Store(tmp_path), store.Sums(tmp_path, "key")
    cells.put("ab12", {"w": torch.ones(2)}, {"loss": 0.5})
    sums.put(7, {"halves": np.ones(2)})
    for path in (cells.path("ab12"), sums._path(7)):
        with safetensors.safe_open(path, "pt") as file:
            assert len(file.metadata()) == 1


def test_a_store_that_cannot_be_written_says_why(tmp_path, monkeypatch):
    """safetensors raises an error of its own, with the operating system's number in its text."""

    def full(*_):
        raise safetensors.SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    kept = store.Store(tmp_path)
    monkeypatch.setattr(safetensors.torch, "save_file", full)
    with pytest.raises(store.Unwritable) as caught:
        kept.put("ab12", {"w": torch.ones(2)}, {"loss": 0.5})
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (type(error), error.errno, error.strerror) == (store.Unwritable, errno.ENOSPC, os.strerror(errno.ENOSPC))
        assert error.filename == str(kept.path("ab12"))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    (tmp_path / "file").touch()
    with pytest.raises(store.Unwritable) as caught:
        store.Store(tmp_path / "file").put("ab12", {"w": torch.ones(2)}, {"loss": 0.5})
    assert caught.value.errno in (errno.ENOTDIR, errno.EEXIST)
    monkeypatch.undo()
    with pytest.raises(safetensors.SafetensorError):
        store.atomically(tmp_path / "x", lambda path: safetensors.safe_open(tmp_path / "file", "pt"))


def test_tied_weights_are_kept_as_two_tensors(tmp_path):
    shared = torch.arange(4.0)
    kept = store.Store(tmp_path)
    kept.put("ab" * 32, {"one": shared, "other": shared.view(2, 2)}, {"losses": [1.0]})
    assert kept.get("ab" * 32) == {"losses": [1.0]}
    loaded = safetensors.torch.load_file(kept.path("ab" * 32))
    assert torch.equal(loaded["one"], shared) and torch.equal(loaded["other"], shared.view(2, 2))


def test_a_cell_and_its_copy_are_one_file_that_nobody_writes_into(tmp_path):
    kept, copy = store.Store(tmp_path / "store"), tmp_path / "copy.safetensors"
    kept.put("ab12", {"w": torch.ones(2)}, {"loss": 0.5})
    kept.path("ab12").chmod(0o644)  # as earlier versions left it
    kept.lay_down("ab12", copy)
    assert copy.samefile(kept.path("ab12")) and copy.stat().st_mode & 0o777 == 0o444
    with pytest.raises(FileNotFoundError):
        kept.lay_down("cd34", tmp_path / "other.safetensors")
    # Who replaces or removes one of the two has a file of their own.
    content = copy.read_bytes()
    copy.unlink()
    copy.write_bytes(b"")
    assert kept.path("ab12").read_bytes() == content


KEYS = [letter * 64 for letter in "abcd"]


def laid_down(folder, keys=KEYS):
    """Files as another machine's store lays them down: for each key a tensor and an outcome that tell it from the others."""
    kept = store.Store(folder / "theirs")
    (folder / "models").mkdir()
    for number, key in enumerate(keys):
        kept.put(key, {"w": torch.full((2,), float(number))}, {"loss": number})
        kept.lay_down(key, folder / "models" / f"{number}.safetensors")
    return folder / "models"


def test_cells_that_were_fetched_are_kept_under_the_key_that_their_files_name(tmp_path):
    models, mine = laid_down(tmp_path), store.Store(tmp_path / "mine")
    mine.put(KEYS[1], {"w": torch.ones(2)}, {"loss": "mine"})
    for number in (0, 1):
        (models / f"{number}.safetensors").chmod(0o644)
    assert mine.adopt(models) == 3
    assert [mine.get(key) for key in KEYS] == [{"loss": 0}, {"loss": "mine"}, {"loss": 2}, {"loss": 3}]
    assert mine.path(KEYS[0]).samefile(models / "0.safetensors") and mine.path(KEYS[0]).stat().st_mode & 0o777 == 0o444
    assert mine.adopt(models) == 0 and mine.adopt(tmp_path / "none") == 0
    assert not [path for path in (tmp_path / "mine").rglob("*.part")]


def test_no_file_can_say_of_itself_that_it_lies_elsewhere_or_is_another_cell(tmp_path, capsys):
    models, mine = laid_down(tmp_path), store.Store(tmp_path / "mine")
    outcome, w = {"loss": 1}, {"w": torch.ones(2)}
    for number, key in enumerate(("../../" + "a" * 58, "A" * 64, 7, None, ["a"])):
        said = store.note(w, outcome, key)
        safetensors.torch.save_file(w, models / f"hostile{number}.safetensors", {store.NOTE: said})
    safetensors.torch.save_file(w, models / "no_note.safetensors")
    safetensors.torch.save_file(w, models / "no_object.safetensors", {store.NOTE: "[1]"})
    safetensors.torch.save_file(w, models / "no_json.safetensors", {store.NOTE: "{"})
    (models / "empty.safetensors").touch()
    assert mine.adopt(models) == 4
    assert {path.name for path in (tmp_path / "mine").rglob("*.safetensors")} == {f"{key}.safetensors" for key in KEYS}
    # The key counts for the digest, so a file that is given another cell's is not that cell.
    forged = store.note(w, outcome, KEYS[0]).replace(KEYS[0], "e" * 64)
    safetensors.torch.save_file(w, models / "forged.safetensors", {store.NOTE: forged})
    assert mine.adopt(models) == 1 and mine.get("e" * 64) is None
    mine.path("f" * 64).parent.mkdir()
    mine.path(KEYS[1]).rename(mine.path("f" * 64))
    assert mine.get("f" * 64) is None
    said = capsys.readouterr().err
    assert "the digest is not that of the contents" in said and "it is another cell's" in said


def test_a_cell_that_an_earlier_version_kept_without_its_key_stays_kept(tmp_path):
    kept, w = store.Store(tmp_path), {"w": torch.ones(2)}
    said = store.note(w, {"loss": 0.5})
    assert "key" not in said
    kept.path(KEYS[0]).parent.mkdir()
    safetensors.torch.save_file(w, kept.path(KEYS[0]), {store.NOTE: said})
    assert kept.holds(KEYS[0]) and kept.get(KEYS[0]) == {"loss": 0.5}


def test_where_no_link_can_be_made_there_is_a_copy(tmp_path, monkeypatch):
    def other_file_system(*_):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_file_system)
    kept, copy = store.Store(tmp_path / "store"), tmp_path / "copy.safetensors"
    kept.put("ab12", {"w": torch.ones(2)}, {"loss": 0.5})
    kept.lay_down("ab12", copy)
    assert copy.read_bytes() == kept.path("ab12").read_bytes() and not copy.samefile(kept.path("ab12"))


def test_use_is_noted_beside_the_time_of_the_contents_and_damage_with_it(tmp_path, capsys):
    """DVC, whose cache may hold the same file, takes it for unchanged as long as mode, time and size are."""
    kept = store.Store(tmp_path)
    kept.put("ab12", {"w": torch.ones(2)}, {"loss": 0.5})
    path = kept.path("ab12")
    os.utime(path, (1e9, 1e9))
    assert kept.get("ab12")
    assert path.stat().st_mtime == 1e9 and path.stat().st_atime > 1.7e9
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    path.chmod(0o444)
    os.utime(path, (1e9, 1e9))
    assert kept.get("ab12") is None and "is damaged" in capsys.readouterr().err
    assert path.stat().st_mtime > 1.7e9 and path.stat().st_mode & 0o777 == 0o644
