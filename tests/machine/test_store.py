"""Finished cells: kept whole or not at all, found by content, indifferent to prose in the code."""

import numpy as np
import pytest
import safetensors.torch
import torch

from pipeline.machine import store


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
    assert kept.path("ab12") == path and path.stat().st_mode & 0o777 == 0o644
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
