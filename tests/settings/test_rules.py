"""Every plausible mistake in params.yaml ends with one sentence that names the place, what is wrong
and what to do."""

import copy

import pytest
from documents import GONE, changed, sentences

LINEAR = "scales/laptop/linear_pairs"
LENET = f"{LINEAR}/networks/lenet"
NADS = "scales/laptop/nads/lenet"
FOURIER = "scales/laptop/fourier/networks/lenet"
AT = "scales.laptop.linear_pairs"
LINE = f"{AT}.networks.lenet"
SOURCE = "scales.laptop.nads.lenet"
SMOKE = "scales.smoke"

MISTAKES = [
    # Keys that nobody knows, keys and mappings that are missing.
    ("epz2", 0.3, "unknown key 'epz2'; did you mean 'eps2'?"),
    ("colour", 1, "unknown key 'colour'; known are: seed, images, estimator"),
    ("eps2", GONE, "the key 'eps2' is missing"),
    ("scale", GONE, "the key 'scale' is missing"),
    ("scales", GONE, "the key 'scales' is missing"),
    ("architectures", GONE, "the key 'architectures' is missing"),
    ("fourier", GONE, "the key 'fourier' is missing"),
    ("linear_pairs", GONE, "the key 'linear_pairs' is missing"),
    ("linear_pairs/test_samples", GONE, "linear_pairs: the key 'test_samples' is missing"),
    ("images/urll", "x", "images: unknown key 'urll'; did you mean 'url'?"),
    ("images/path", GONE, "images: the key 'path' is missing"),
    ("fourier/sigma", GONE, "fourier: the key 'sigma' is missing"),
    ("flip/training/lr", GONE, "flip.training: the key 'lr' is missing"),
    ("flip/seeds", GONE, "flip: the key 'seeds' is missing"),
    ("linear_pairs/eps1", 1.0, "linear_pairs: unknown key 'eps1'; known are: seeds,"),
    ("scales/smoke/flop", {}, f"{SMOKE}: unknown key 'flop'; did you mean 'flip'?"),
    ("scales/smoke/flip", GONE, f"{SMOKE}: the key 'flip' is missing"),
    ("scales/smoke/nads", GONE, f"{SMOKE}: the key 'nads' is missing"),
    (f"{LINEAR}/seed", 1, f"{AT}: unknown key 'seed'; did you mean 'seeds'?"),
    (f"{LINEAR}/networks", GONE, f"{AT}.networks: name at least one architecture"),
    (f"{LINEAR}/networks", {}, f"{AT}.networks: name at least one architecture"),
    (f"{LENET}/epoch", 3, f"{LINE}: unknown key 'epoch'; did you mean 'epochs'?"),
    (f"{LENET}/schedule", "linear", f"{LINE}: unknown key 'schedule'; known are: indices, epochs"),
    (f"{LENET}/indices", GONE, f"{LINE}: the key 'indices' is missing"),
    (LENET, None, f"{LINE}: the key 'indices' is missing"),
    # Wrong types, among them a decimal comma, YAML 1.1's truth values, and lists for mappings.
    ("eps2", "0,5", "eps2 must be a number, not '0,5'"),
    ("eps2", None, "eps2 must be a number, not None"),
    ("seed", 1.5, "seed must be a whole number, not 1.5"),
    ("reuse", "yes", "reuse must be true or false, not 'yes'"),
    ("images/url", None, "images.url must be text, not None"),
    ("images", ["a.tar"], "images must be a mapping, not ['a.tar']"),
    ("fourier", [1.0, 3.0], "fourier must be a mapping, not [1.0, 3.0]"),
    ("architectures", ["lenet"], "architectures must be a mapping, not ['lenet']"),
    ("architectures/lenet", "lenet", "architectures.lenet must be a mapping, not 'lenet'"),
    ("image_pairs/sigma", 1.0, "image_pairs.sigma must be a mapping, not 1.0"),
    ("image_pairs/sigma/lenet", "1", "image_pairs.sigma.lenet must be a number, not '1'"),
    ("image_pairs/positive", "cat", "image_pairs.positive must be a list, not 'cat'"),
    ("scales/smoke", ["flip"], f"{SMOKE} must be a mapping, not ['flip']"),
    (f"{LINEAR}/networks", ["lenet"], f"{AT}.networks must be a mapping, not ['lenet']"),
    (f"{LINEAR}/training", [5], f"{AT}.training must be a mapping, not [5]"),
    (f"{LENET}/lr", "1e-5 ", f"{LINE}.lr must be a number, not '1e-5 '"),
    (f"{LENET}/epochs", 2.0, f"{LINE}.epochs must be a whole number, not 2.0"),
    (f"{LENET}/seeds", "1", f"{LINE}.seeds must be a whole number, not '1'"),
    (f"{LENET}/indices", 5, f"{LINE}.indices must be a list, not 5"),
    (f"{LENET}/indices", [1, "2"], f"{LINE}.indices must be a whole number, not '2'"),
    (NADS, "many", f"{SOURCE}.networks must be a whole number, not 'many'"),
    (NADS, {"file": 5}, f"{SOURCE}.file must be text, not 5"),
    # Names and words that are not there.
    ("scale", "lapptop", "scale 'lapptop' is unknown; did you mean 'laptop'?"),
    ("device", "gpu", "device must be auto, cpu or cuda, not 'gpu'"),
    ("precision", "float16", "precision must be float32 or bfloat16, not 'float16'"),
    ("images/fallback", "mnist", "images.fallback must be digits or null, not 'mnist'"),
    ("estimator/point", "mean", "estimator.point must be normal, many or zero, not 'mean'"),
    (f"{LINEAR}/networks/vgg", {}, f"{AT}.networks: unknown architecture 'vgg'"),
    ("scales/laptop/nads/lenett", 8, "scales.laptop.nads: unknown architecture 'lenett'"),
    ("image_pairs/sigma/vgg", 1.0, "image_pairs.sigma: unknown architecture 'vgg'"),
    ("architectures/a", {"network": "lenet7"}, "architectures.a: the network 'lenet7' is unknown"),
    ("architectures/a", {}, "architectures.a: the network 'None' is unknown; known are:"),
    ("architectures/my net", {"network": "lenet"}, "architectures.my net: a name is a letter"),
    # Values out of range.
    ("seed", -1, "seed must not be negative, not -1"),
    ("eps1", -0.5, "eps1 must not be negative, not -0.5"),
    ("sigma", 0, "sigma must be positive, not 0.0"),
    ("fourier/eps", -1.0, "fourier: eps must not be negative, not -1.0"),
    ("nad_sweep/sigma/lenet", -1.0, "nad_sweep: sigma.lenet must be positive, not -1.0"),
    ("poison/size", 0, "poison: size must be positive, not 0.0"),
    ("estimator/step", -1, "estimator: step must lie between 0.001 and 1e+06, not -1.0"),
    ("estimator/estimand", "gradient", "estimator: symmetry does not hold for the gradient"),
    ("images/url", "cifar.tar", "images: url must begin with http:// or https://"),
    (f"{LINEAR}/seeds", 0, f"{AT}: seeds must be at least 1, not 0"),
    (f"{LINEAR}/train_samples", 1025, f"{AT}: train_samples must not be 1025: batches are of 128"),
    (f"{LINEAR}/training/lr", 0, f"{AT}.training: lr must be positive, not 0.0"),
    (f"{LENET}/epochs", 0, f"{LINE}: epochs must be positive, not 0"),
    (f"{LENET}/momentum", 1, f"{LINE}: momentum must lie in [0, 1), not 1.0"),
    (f"{LENET}/weight_decay", -1, f"{LINE}: weight_decay must not be negative, not -1.0"),
    (f"{LENET}/seeds", 4, f"{LINE}: seeds must lie between 1 and the experiment's 3, not 4"),
    (f"{LENET}/indices", [], f"{LINE}: indices is empty; name at least one NAD index"),
    (f"{LENET}/indices", [1, 1024], f"{LINE}: NAD index 1024 is out of range; indices"),
    (f"{LENET}/indices", [7, 3, 7], f"{LINE}: indices repeat a value"),
    *(
        (f"{LENET}/indices", [wrong], f"{LINE}.indices: a range is [first, last, step] of whole")
        for wrong in ([1, 2], [1, 2, 0], [3, 2, 1], [9, 1, -1], [1, 2.0, 1])
    ),
    (f"{FOURIER}/step", 3, "scales.laptop.fourier.networks.lenet: step must divide 16"),
    (NADS, 1, f"{SOURCE}: networks must be at least 2 (halves are compared), not 1"),
    (NADS, {"network": 4}, f"{SOURCE}: unknown key 'network'; did you mean 'networks'?"),
    (NADS, {"error": 0.1}, f"{SOURCE}: the key 'networks' (or 'file') is missing"),
    (NADS, {"networks": 9, "file": "a.npy"}, f"{SOURCE}: give either file, or networks with error"),
    (NADS, {"networks": 9, "input": [32, 32]}, f"{SOURCE}: input must be [channels, height,"),
    ("architectures/logreg/input", [64], "architectures.logreg: input must be [height, width]"),
    # What does not fit together.
    ("image_pairs/sigma/lenet", GONE, "image_pairs: sigma has no value for lenet"),
    ("nad_sweep/sigma/vgg11", GONE, "nad_sweep: sigma has no value for vgg11"),
    (f"{LINEAR}/networks/vgg11", {"indices": [1]}, f"{AT}.networks.vgg11: it has no NADs at this"),
]


