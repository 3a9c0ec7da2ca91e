"""Mistakes in params.yaml beside those of tests/test_mistakes.py: each is one sentence
that names its place."""

import pytest
from documents import GONE, changed

from pipeline import experiments
from pipeline.config import plans
from pipeline.project.errors import InputError

LINEAR = "scales/laptop/linear_pairs"
LENET = f"{LINEAR}/networks/lenet"
NADS = "scales/laptop/nads/lenet"
AT = "scales.laptop.linear_pairs"
LINE = f"{AT}.networks.lenet"
SOURCE = "scales.laptop.nads.lenet"

MISTAKES = [
    # Keys and mappings that are missing, keys that nobody knows.
    ("scales", GONE, "the key 'scales' is missing"),
    (
        "flip/networks",
        {"lenet": {}},
        "flip: networks are named in the blocks of scales",
    ),
    ("linear_pairs/eps1", 1.0, "linear_pairs: unknown key 'eps1'; known are: seeds,"),
    (
        "scales/smoke/flip",
        {},
        "scales.smoke.flip.networks: name at least one architecture",
    ),
    (
        f"{LENET}/shuffle",
        True,
        f"{LINE}: unknown key 'shuffle'; did you mean 'schedule'?",
    ),
    (
        f"{LENET}/optimiser",
        "adam",
        f"{LINE}.optimiser must be 'sgd' or 'adamw', not 'adam'",
    ),
    (
        f"{LENET}/schedule",
        "step",
        f"{LINE}.schedule must be 'triangular', 'linear' or 'cosine',",
    ),
    (LENET, None, f"{LINE}: the key 'indices' is missing"),
    # Wrong types, among them YAML 1.1's truth values, and lists for mappings.
    (
        "estimator/compare",
        "often",
        "estimator.compare must be a valid boolean, not 'often'",
    ),
    ("images/url", None, "images.url must be a valid string, not None"),
    (
        "architectures/lenet",
        "lenet",
        "architectures.lenet must be an object, not 'lenet'",
    ),
    (f"{LENET}/indices", [1, "2"], f"{LINE}.indices must be a valid integer, not '2'"),
    (NADS, "many", f"{SOURCE}.networks must be a valid integer, not 'many'"),
    # Values out of range, and what does not fit together.
    (
        "images/fallback",
        "mnist",
        "images.fallback must be 'digits' or None, not 'mnist'",
    ),
    (
        "nad_sweep/sigma/vgg11",
        -1.0,
        "nad_sweep.sigma.vgg11 must be greater than 0, not -1.0",
    ),
    (
        "nad_sweep/sigma/default",
        "a",
        "nad_sweep.sigma.default must be a valid number, not 'a'",
    ),
    ("eta1", 1.5, "eta1 must be less than or equal to 1, not 1.5"),
    ("eps1", float("nan"), "eps1 must be greater than or equal to 0, not nan"),
    (f"{LENET}/momentum", 1, f"{LINE}: momentum must lie in [0, 1), not 1.0"),
    *(
        (
            f"{LENET}/indices",
            [wrong],
            f"{LINE}.indices: a range is [first, last, step] of whole",
        )
        for wrong in ([1, 2], [1, 2, 0], [3, 2, 1], [1, 2.0, 1])
    ),
    ("estimator/step", 0, "estimator: step must lie between 0.001 and 1e+06, not 0.0"),
    (
        NADS,
        {"networks": 9, "error": 0},
        f"{SOURCE}: error must lie between 0 and 1, not 0.0",
    ),
    (
        NADS,
        {"networks": 9, "first": 1025},
        f"{SOURCE}: first must lie between 1 and 1024, not",
    ),
    (
        NADS,
        {"networks": 9, "file": "a.npy"},
        f"{SOURCE}: give either file, or networks with",
    ),
    (NADS, {"error": 0.1}, f"{SOURCE}: the key 'networks' (or 'file') is missing"),
    (
        "architectures/logreg/input",
        [64],
        "architectures.logreg: input must be [height, width]",
    ),
    # The sentence names the block that has the wrong value: the experiment's own, or
    # the scale's.
    ("fourier/eps", None, "fourier.eps must be a valid number, not None"),
    ("fourier/sigma", GONE, "fourier: the key 'sigma' is missing"),
    (
        "linear_pairs/training/lr",
        -1,
        "linear_pairs.training: lr must be positive, not -1.0",
    ),
    (
        "fourier/training/precision",
        "bfloat16",
        "fourier.training: set precision at the top level, for all networks",
    ),
    ("scales/smoke/seeds", 2, "scales.smoke: unknown key 'seeds'; known are:"),
    (f"{LINEAR}/training/lr", -1, f"{AT}.training: lr must be positive, not -1.0"),
    (
        "scales/smoke/fourier/sigma",
        -1,
        "scales.smoke.fourier.sigma must be greater than 0, not -1",
    ),
]


def only_scale(document, name):
    """The document with one scale."""
    return document | {"scale": name, "scales": {name: document["scales"][name]}}


