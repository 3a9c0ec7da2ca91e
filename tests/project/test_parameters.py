"""params.yaml is read as DVC reads it; a file that cannot be read is refused in one
sentence."""

import pytest
from dvc.utils.serialize import load_yaml
from refusals import refused
from structure import ROOT

from pipeline.project.errors import InputError
from pipeline.project.parameters import read


def test_the_document_is_what_dvc_takes_it_for():
    path = ROOT / "params.yaml"
    assert repr(read(path)) == repr(load_yaml(path)), "with the types of all values"


def test_sums_of_floats_are_the_numbers_that_they_stand_for(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("eps2: 0.30000000000000004\nscale: {lr: [1.0e-06, 3]}\n")
    assert repr(read(path)) == repr({"eps2": 0.3, "scale": {"lr": [1e-06, 3]}})


def test_keys_that_are_there_twice_are_named_with_both_lines(tmp_path):
    path = tmp_path / "params.yaml"
    lines = ["mine: {network: my:Net}", "scales:", "  laptop:", "    nads: {mine: 4}"]
    path.write_text("\n".join(["seed: 0", *lines, *lines]))
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.kind == "unreadable-file"
    first, second = str(caught.value).split("\n")
    assert "'mine' in lines 2 and 6" in first
    assert "'scales' in lines 3 and 7" in second
    path.write_text("scales: [{laptop: {a: 1,\n b: 2,\n a: 3}}]")
    with refused("unreadable-file", path=str(path)):
        read(path)


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "params.yaml"
    path.touch()
    with refused("wrong-type", path=str(path)):
        read(path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_a_file_in_another_encoding_is_refused(tmp_path, encoding):
    path = tmp_path / "params.yaml"
    path.write_bytes("# réglage\nseed: 0\n".encode(encoding))
    with refused("unreadable-file", path=str(path)):
        read(path)
    path.write_bytes(
        "# réglage\nseed: 0\n".encode("utf-8-sig")
    )  # as Windows' editors may
    assert read(path) == {"seed": 0}