@pytest.mark.parametrize(("path", "value", "words"), MISTAKES)
def test_a_mistake_is_one_sentence(shipped, path, value, words):
    (found,) = set(sentences(changed(shipped, path, value)))
    assert found.startswith(words)


def test_a_wrong_value_is_named_where_it_stands(shipped):
    """In the experiment's own block, the scale's, or the experiment's in the scale."""
    for path, words in (
        ("linear_pairs/training/lr", "linear_pairs.training: lr must be positive, not -1.0"),
        ("scales/smoke/training/lr", "scales.smoke.training: lr must be positive, not -1.0"),
        (f"{LINEAR}/training/lr", f"{AT}.training: lr must be positive, not -1.0"),
        ("scales/smoke/fourier/sigma", "scales.smoke.fourier: sigma must be positive, not -1.0"),
        ("scales/smoke/seeds", "scales.smoke: seeds must be at least 1, not -1"),
    ):
        assert sentences(changed(shipped, path, -1)) == [words]


def places(value, path=""):
    """The path of every key in a document, of which `settings` decides what may stand there."""
    for key, item in value.items():
        if (
            not path.endswith(("networks/", "nads/", "sigma/", "architectures/"))
            and path != "scales/"
        ):
            yield f"{path}{key}"
        if isinstance(item, dict) and key != "architectures":
            yield from places(item, f"{path}{key}/")


