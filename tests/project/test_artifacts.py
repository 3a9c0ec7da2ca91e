"""Files and their places: what is missing is named, what an earlier run left is removed, numbers come back as they were."""

import os

import numpy as np
import pandas as pd
import pytest
from hand_overs import ABOUT, lay_down_images

from pipeline.project import artifacts
from pipeline.project.errors import InputError


def test_what_is_missing_is_named_with_the_stage_that_makes_it(tmp_path):
    with pytest.raises(InputError) as caught:
        artifacts.present(tmp_path / "nowhere", "estimate")
    assert str(caught.value) == (
        f"{tmp_path}/nowhere is missing; `python -m pipeline.estimate` makes it (`dvc repro` runs all stages in order)"
    )
    assert artifacts.present(str(tmp_path), "estimate") == tmp_path


def test_a_stages_folder_is_emptied_and_what_links_point_to_is_left(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    folder = tmp_path / "a/b"
    (folder / "deep/deeper").mkdir(parents=True)
    (folder / "deep/deeper/file").write_text("old")
    (folder / "link").symlink_to(elsewhere)
    assert artifacts.fresh(folder) == folder and list(folder.iterdir()) == []
    assert (elsewhere / "kept").read_text() == "kept"
    assert artifacts.fresh(tmp_path / "new/folder").is_dir()


def test_json_is_written_as_people_read_it(tmp_path):
    path = tmp_path / "new/file.json"
    artifacts.write_json(path, {"name": "ε₁", "values": [1, None]})
    text = '{\n  "name": "ε₁",\n  "values": [\n    1,\n    null\n  ]\n}\n'
    assert path.read_text(encoding="utf-8") == text


def test_the_numbers_of_a_cell_come_back_from_the_file_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "DATASETS", tmp_path)
    values = [0.1, 1 / 3, 1e-5, 0.1 + 0.2, *np.random.default_rng(0).standard_normal(1000).tolist()]
    (tmp_path / "linear_pairs").mkdir()
    pd.DataFrame({"architecture": "NA", "seed": 0, "sigma": values, "index": 3}).to_csv(
        tmp_path / "linear_pairs" / "cells.csv", index=False
    )
    cells = artifacts.cells("linear_pairs")
    assert [cell["sigma"] for cell in cells] == values and all(type(cell["index"]) is int for cell in cells)
    assert {cell["architecture"] for cell in cells} == {"NA"}


def test_the_name_of_a_cell():
    cell = {"architecture": "lenet", "seed": 2, "index_1": 1, "index_2": 800, "eps1": 0.5}
    assert artifacts.cell_name(cell, ("index_1", "index_2")) == "lenet-1-800-seed2"


def test_images_are_the_arrays_with_what_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "IMAGES", tmp_path)
    arrays = {
        f"{split}_{kind}": np.ones((count, *shape), kind_of)
        for split, count in (("train", 3), ("test", 2))
        for kind, shape, kind_of in (("images", (3, 32, 32), np.uint8), ("labels", (), np.int64))
    }
    lay_down_images(
        arrays, ABOUT | {"classes": ["a", "b"], "train": 3, "test": 2, "mean": [1, 2, 3], "deviation": [4, 5, 6]}
    )
    found = artifacts.images()
    assert set(found) == {*arrays, "classes", "mean", "deviation"}
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    assert (found["classes"], found["mean"], found["deviation"]) == (["a", "b"], (1, 2, 3), (4, 5, 6))


@pytest.mark.parametrize("name", ["train_images", "train_labels", "test_images", "test_labels"])
def test_one_altered_pixel_or_label_is_noticed(name, tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "IMAGES", tmp_path)
    counts = {"train": 60, "test": 20}
    arrays = {f"{split}_images": np.zeros((n, 3, 32, 32), np.uint8) for split, n in counts.items()}
    arrays |= {f"{split}_labels": np.arange(n) % 4 for split, n in counts.items()}
    lay_down_images(arrays)
    artifacts.images()
    arrays[name].flat[-1] = 2
    np.save(tmp_path / f"{name}.npy", arrays[name])
    with pytest.raises(InputError, match="are not those of its about.json, .*; `python -m pipeline.download` makes"):
        artifacts.images()


def test_a_users_file_of_nads(tmp_path):
    np.save(tmp_path / "mine.npy", np.eye(3))
    assert np.array_equal(artifacts.nad_file(tmp_path / "mine.npy"), np.eye(3))
    np.save(tmp_path / "objects.npy", np.array([print]), allow_pickle=True)
    (tmp_path / "text.npy").write_text("not an array")
    (tmp_path / "empty.npy").write_bytes(b"")
    whole = (tmp_path / "mine.npy").read_bytes()
    (tmp_path / "cut_header.npy").write_bytes(whole.replace(b"(3, 3)", b"(3, 3 "))
    (tmp_path / "no_literal.npy").write_bytes(whole.replace(b"'<f8'", b"|<f8|"))
    for name in ("objects", "text", "empty", "cut_header", "no_literal"):
        with pytest.raises(InputError, match=rf"{name}.npy is not a .npy file of numbers: "):
            artifacts.nad_file(tmp_path / f"{name}.npy")
    with pytest.raises(InputError, match="the NADs .*nowhere.npy cannot be read: No such file or directory"):
        artifacts.nad_file(tmp_path / "nowhere.npy")


def test_a_pipe_in_the_place_of_a_users_file_of_nads_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "mine.npy")
    with pytest.raises(InputError, match="mine.npy cannot be read: it is no regular file"):
        artifacts.nad_file(tmp_path / "mine.npy")
