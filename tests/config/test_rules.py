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


def case(name, path, value, kind, key=None):
    """A value of params.yaml, the kind of mistake, and the key that the error names.

    The key is that of the value if none is given.
    """
    return pytest.param(path, value, kind, key or path.replace("/", "."), id=name)


def dotted(path, *keys):
    return ".".join([path.replace("/", "."), *keys])


UNKNOWN = [
    case("a misspelt key", "epz2", 0.3, "unknown-key"),
    case("a misspelt scale", "scale", "lapptop", "unknown-name", "lapptop"),
    case("a misspelt architecture", "scales/laptop/nads/lenett", 8, "unknown-name"),
    case("a key of an experiment", "linear_pairs/eps1", 1.0, "unknown-key"),
    case("a key of a line", f"{LENET}/shuffle", True, "unknown-key"),
    case("a key of a scale", "scales/smoke/seeds", 2, "unknown-key"),
    case("networks without a scale", "flip/networks", {}, "unknown-key"),
    case("precision below", "fourier/training/precision", "x", "unknown-key"),
    case("a misspelt device", "device", "gpu", "unknown-name"),
    case("half precision", "precision", "float16", "unknown-name"),
    case("an optimiser", f"{LENET}/optimiser", "adam", "unknown-name"),
    case("a schedule", f"{LENET}/schedule", "step", "unknown-name"),
    case("a fallback", "images/fallback", "mnist", "unknown-name"),
]
MISSING = [
    case("no amplitude", "eps2", GONE, "missing-key"),
    case("no scales", "scales", GONE, "missing-key"),
    case("no learning rate", "linear_pairs/training/lr", GONE, "missing-key"),
    case("no indices", LENET, None, "missing-key", dotted(LENET, "indices")),
    case("no sigma", "fourier/sigma", GONE, "missing-key"),
    case(
        "no default",
        "image_pairs/sigma/default",
        GONE,
        "missing-key",
        "image_pairs.sigma",
    ),
    case("no networks", "scales/smoke/flip/networks", {}, "missing-key"),
]
TYPES = [
    case("one index without a list", f"{LENET}/indices", 1, "wrong-type"),
    case("an index in quotes", f"{LENET}/indices", [1, "2"], "wrong-type"),
    case("a range of two", f"{LENET}/indices", [[1, 2]], "wrong-type"),
    case("a range without steps", f"{LENET}/indices", [[1, 2, 0]], "wrong-type"),
    case("a range downwards", f"{LENET}/indices", [[3, 2, 1]], "wrong-type"),
    case("a range of floats", f"{LENET}/indices", [[1, 2.0, 1]], "wrong-type"),
    case("a list for a number", "eps2", [0.3, 0.5], "wrong-type"),
    case("a number in quotes", "eps2", "0.5", "wrong-type"),
    case("no number", "eps2", None, "wrong-type"),
    case("no number below", "fourier/eps", None, "wrong-type"),
    case("an epoch and a half", f"{LINEAR}/training/epochs", 1.5, "wrong-type"),
    case("a power of ten", f"{LINEAR}/train_samples", 1e4, "wrong-type"),
    case("a word for a truth value", "estimator/compare", "often", "wrong-type"),
    case("no text", "images/url", None, "wrong-type"),
    case("a text for a mapping", "architectures/lenet", "lenet", "wrong-type"),
    case("a word for a count", NADS, "many", "wrong-type", dotted(NADS, "networks")),
    case("a word for sigma", "nad_sweep/sigma/default", "a", "wrong-type"),
]
RANGES = [
    case("a negative amplitude", "eps2", -0.5, "out-of-range"),
    case("no number at all", "eps1", float("nan"), "out-of-range"),
    case("no noise", "sigma", 0, "out-of-range"),
    case("a fraction", "eta1", 1.5, "out-of-range"),
    case("no seeds", f"{LINEAR}/seeds", 0, "out-of-range"),
    case("a negative sigma", "nad_sweep/sigma/vgg11", -1.0, "out-of-range"),
    case("a sigma of a scale", "scales/smoke/fourier/sigma", -1, "out-of-range"),
]
VALUES = [
    case(
        "an index out of range", f"{LENET}/indices", [1, 1024], "value", dotted(LENET)
    ),
    case("a negative index", f"{LENET}/indices", [-1], "value", dotted(LENET)),
    case("no index", f"{LENET}/indices", [], "value", dotted(LENET)),
    case("an index twice", f"{LENET}/indices", [1, 1], "value", dotted(LENET)),
    case("momentum", f"{LENET}/momentum", 1, "value"),
    case("a step", "estimator/step", 0, "value"),
    case("a file and networks", NADS, {"networks": 9, "file": "a.npy"}, "value"),
    case("neither of them", NADS, {"error": 0.1}, "value"),
    case("an error", NADS, {"networks": 9, "error": 0}, "value", dotted(NADS, "error")),
    case(
        "too many NADs",
        NADS,
        {"networks": 9, "first": 1025},
        "value",
        dotted(NADS, "first"),
    ),
    case("a side", "architectures/logreg/input", [64], "value"),
    case("a rate", "linear_pairs/training/lr", -1, "value"),
    case("a rate of a scale", f"{LINEAR}/training/lr", -1, "value"),
    case(
        "symmetry of a gradient",
        "estimator/estimand",
        "gradient",
        "value",
        "estimator.symmetry",
    ),
    case("more seeds", f"{LENET}/seeds", 9, "conflict"),
]


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


@pytest.mark.parametrize(
    ("path", "value", "kind", "key"), UNKNOWN + MISSING + TYPES + RANGES + VALUES
)
def test_a_mistake_is_one_sentence(shipped, path, value, kind, key):
    (mistake,) = mistakes(changed(shipped, path, value))
    assert (mistake.kind, key_of(mistake)) == (kind, key)


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


STEP = "scales/paper/convergence/networks/lenet/step"
TOGETHER = [
    [
        case("", "images/fallback", "mnist", "unknown-name"),
        case("", "seed", "a", "wrong-type"),
        case("", "epz2", 1, "unknown-key"),
        case("", "scales/overnight/nads", [1], "wrong-type"),
    ],
    [
        case("", "scale", "lapptop", "unknown-name", "lapptop"),
        case("", "scales/laptop/nads/lenett", 8, "unknown-name"),
    ],
    [
        case("", "fourier/eps", -1, "out-of-range"),
        case("", f"{LENET}/epochs", 0, "value"),
        case("", NADS, 1, "value", dotted(NADS, "networks")),
        case("", STEP, 3, "value", dotted(STEP.removesuffix("/step"))),
    ],
]


@pytest.mark.parametrize("cases", TOGETHER, ids=["top level", "names", "values"])
def test_mistakes_of_one_kind_are_told_at_once_each_once(shipped, cases):
    expected = []
    for path, value, kind, key in (case.values for case in cases):
        shipped = changed(shipped, path, value)
        expected.append((kind, key))
    found = [(mistake.kind, key_of(mistake)) for mistake in mistakes(shipped)]
    assert sorted(found) == sorted(expected)
