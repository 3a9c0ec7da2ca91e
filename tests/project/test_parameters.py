"""params.yaml is read as DVC reads it; a file that cannot be read is refused in one sentence."""

import pytest
from dvc.utils.serialize import load_yaml
from structure import ROOT

from pipeline.project.errors import InputError
from pipeline.project.parameters import read


@pytest.mark.parametrize(
    "text",
    [
        (ROOT / "params.yaml").read_text(encoding="utf-8"),
        "a: 010\nb: 0o10\nc: 1:30\nd: yes\ne: 1e-5\nf: ~\ng: 1.0e-5\nh: 0,5\ni: .5\nj: 1_000\n",
        "a: &x {b: 1}\nc: {<<: *x, d: 2}\n",
        "\ufeffa: é\r\nb: 2\r\n",
    ],
)
def test_a_document_is_what_dvc_takes_it_for(text, tmp_path):
    path = tmp_path / "params.yaml"
    path.write_bytes(text.encode())
    assert repr(read(path)) == repr(load_yaml(path)), "with the types of all values"


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "params.yaml"
    path.touch()
    with pytest.raises(InputError, match="must hold a mapping"):
        read(path)
