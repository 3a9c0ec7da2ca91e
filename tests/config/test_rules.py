"""Mistakes in params.yaml: each has a kind, its key in the file, and one sentence."""

import pytest
from documents import GONE, changed
from refusals import refused

from pipeline import experiments
from pipeline.config import plans
from pipeline.project.errors import InputError

LINEAR = "scales/laptop/linear_pairs"
LENET = f"{LINEAR}/networks/lenet"
NADS = "scales/laptop/nads/lenet"


NADS_OF_LENET = "scales.laptop.nads.lenet"
LINE = "scales.laptop.linear_pairs.networks.lenet"

FLIP = "scales/laptop/flip/networks/lenet"
OUTPUT = {
    "estimand": "output",
    "method": "plain",
    "step": 100.0,
    "point": "normal",
    "symmetry": False,
    "compare": False,
}

MISTAKES = {
    "unknown-key": [
        ("epz2", 0.3),
        ("linear_pairs/eps1", 1.0),
        (f"{LENET}/shuffle", True),
        ("scales/smoke/seeds", 2),
        ("flip/networks", {}),
        ("fourier/training/precision", "bfloat16"),
    ],
    "unknown-name": [
        ("scale", "lapptop", "lapptop"),
        ("scales/laptop/nads/lenett", 8),
        ("architectures/lenet/network", "lenett", "architectures.lenet.lenett"),
        ("device", "gpu"),
        ("precision", "float16"),
        (f"{LENET}/optimiser", "adam"),
        (f"{LENET}/schedule", "step"),
        ("images/fallback", "mnist"),
    ],
    "missing-key": [
        ("eps2", GONE),
        ("scales", GONE),
        ("linear_pairs/training/lr", GONE),
        (LENET, None, f"{LINE}.indices"),
        ("fourier/sigma", GONE),
        ("image_pairs/sigma/default", GONE, "image_pairs.sigma"),
        ("scales/smoke/flip/networks", {}),
    ],
    "wrong-type": [
        (f"{LENET}/indices", 1),
        (f"{LENET}/indices", [1, "2"]),
        # A range is [first, last, step].
        (f"{LENET}/indices", [[1, 2]]),
        (f"{LENET}/indices", [[1, 2, 0]]),
        (f"{LENET}/indices", [[3, 2, 1]]),
        (f"{LENET}/indices", [[1, 2.0, 1]]),
        ("eps2", [0.3, 0.5]),
        ("eps2", "0.5"),
        ("eps2", None),
        ("fourier/eps", None),
        (f"{LINEAR}/training/epochs", 1.5),
        (f"{LINEAR}/train_samples", 1e4),
        ("estimator/compare", "often"),  # YAML 1.1 has other words for true
        ("images/url", None),
        ("architectures/lenet", "lenet"),
        (NADS, "many", f"{NADS_OF_LENET}.networks"),
        ("nad_sweep/sigma/default", "a"),
    ],
    "out-of-range": [
        ("eps2", -0.5),
        ("eps1", float("nan")),
        ("sigma", float("inf")),
        ("linear_pairs/training/lr", float("inf")),
        ("sigma", 0),
        ("eta1", 1.5),
        (f"{LINEAR}/seeds", 0),
        ("nad_sweep/sigma/vgg11", -1.0),
        ("scales/smoke/fourier/sigma", -1),
    ],
    "value": [
        (f"{LENET}/indices", [1, 1024], LINE),
        (f"{LENET}/indices", [-1], LINE),
        (f"{LENET}/indices", [], LINE),
        (f"{LENET}/indices", [1, 1], LINE),
        (f"{LENET}/momentum", 1),
        ("estimator/step", 0),
        ("estimator/estimand", "gradient", "estimator.symmetry"),
        (NADS, {"networks": 9, "file": "a.npy"}),
        (NADS, {"error": 0.1}),
        (NADS, {"networks": 9, "error": 0}, f"{NADS_OF_LENET}.error"),
        (NADS, {"networks": 9, "first": 1025}, f"{NADS_OF_LENET}.first"),
        ("architectures/logreg/input", [64]),
        (f"{FLIP}/maps", []),
        (f"{FLIP}/maps", ["plain", "plain"]),
        ("architectures/le net", {"network": "lenet"}, "architectures.le net"),
        ("architectures/18", {"network": "lenet"}),
        ("linear_pairs/training/lr", -1),
        (f"{LINEAR}/training/lr", -1),
    ],
    "conflict": [
        (f"{LENET}/seeds", 9),
        ("estimator", OUTPUT, "estimator.estimand"),
    ],
}
"""By kind: the path of a value in params.yaml, the value, and the key that the error
names if it is another one."""