def test_a_misspelt_key_gives_one_sentence_wherever_it_stands(shipped):
    shipped |= {"scale": "smoke", "scales": {"smoke": shipped["scales"]["smoke"]}}
    paths = list(places(shipped))
    assert len(paths) > 80
    for path in paths:
        document = copy.deepcopy(shipped)
        *parents, last = path.split("/")
        place = document
        for key in parents:
            place = place[key]
        place[f"{last}x"] = place.pop(last)
        (sentence,) = sentences(document)
        assert sentence.endswith(f"unknown key '{last}x'; did you mean {last!r}?"), path


def test_nads_that_are_forgotten_are_missed_by_every_experiment_that_needs_them(shipped):
    found = sentences(changed(shipped, NADS, GONE))
    words = "it has no NADs at this scale; name it in scales.laptop.nads"
    experiments = ("flip", "image_pairs", "linear_pairs", "nad_sweep", "poison")
    assert found == [f"scales.laptop.{name}.networks.lenet: {words}" for name in experiments]


def test_nads_that_cannot_serve_an_experiment(shipped):
    def said(source):
        return [each.split(": ", 1)[1] for each in sentences(changed(shipped, NADS, source))]

    words = "NAD {} is not among the first 1001; give nads a larger first"
    assert said({"networks": 9, "first": 1001}) == [words.format(1023), words.format(1021)]
    for source in ({"networks": 9, "input": [3, 64, 64]}, {"file": "a.npy", "input": [3, 64, 64]}):
        words = "its NADs are for inputs 3×64×64; experiments have channels of 32×32"
        assert said(source) == [words] * 5
    words = "experiments have channels of 32×32; give the architecture input: [64, 64]"
    assert all(words in each for each in said({"networks": 9, "input": [1, 64, 64]}))