def sentences(document: dict) -> list[str]:
    """The sentences that refuse a document, each without the name of the file."""
    with pytest.raises(InputError) as caught:
        plans(document)
    lines = str(caught.value).split("\n")
    assert all(line.startswith("params.yaml: ") for line in lines)
    return [line.removeprefix("params.yaml: ") for line in lines]


@pytest.mark.parametrize(("path", "value", "words"), MISTAKES)
def test_a_mistake_is_one_sentence(shipped, path, value, words):
    (sentence,) = sentences(changed(shipped, path, value))
    assert sentence.startswith(words)


def key_paths(block, path=""):
    """The path of every key in a document that is no name of a network or a scale."""
    of_names = ("networks/", "nads/", "sigma/", "architectures/", "scales/")
    for key, value in block.items():
        if not path.endswith(of_names):
            yield f"{path}{key}"
        if isinstance(value, dict) and key != "architectures":
            yield from key_paths(value, f"{path}{key}/")


def test_a_misspelt_key_gives_one_sentence_wherever_it_is(shipped):
    shipped = only_scale(shipped, "smoke")
    paths = list(key_paths(shipped))
    assert len(paths) > 80
    for path in paths:
        *parents, last = path.split("/")
        value = shipped
        for key in (*parents, last):
            value = value[key]
        document = changed(changed(shipped, path, GONE), f"{path}x", value)
        (sentence,) = sentences(document)
        assert sentence.endswith(f"unknown key '{last}x'; did you mean {last!r}?"), path


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (GONE, "it has no NADs at this scale; name it in scales.laptop.nads"),
        (
            {"networks": 9, "input": [3, 64, 64]},
            "its NADs are for inputs 3×64×64, and the",
        ),
        (
            {"networks": 9, "first": 1001},
            "is not among the first 1001; give nads a larger first",
        ),
    ],
)
def test_every_experiment_says_which_nads_it_lacks(shipped, source, words):
    expected = [
        name for name in experiments.names() if experiments.find(name).needs_nads
    ]
    if "first" in words:
        expected = ["flip", "poison"]
    found = sentences(changed(shipped, NADS, source))
    assert all(words in sentence for sentence in found)
    assert [sentence.split(".")[2] for sentence in found] == expected


@pytest.mark.parametrize(
    ("network", "shape", "experiment", "words"),
    [
        (
            "lenet_colour",
            [32, 32],
            "colours",
            "1×32×32; the experiment takes 3 channels",
        ),
        (
            "mlp_200_50",
            [3, 32, 32],
            "image_pairs",
            "3×32×32; the experiment takes 1 channel",
        ),
    ],
)
def test_experiments_of_one_channel_or_of_three(
    network, shape, experiment, words, shipped
):
    document = only_scale(shipped, "smoke")
    document = changed(document, f"architectures/{network}/input", shape)
    place = f"scales.smoke.{experiment}.networks.{network}"
    assert sentences(document) == [f"{place}: its input is {words}"]


def test_images_that_do_not_fit_the_inputs_of_their_networks(shipped):
    document = only_scale(shipped, "laptop")
    (sentence,) = sentences(changed(document, "architectures/logreg/input", [64, 64]))
    assert sentence.startswith("scales.laptop: all images of a scale have one size,")
    for size in ("32×32", "64×64"):
        assert f"{size} pixels" in sentence


TOP_LEVEL = [
    ("images/fallback", "mnist", "images.fallback must be 'digits' or None, not"),
    ("seed", "a", "seed must be a valid integer, not 'a'"),
    ("epz2", 1, "unknown key 'epz2'; did you mean 'eps2'?"),
    ("scales/overnight/nads", [1], "scales.overnight.nads must be an object, not [1]"),
]
NAMES = [
    ("scale", "lapptop", "scale 'lapptop' is unknown; did you mean 'laptop'?"),
    (
        "scales/laptop/nads/lenett",
        8,
        "scales.laptop.nads: unknown architecture 'lenett'; did you mean 'lenet'?",
    ),
]
VALUES = [
    ("fourier/eps", -1, "fourier.eps must be greater than or equal to 0, not -1"),
    (f"{LENET}/epochs", 0, f"{LINE}: epochs must be positive, not 0"),
    (NADS, 1, f"{SOURCE}: networks must be at least 2 (halves are compared), not 1"),
    (
        "scales/paper/convergence/networks/lenet/step",
        3,
        "scales.paper.convergence.networks.lenet: step must divide 16, so that",
    ),
]


@pytest.mark.parametrize("changes", [TOP_LEVEL, NAMES, VALUES])
def test_mistakes_of_one_kind_are_told_at_once_each_once(shipped, changes):
    for path, value, _ in changes:
        shipped = changed(shipped, path, value)
    found = sorted(sentences(shipped))
    expected = sorted(words for *_, words in changes)
    assert len(found) == len(expected)
    for sentence, words in zip(found, expected, strict=True):
        assert sentence.startswith(words)