def cases():
    """All mistakes, each with a name."""
    for kind, rows in MISTAKES.items():
        for path, value, *key in rows:
            text = "gone" if value is GONE else repr(value)
            yield pytest.param((path, value, kind, *key), id=f"{path} {text}")


def only_scale(document, name):
    """The document with one scale."""
    return document | {"scale": name, "scales": {name: document["scales"][name]}}


def mistakes(document):
    """The mistakes in a document."""
    with refused("settings") as caught:
        plans(document)
    for sentence in str(caught.value).split("\n"):
        assert sentence.startswith("params.yaml: ")
    return caught.value.fields["mistakes"]


def key_of(mistake):
    """The key in params.yaml that a mistake names."""
    keys = mistake.fields["place"], mistake.fields.get("name")
    return ".".join(key for key in keys if key)


@pytest.mark.parametrize("case", list(cases()))
def test_a_mistake_is_one_sentence(shipped, case):
    path, value, kind, *key = case
    (mistake,) = mistakes(changed(shipped, path, value))
    assert mistake.kind == kind
    assert [key_of(mistake)] == (key or [path.replace("/", ".")])


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
        with pytest.raises(InputError) as caught:
            plans(document)
        (mistake,) = caught.value.fields["mistakes"]
        assert (mistake.kind, mistake.fields["name"]) == ("unknown-key", f"{last}x")
        assert repr(last) in str(mistake), "the key that is meant"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (GONE, "missing-key"),
        ({"networks": 9, "input": [3, 64, 64]}, "value"),
        ({"networks": 9, "first": 1001}, "value"),
    ],
    ids=["no NADs", "other inputs", "too few"],
)
def test_every_experiment_says_which_nads_it_lacks(shipped, source, kind):
    expected = [
        name for name in experiments.names() if experiments.find(name).needs_nads
    ]
    if source is not GONE and "first" in source:
        expected = ["flip", "poison"]
    found = mistakes(changed(shipped, NADS, source))
    assert {mistake.kind for mistake in found} == {kind}
    places = [mistake.fields["place"].split(".") for mistake in found]
    assert [place[2] for place in places] == expected


@pytest.mark.parametrize(
    ("network", "shape", "experiment"),
    [
        ("lenet_colour", (1, 32, 32), "colours"),
        ("mlp_200_50", (3, 32, 32), "image_pairs"),
    ],
)
def test_experiments_of_one_channel_or_of_three(network, shape, experiment, shipped):
    document = only_scale(shipped, "smoke")
    document = changed(document, f"architectures/{network}/input", list(shape))
    (mistake,) = mistakes(document)
    assert (mistake.kind, mistake.fields["input"]) == ("conflict", shape)
    place = f"scales.smoke.{experiment}.networks.{network}"
    assert mistake.fields["place"] == place


def test_images_that_do_not_fit_the_inputs_of_their_networks(shipped):
    document = only_scale(shipped, "laptop")
    (mistake,) = mistakes(changed(document, "architectures/logreg/input", [64, 64]))
    assert (mistake.kind, mistake.fields["place"]) == ("conflict", "scales.laptop")
    assert sorted(mistake.fields["sizes"]) == [(32, 32), (64, 64)]


TOP_LEVEL = [
    ("images/fallback", "mnist", "unknown-name", "images.fallback"),
    ("seed", "a", "wrong-type", "seed"),
    ("epz2", 1, "unknown-key", "epz2"),
    ("scales/overnight/nads", [1], "wrong-type", "scales.overnight.nads"),
]
NAMES = [
    ("scale", "lapptop", "unknown-name", "lapptop"),
    ("scales/laptop/nads/lenett", 8, "unknown-name", "scales.laptop.nads.lenett"),
]
CONVERGENCE = "scales/paper/convergence/networks/lenet"
VALUES = [
    ("fourier/eps", -1, "out-of-range", "fourier.eps"),
    (f"{LENET}/epochs", 0, "value", f"{LINE}.epochs"),
    (NADS, 1, "value", f"{NADS_OF_LENET}.networks"),
    (f"{CONVERGENCE}/step", 3, "value", CONVERGENCE.replace("/", ".")),
]


@pytest.mark.parametrize(
    "rows", [TOP_LEVEL, NAMES, VALUES], ids=["top level", "names", "values"]
)
def test_mistakes_of_one_kind_are_told_at_once_each_once(shipped, rows):
    for path, value, *_ in rows:
        shipped = changed(shipped, path, value)
    found = [(mistake.kind, key_of(mistake)) for mistake in mistakes(shipped)]
    assert sorted(found) == sorted((kind, key) for *_, kind, key in rows)