def test_grids_and_images_that_do_not_fit_the_inputs_of_their_networks(shipped):
    document = changed(shipped, "architectures/logreg/input", [64, 48])
    document = changed(document, "scales", {"laptop": document["scales"]["laptop"]})
    assert sentences(changed(document, "scales/laptop/fourier/networks/logreg/step", 16)) == [
        "scales.laptop.fourier.networks.logreg: step must divide 24, so that 0 and −24 are in",
        "scales.laptop: all images of a scale have one size, the inputs of the networks trained on "
        "them, but those of lenet in poison have 32×32 pixels and those of logreg in flip have "
        "64×48 pixels; give them one `input`",
    ]


def test_all_mistakes_are_told_at_once_each_once(shipped):
    for path, value in (
        ("epz2", 1),
        ("eps1", "one"),
        ("images/fallback", "mnist"),
        ("estimator/stepp", 1),
        ("fourier/eps", -1),
        ("flip/training/lr", "fast"),
        ("architectures/mine", {"network": "lenet5"}),
        ("scales/laptop/nads/lenet", 1),
        (f"{LINEAR}/seeds", "one"),
        (f"{LINEAR}/training/epoch", 3),
        (f"{LENET}/indices", [[1, 2]]),
        (f"{LINEAR}/networks/mlp_100_20/indices", [-1]),
        (f"{LINEAR}/networks/mlp_100_20/epochs", 0),
        (f"{LINEAR}/networks/densenet", {"indices": [1]}),
        ("scales/overnight/nads", [1]),
        ("scales/paper/linear_pairs", GONE),
        ("scales/paper/fourier/networks/lenet/step", 3),
        ("scales/paper/fourier/networks/logreg", 3),
        ("scales/mine", 3),
    ):
        shipped = changed(shipped, path, value)
    assert sorted(sentences(shipped)) == sorted(
        [
            "unknown key 'epz2'; did you mean 'eps2'?",
            "eps1 must be a number, not 'one'",
            "images.fallback must be digits or null, not 'mnist'",
            "estimator: unknown key 'stepp'; did you mean 'step'?",
            "fourier: eps must not be negative, not -1.0",
            "flip.training.lr must be a number, not 'fast'",
            "architectures.mine: the network 'lenet5' is unknown; did you mean 'lenet'? One of "
            "your own is named module:name, a library's torchvision.models:name or "
            "timm:name",
            "scales.laptop.nads.lenet: networks must be at least 2 (halves are compared), not 1",
            f"{AT}.seeds must be a whole number, not 'one'",
            f"{AT}.training: unknown key 'epoch'; did you mean 'epochs'?",
            f"{LINE}.indices: a range is [first, last, step] of whole numbers, not [1, 2]",
            f"{AT}.networks.mlp_100_20: epochs must be positive, not 0",
            f"{AT}.networks.mlp_100_20: NAD index -1 is out of range; indices run from 0 to 1023",
            f"{AT}.networks: unknown architecture 'densenet'; did you mean 'densenet121'?",
            "scales.overnight.nads must be a mapping, not [1]",
            "scales.paper: the key 'linear_pairs' is missing",
            "scales.paper.fourier.networks.lenet: step must divide 16, so that 0 and −16 are in",
            "scales.paper.fourier.networks.logreg must be a mapping, not 3",
            "scales.mine must be a mapping, not 3",
        ]
    )
