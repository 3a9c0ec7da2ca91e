"""Every wrong value of params.yaml ends with one sentence that names the file, the place, what is wrong and what to do."""

import re

import pytest
from documents import GONE, changed, renamed, sentences

from pipeline import networks
from pipeline.settings import plans
from pipeline.settings.bounds import CELLS, NAME
from pipeline.settings.typed import LONGEST, Mistakes, joined, shown

HUGE = 10**399
LINEAR = "scales/laptop/linear_pairs"
LENET = f"{LINEAR}/networks/lenet"
AT = "scales.laptop.linear_pairs"
LINE = f"{AT}.networks.lenet"
NADS = "scales/laptop/nads/lenet"
SOURCE = "scales.laptop.nads.lenet"
TOP = "seed, images, estimator, architectures, device, reuse, scale, eps1, eps2, sigma, convergence, fourier, image_pairs, nad_sweep, poison, scales"
BLOCKS = "convergence, flip, fourier, image_pairs, linear_pairs, nad_sweep, poison"
ADJUST = "let it begin with a letter and go on with up to 63 letters, digits, _ and -, and not be a word such as none, true or con"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        # The top level.
        ("epz2", 0.3, ": unknown key 'epz2'; did you mean 'eps2'?"),
        ("colour", 1, f": unknown key 'colour'; known are: {TOP}."),
        ("eps2", GONE, ": the key 'eps2' is missing"),
        ("images", GONE, ": the key 'images' is missing"),
        ("scales", GONE, ": the key 'scales' is missing"),
        ("fourier", GONE, ": the key 'fourier' is missing"),
        ("scale", GONE, ": the key 'scale' is missing"),
        ("architectures", GONE, ": the key 'architectures' is missing"),
        ("eps2", "0.3", ": eps2 must be a finite number, not '0.3'"),
        ("eps1", True, ": eps1 must be a finite number, not True"),
        ("eps1", None, ": eps1 must be a finite number, not None"),
        ("eps1", [1.0], ": eps1 must be a finite number, not [1.0]"),
        ("eps1", -0.5, ": eps1 must not be negative, not -0.5"),
        ("eps2", -1, ": eps2 must not be negative, not -1.0"),
        ("eps1", float("nan"), ": eps1 must not be negative, not nan"),
        ("eps2", 1_000_001, ": eps2 must be at most 1,000,000, not 1000001.0"),
        ("sigma", 0, ": sigma must be positive, not 0.0"),
        ("sigma", float("nan"), ": sigma must be positive, not nan"),
        ("sigma", 1e300, ": sigma must be at most 1,000,000, not 1e+300"),
        ("sigma", HUGE, ": sigma must be at most 1,000,000, not inf"),
        ("seed", 1.5, ": seed must be a whole number, not 1.5"),
        ("seed", 1.0, ": seed must be a whole number, not 1.0"),
        ("seed", False, ": seed must be a whole number, not False"),
        ("seed", -1, ": seed must lie between 0 and 1,000,000,000, not -1"),
        ("seed", 10**9 + 1, ": seed must lie between 0 and 1,000,000,000, not 1000000001"),
        ("scale", "lapptop", ": scale 'lapptop' is not one of smoke, laptop, overnight, paper"),
        ("scale", ["smoke"], ": scale must be text, not ['smoke']"),
        ("scale", None, ": scale must be text, not None"),
        ("device", "gpu", ": device must be one of auto, cpu, cuda, not 'gpu'"),
        ("device", {"cpu": 1}, ": device must be one of auto, cpu, cuda, not {'cpu': 1}"),
        ("reuse", "yes", ": reuse must be true or false, not 'yes'"),
        ("reuse", 1, ": reuse must be true or false, not 1"),
        ("linear_pairs", {}, ": linear_pairs has no block of its own; take it away, its sizes stand in the scales"),
        ("flip", None, ": flip has no block of its own; take it away, its sizes stand in the scales"),
        # Its blocks.
        ("images", 5, ": images must be a mapping, not 5"),
        ("images/path", 5, ": images.path must be text, not 5"),
        ("images/path", GONE, ": images: the key 'path' is missing"),
        ("images/url", None, ": images.url must be text, not None"),
        ("images/fallback", "mnist", ": images.fallback must be one of digits, null, not 'mnist'"),
        ("images/urll", "x", ": images: unknown key 'urll'; did you mean 'url'?"),
        ("images/colour", 1, ": images: unknown key 'colour'; known are: path, url, fallback."),
        ("estimator", [], ": estimator must be a mapping, not []"),
        ("estimator/step", -1, ": estimator: step must be positive, not -1.0"),
        ("estimator/step", 1e-4, ": estimator: step must lie between 0.001 and 1e+06, not 0.0001"),
        ("estimator/step", 1e300, ": estimator: step must lie between 0.001 and 1e+06, not 1e+300"),
        ("estimator/step", HUGE, ": estimator: step must be positive, not inf"),
        ("estimator/step", "100", ": estimator.step must be a finite number, not '100'"),
        ("estimator/stepp", 1, ": estimator: unknown key 'stepp'; did you mean 'step'?"),
        ("estimator/estimand", "secants", ": estimator.estimand must be one of secant, gradient, not 'secants'"),
        ("estimator/method", None, ": estimator.method must be one of readout, plain, not None"),
        ("estimator/point", 0, ": estimator.point must be one of normal, many, zero, not 0"),
        ("estimator/compare", "yes", ": estimator.compare must be true or false, not 'yes'"),
        (
            "estimator/estimand",
            "gradient",
            ": estimator: symmetry does not hold for the gradient at one fixed image; "
            "set symmetry: false, or point: many or zero",
        ),
        ("fourier", None, ": fourier must be a mapping, not None"),
        ("fourier/eps", -1.0, ": fourier: eps must not be negative, not -1.0"),
        ("fourier/sigma", 0.0, ": fourier: sigma must be positive, not 0.0"),
        ("fourier/sigmas", 1.0, ": fourier: unknown key 'sigmas'; did you mean 'sigma'?"),
        ("image_pairs/eps", "one", ": image_pairs.eps must be a finite number, not 'one'"),
        ("image_pairs/eps", 1e7, ": image_pairs: eps must be at most 1,000,000, not 10000000.0"),
        ("image_pairs/sigma", 1.0, ": image_pairs.sigma must be a mapping, not 1.0"),
        ("image_pairs/sigma/lenet", "wide", ": image_pairs.sigma.lenet must be a finite number, not 'wide'"),
        ("image_pairs/sigma/lenet", -1.0, ": image_pairs: sigma.lenet must be positive, not -1.0"),
        ("image_pairs/sigma/lenet", GONE, ": image_pairs: sigma has no value for lenet, which the grid trains"),
        ("nad_sweep/sigma/vgg11", GONE, ": nad_sweep: sigma has no value for vgg11, which the grid trains"),
        ("nad_sweep/sigma/lenet", 1e7, ": nad_sweep: sigma.lenet must be at most 1,000,000, not 10000000.0"),
        ("poison/size", 0, ": poison: size must be positive, not 0.0"),
        ("poison/size", 1e300, ": poison: size must be at most 1,000,000, not 1e+300"),
        # Architectures.
        ("architectures", None, ": architectures must be a mapping, not None"),
        ("architectures", {}, ": architectures is empty; name at least one network"),
        ("architectures/lenet", 5, ": architectures.lenet must be a mapping, not 5"),
        (
            "architectures/lenet",
            {"network": "lenet7"},
            ": architectures.lenet: the network 'lenet7' is unknown; did you mean 'lenet'? "
            "One of your own is named package.module:name, a library's torchvision.models:name or timm:name",
        ),
        (
            "architectures/lenet",
            {},
            ": architectures.lenet: the network None is unknown; known are: "
            f"{', '.join(networks.NETWORKS)}. One of your own is named package.module:name, a library's torchvision.models:name "
            "or timm:name",
        ),
        ("architectures/my net", {"network": "lenet"}, f": architectures: 'my net' is no name; {ADJUST}"),
        ("architectures/a.gradient", {"network": "lenet"}, f": architectures: 'a.gradient' is no name; {ADJUST}"),
        ("architectures/NaN", {"network": "lenet"}, f": architectures: 'NaN' is no name; {ADJUST}"),
        # Scales.
        ("scales", [], ": scales must be a mapping, not []"),
        ("scales", {}, ": scales is empty; name at least one scale"),
        ("scales/laptop", None, ": scales.laptop must be a mapping, not None"),
        (
            "scales/paper/precision",
            "float16",
            ": scales.paper.precision must be one of float32, bfloat16, not 'float16'",
        ),
        ("scales/smoke/precision", GONE, ": scales.smoke: the key 'precision' is missing"),
        ("scales/smoke/nads", GONE, ": scales.smoke: the key 'nads' is missing"),
        ("scales/smoke/nads", 5, ": scales.smoke.nads must be a mapping, not 5"),
        ("scales/smoke/flip", GONE, ": scales.smoke: the key 'flip' is missing"),
        ("scales/smoke/flop", {}, ": scales.smoke: unknown key 'flop'; did you mean 'flip'?"),
        ("scales/smoke/colour", {}, f": scales.smoke: unknown key 'colour'; known are: precision, nads, {BLOCKS}."),
        # Sources of NADs.
        ("scales/laptop/nads/lenett", 8, ": scales.laptop.nads: unknown architecture 'lenett'; did you mean 'lenet'?"),
        (NADS, 1, f": {SOURCE}: networks must be at least 2 (halves are compared), not 1"),
        (NADS, 1_000_001, f": {SOURCE}: networks must be at most 1,000,000, not 1000001"),
        (NADS, True, f": {SOURCE} must be a mapping, not True"),
        (NADS, 8.0, f": {SOURCE} must be a mapping, not 8.0"),
        (NADS, "many", f": {SOURCE} must be a mapping, not 'many'"),
        (NADS, None, f": {SOURCE} must be a mapping, not None"),
        (NADS, {"networks": "8"}, f": {SOURCE}.networks must be a whole number, not '8'"),
        (NADS, {"network": 4}, f": {SOURCE}: unknown key 'network'; did you mean 'networks'?"),
        (NADS, {"error": 0.1}, f": {SOURCE}: the key 'networks' (or 'file') is missing"),
        (NADS, {"networks": 9, "error": 2.0}, f": {SOURCE}: error must lie between 0 and 1, not 2.0"),
        (NADS, {"networks": 9, "error": 1}, f": {SOURCE}: error must lie between 0 and 1, not 1.0"),
        (
            NADS,
            {"networks": 9, "file": "a.npy"},
            f": {SOURCE}: give either file, or networks with error and first, not both",
        ),
        (NADS, {"file": 5}, f": {SOURCE}.file must be text, not 5"),
        (
            NADS,
            {"networks": 9, "input": [32, 32]},
            f": {SOURCE}: input must be [channels, height, width], not (32, 32)",
        ),
        (NADS, {"networks": 9, "input": 32}, f": {SOURCE}.input must be a list, not 32"),
        (NADS, {"networks": 9, "input": [1, 32, 32.5]}, f": {SOURCE}.input must be a whole number, not 32.5"),
        (
            NADS,
            {"networks": 9, "input": [1, 10**9, 10**9]},
            f": {SOURCE}: input must hold at most 1,000,000 values, not {10**18}",
        ),
        (NADS, {"networks": 9, "first": 2000}, f": {SOURCE}: first must lie between 1 and 1024, not 2000"),
        (
            NADS,
            {"networks": 9, "first": 1024, "input": [1, 1000, 1001]},
            f": {SOURCE}: input must hold at most 1,000,000 values, not 1001000",
        ),
        # Sizes of an experiment.
        (LINEAR, None, f": {AT} must be a mapping, not None"),
        (f"{LINEAR}/seeds", 0, f": {AT}: seeds must be at least 1, not 0"),
        (f"{LINEAR}/seeds", 10**12, f": {AT}: seeds must be at most 10,000, not {10**12}"),
        (f"{LINEAR}/seeds", GONE, f": {AT}: the key 'seeds' is missing"),
        (f"{LINEAR}/seeds", [1], f": {AT}.seeds must be a whole number, not [1]"),
        (f"{LINEAR}/seed", 1, f": {AT}: unknown key 'seed'; did you mean 'seeds'?"),
        (
            f"{LINEAR}/train_samples",
            1025,
            f": {AT}: train_samples must not be 1025: batches are of 128, so the last would be of one sample, which batch norm "
            "cannot take",
        ),
        (f"{LINEAR}/train_samples", 10**12, f": {AT}: train_samples must be at most 1,000,000, not {10**12}"),
        (f"{LINEAR}/test_samples", 1_000_001, f": {AT}: test_samples must be at most 1,000,000, not 1000001"),
        (f"{LINEAR}/train_samples", 0, f": {AT}: train_samples must be at least 1, not 0"),
        (f"{LINEAR}/test_samples", -5, f": {AT}: test_samples must be at least 1, not -5"),
        (f"{LINEAR}/networks", GONE, f": {AT}: the key 'networks' is missing"),
        (f"{LINEAR}/networks", {}, f": {AT}.networks is empty; name at least one architecture"),
        (f"{LINEAR}/networks", ["lenet"], f": {AT}.networks must be a mapping, not ['lenet']"),
        (f"{LINEAR}/training", 5, f": {AT}.training must be a mapping, not 5"),
        (f"{LINEAR}/training", None, f": {AT}.training must be a mapping, not None"),
        (f"{LINEAR}/training/lr", "fast", f": {AT}.training.lr must be a finite number, not 'fast'"),
        (f"{LINEAR}/training/lr", 0, f": {AT}.training: lr must be positive, not 0.0"),
        (f"{LINEAR}/training/momentun", 0, f": {AT}.training: unknown key 'momentun'; did you mean 'momentum'?"),
        (
            f"{LINEAR}/training/indices",
            [0],
            f": {AT}.training: unknown key 'indices'; known are: epochs, lr, momentum, weight_decay, clip.",
        ),
        (
            f"{LINEAR}/training/epochs",
            GONE,
            f": {AT}.training: the key 'epochs' is missing; give it here, or in the line of resnet18_narrow, lenet, mlp_100_20",
        ),
        # An architecture's line.
        (
            f"{LINEAR}/networks/vgg",
            {"indices": [1]},
            f": {AT}.networks: unknown architecture 'vgg'; did you mean 'vgg11'?",
        ),
        (
            f"{LINEAR}/networks/resnet18",
            {"indices": [1]},
            f": {AT}.networks.resnet18: it has no NADs at this scale; name it under nads",
        ),
        (LENET, None, f": {LINE} must be a mapping, not None"),
        (LENET, [1], f": {LINE} must be a mapping, not [1]"),
        (f"{LENET}/epochs", 0, f": {LINE}: epochs must be at least 1, not 0"),
        (f"{LENET}/epochs", 10_001, f": {LINE}: epochs must be at most 10,000, not 10001"),
        (f"{LENET}/epochs", 2.0, f": {LINE}.epochs must be a whole number, not 2.0"),
        (f"{LENET}/lr", "1e-5", f": {LINE}.lr must be a finite number, not '1e-5'"),
        (f"{LENET}/lr", 1e300, f": {LINE}: lr must be at most 1,000, not 1e+300"),
        (f"{LENET}/lr", float("nan"), f": {LINE}: lr must be positive, not nan"),
        (f"{LENET}/momentum", 1, f": {LINE}: momentum must lie in [0, 1), not 1.0"),
        (f"{LENET}/weight_decay", -1, f": {LINE}: weight_decay must not be negative, not -1.0"),
        (f"{LENET}/weight_decay", HUGE, f": {LINE}: weight_decay must be at most 1,000, not inf"),
        (f"{LENET}/epoch", 3, f": {LINE}: unknown key 'epoch'; did you mean 'epochs'?"),
        (
            f"{LENET}/schedule",
            "linear",
            f": {LINE}: unknown key 'schedule'; known are: epochs, lr, momentum, weight_decay, clip, indices, seeds.",
        ),
        (f"{LENET}/indices", GONE, f": {LINE}: the key 'indices' is missing"),
        (f"{LENET}/indices", [], f": {LINE}: indices is empty; name at least one NAD index"),
        (f"{LENET}/indices", 5, f": {LINE}.indices must be a list, not 5"),
        (f"{LENET}/indices", None, f": {LINE}.indices must be a list, not None"),
        (f"{LENET}/indices", [1, "2"], f": {LINE}.indices must be a whole number, not '2'"),
        (f"{LENET}/indices", [1, True], f": {LINE}.indices must be a whole number, not True"),
        (f"{LENET}/indices", [1, 1024], f": {LINE}: NAD index 1024 is out of range; indices run from 0 to 1023"),
        (f"{LENET}/indices", [-1], f": {LINE}: NAD index -1 is out of range; indices run from 0 to 1023"),
        (f"{LENET}/indices", [7, 3, 7], f": {LINE}: indices repeat a value, 7"),
        (
            f"{LENET}/indices",
            [[0, 10**12, 1]],
            f": {LINE}.indices: the range [0, {10**12}, 1] holds more than 10,000 numbers",
        ),
        (
            f"{LENET}/indices",
            [[0, LONGEST, 1]],
            f": {LINE}.indices: the range [0, 10000, 1] holds more than 10,000 numbers",
        ),
        *(
            (
                f"{LENET}/indices",
                [wrong],
                f": {LINE}.indices: a range is [first, last, step] of whole numbers, not {wrong}",
            )
            for wrong in (
                [],
                [1, 2],
                [1, 2, 0],
                [1, 2, -1],
                [3, 2, 1],
                [1, 2, "x"],
                [1, 2.0, 1],
                [True, 2, 1],
                [1, 2, 3, 4],
            )
        ),
        (
            f"{LENET}/indices",
            [[0, 1023, 1]],
            f": {AT}: 3,145,752 networks would be trained, more than 100,000; ask for fewer seeds or places",
        ),
        (
            "scales/laptop/fourier/networks/lenet/step",
            3,
            ": scales.laptop.fourier.networks.lenet: step must divide 16, so that 0 and −16 are in",
        ),
        (
            "scales/laptop/fourier/networks/lenet/step",
            0,
            ": scales.laptop.fourier.networks.lenet: step must divide 16, so that 0 and −16 are in",
        ),
        (
            "scales/laptop/fourier/networks/lenet/step",
            -2,
            ": scales.laptop.fourier.networks.lenet: step must divide 16, so that 0 and −16 are in",
        ),
        (
            "scales/laptop/fourier/networks/lenet/step",
            32,
            ": scales.laptop.fourier.networks.lenet: step must divide 16, so that 0 and −16 are in",
        ),
        (
            "scales/laptop/flip/networks/lenet",
            {"seeds": 11_000},
            ": scales.laptop.flip.networks.lenet: seeds must be at most the experiment's 2, not 11000",
        ),
        (
            "scales/laptop/flip/networks/lenet",
            {"seeds": 0},
            ": scales.laptop.flip.networks.lenet: seeds must be at least 1, not 0",
        ),
        (
            "scales/laptop/flip/networks/lenet",
            {"seeds": "1"},
            ": scales.laptop.flip.networks.lenet.seeds must be a whole number, not '1'",
        ),
        (
            "scales/laptop/flip/networks/lenet",
            {"indices": [1]},
            ": scales.laptop.flip.networks.lenet: unknown key 'indices'; known are: epochs, lr, momentum, weight_decay, clip, seeds.",
        ),
        (
            "scales/smoke/poison/networks/lenet",
            {"indices": [], "mixture_indices": []},
            ": scales.smoke.poison.networks.lenet: indices and mixture_indices are both empty",
        ),
        (
            "scales/smoke/poison/networks/lenet/indices",
            [1023],
            ": scales.smoke.poison.networks.lenet: ten classes take two NADs, so the last index is 1022, not 1023",
        ),
        (
            "scales/smoke/poison/networks/lenet/mixture_indices",
            [2, 2],
            ": scales.smoke.poison.networks.lenet: mixture_indices repeat a value, 2",
        ),
        (
            "scales/smoke/poison/networks/lenet/mixture_indices",
            [-1],
            ": scales.smoke.poison.networks.lenet: NAD index -1 is out of range; indices run from 0 to 1023",
        ),
    ],
)
def test_a_wrong_value_is_refused_with_one_sentence(shipped, path, value, sentence):
    assert sentences(changed(shipped, path, value)) == [f"params.yaml{sentence}"]


def places(value, path=""):
    """The path of every key in a document, those of shared parts of lists left out."""
    for key, item in value.items():
        yield f"{path}{key}"
        if isinstance(item, dict):
            yield from places(item, f"{path}{key}/")


def names_of_ones_own(path):
    """Whether the last key of a path is a name that the user chose, or an argument of a network."""
    parent, _, _ = path.rpartition("/")
    return (
        parent in ("architectures", "scales")
        or parent.endswith(("networks", "nads", "sigma"))
        or path.count("architectures/")
    )


def test_a_misspelt_key_gives_one_sentence_wherever_it_stands(shipped):
    del shipped["scales"]["paper"], shipped["scales"]["laptop"]
    shipped["scale"] = "smoke"
    paths = [path for path in places(shipped) if not names_of_ones_own(path)]
    assert len(paths) > 60
    for path in paths:
        *_, last = path.split("/")
        (sentence, *others) = sentences(renamed(shipped, path, f"{last}x"))
        assert sentence.endswith(f": unknown key '{last}x'; did you mean {last!r}?"), path
        assert not others, path


def test_one_misspelt_key_stands_for_one_that_is_missing(shipped):
    document = changed(renamed(shipped, f"{LINEAR}/train_samples", "tran_samples"), f"{LINEAR}/test_samples", GONE)
    assert sentences(document) == [
        f"params.yaml: {AT}: unknown key 'tran_samples'; did you mean 'train_samples'?",
        f"params.yaml: {AT}: the key 'test_samples' is missing",
    ]


def test_a_misspelt_source_is_not_missed_by_the_experiments(shipped):
    assert sentences(renamed(shipped, "scales/laptop/nads/lenet", "lenets")) == [
        "params.yaml: scales.laptop.nads: unknown architecture 'lenets'; did you mean 'lenet'?"
    ]


def test_a_source_that_is_gone_is_missed_by_every_experiment_that_needs_it(shipped):
    assert sentences(changed(shipped, "scales/smoke/nads/mlp_100_20", GONE)) == [
        "params.yaml: scales.smoke.linear_pairs.networks.mlp_100_20: it has no NADs at this scale; name it under nads"
    ]
    found = sentences(changed(shipped, "scales/laptop/nads/lenet", GONE))
    assert [sentence.split(".")[3] for sentence in found] == [
        "flip",
        "image_pairs",
        "linear_pairs",
        "nad_sweep",
        "poison",
    ]


def test_several_mistakes_are_said_at_once_each_once(shipped):
    document = changed(shipped, "epz2", 1)
    for path, value in (
        ("eps1", "one"),
        ("seed", -1),
        ("images/fallback", "mnist"),
        ("estimator/stepp", 1),
        ("estimator/compare", "yes"),
        ("fourier/eps", -1),
        ("architectures/mine", {"network": "mine"}),
        ("architectures/other", 5),
        ("scales/laptop/precision", "half"),
        ("scales/laptop/nads/lenet", 1),
        ("scales/laptop/linear_pairs/seeds", "one"),
        ("scales/laptop/linear_pairs/training/lr", -1),
        ("scales/laptop/linear_pairs/training/epoch", 3),
        ("scales/laptop/linear_pairs/networks/lenet/indices", [[1, 2]]),
        ("scales/laptop/linear_pairs/networks/mlp_100_20/epochs", 0),
        ("scales/laptop/linear_pairs/networks/mlp_100_20/indices", [-1]),
        ("scales/laptop/linear_pairs/networks/densenet", {"indices": [[1, 2]]}),
        ("scales/paper/nads", None),
        ("scales/paper/linear_pairs", GONE),
        ("scales/paper/flip/networks", GONE),
        ("scales/paper/flip/colour", 1),
        ("scales/paper/fourier/networks/lenet/step", 3),
        ("scales/paper/fourier/networks/logreg", 3),
        ("scales/mine", 3),
    ):
        document = changed(document, path, value)
    at = "params.yaml: scales.laptop.linear_pairs"
    assert sentences(document) == [
        "params.yaml: unknown key 'epz2'; did you mean 'eps2'?",
        "params.yaml: estimator: unknown key 'stepp'; did you mean 'step'?",
        "params.yaml: images.fallback must be one of digits, null, not 'mnist'",
        "params.yaml: estimator.compare must be true or false, not 'yes'",
        "params.yaml: architectures.other must be a mapping, not 5",
        "params.yaml: fourier: eps must not be negative, not -1.0",
        "params.yaml: eps1 must be a finite number, not 'one'",
        "params.yaml: architectures.mine: the network 'mine' is unknown; known are: "
        f"{', '.join(networks.NETWORKS)}. One of your own is named package.module:name, a library's torchvision.models:name or timm:name",
        "params.yaml: scales.laptop.precision must be one of float32, bfloat16, not 'half'",
        "params.yaml: scales.laptop.nads.lenet: networks must be at least 2 (halves are compared), not 1",
        f"{at}.seeds must be a whole number, not 'one'",
        f"{at}.training: unknown key 'epoch'; did you mean 'epochs'?",
        f"{at}.training: lr must be positive, not -1.0",
        f"{at}.networks: unknown architecture 'densenet'; did you mean 'densenet121'?",
        f"{at}.networks.lenet.indices: a range is [first, last, step] of whole numbers, not [1, 2]",
        f"{at}.networks.mlp_100_20: epochs must be at least 1, not 0",
        f"{at}.networks.mlp_100_20: NAD index -1 is out of range; indices run from 0 to 1023",
        f"{at}.networks.densenet.indices: a range is [first, last, step] of whole numbers, not [1, 2]",
        "params.yaml: scales.paper: the key 'linear_pairs' is missing",
        "params.yaml: scales.paper.nads must be a mapping, not None",
        "params.yaml: scales.paper.flip: unknown key 'colour'; known are: "
        "seeds, train_samples, test_samples, training, networks.",
        "params.yaml: scales.paper.flip: the key 'networks' is missing",
        "params.yaml: scales.paper.fourier.networks.logreg must be a mapping, not 3",
        "params.yaml: scales.paper.fourier.networks.lenet: step must divide 16, so that 0 and −16 are in",
        "params.yaml: scales.mine must be a mapping, not 3",
    ]


def test_where_nothing_can_be_told_of_the_scales_the_rest_is_said(shipped):
    for path, value, sentence in (
        ("architectures", 5, "architectures must be a mapping, not 5"),
        ("architectures", {}, "architectures is empty; name at least one network"),
        ("scales", 5, "scales must be a mapping, not 5"),
    ):
        document = changed(changed(shipped, path, value), "eps1", "one")
        assert sorted(sentences(document)) == sorted(
            [f"params.yaml: {sentence}", "params.yaml: eps1 must be a finite number, not 'one'"]
        )


def test_nads_that_cannot_serve_an_experiment(shipped):
    def said(source):
        return sentences(changed(shipped, "scales/smoke/nads/lenet", source))

    line = "params.yaml: scales.smoke.{}.networks.lenet: "
    assert said({"networks": 9, "first": 1000}) == [
        line.format(name) + f"NAD {last} is not among the first 1000; give nads a larger first"
        for name, last in (
            ("flip", 1023),
            ("image_pairs", 1000),
            ("linear_pairs", 1000),
            ("nad_sweep", 1000),
            ("poison", 1021),
        )
    ]
    assert said({"networks": 9, "first": 1001}) == [
        line.format(name) + f"NAD {last} is not among the first 1001; give nads a larger first"
        for name, last in (("flip", 1023), ("poison", 1021))
    ]
    for source in ({"networks": 9, "input": [3, 16, 64]}, {"file": "mine.npy", "input": [3, 16, 64]}):
        assert said(source) == [
            line.format(name) + "its NADs are for inputs 3×16×64; experiments have channels of 32×32"
            for name in ("flip", "image_pairs", "linear_pairs", "nad_sweep", "poison")
        ]


def test_nads_of_other_inputs_serve_where_no_experiment_takes_them(shipped):
    document = changed(shipped, "scales/smoke/nads/vgg11_narrow", {"networks": 4, "input": [3, 64, 64], "first": 7})
    source = plans(document)["smoke"].nads.members["vgg11_narrow"].source
    assert (source.input, source.first) == ((3, 64, 64), 7)


def test_every_sigma_that_is_missing_is_named(shipped):
    document = changed(shipped, "image_pairs/sigma", {"lenet": 1.0})
    assert sentences(document) == [
        "params.yaml: image_pairs: sigma has no value for resnet18_narrow, mlp_200_50, which the grid trains",
        "params.yaml: image_pairs: sigma has no value for resnet18_quarter, mlp_200_50, which the grid trains",
        "params.yaml: image_pairs: sigma has no value for resnet18, mlp_200_50, which the grid trains",
    ]


def test_names_that_files_and_tables_can_hold():
    for name in ("lenet", "n", "N2", "a-b_c", "nano", "nan_2", "nullity", "trues", "cone", "com", "com10", "a" * 64):
        assert NAME.fullmatch(name), name
    words = ("nan", "NA", "na", "null", "None", "TRUE", "False", "inf", "Infinity", "CON", "nul", "com1", "LPT9", "aux")
    for name in ("", "2n", "_a", "-a", "a b", "a.b", "a/b", "a\n", "é", "aé", "a" * 65, *words):
        assert not NAME.fullmatch(name), name


def test_wrong_names_are_said_to_be_none(shipped):
    for path in ("architectures/lenet", "scales/paper"):
        parent, _, old = path.partition("/")
        found = sentences(renamed(shipped, path, "a\nb"))
        assert found[0] == f"params.yaml: {parent}: 'a\\nb' is no name; {ADJUST}"
        assert all(
            re.match(
                r"params\.yaml: ((scales\.\w+|image_pairs|nad_sweep)\.\S+: unknown architecture|architectures|scales: )",
                s,
            )
            for s in found
        )


def test_a_grid_may_be_as_large_as_it_is_allowed(shipped):
    line = "scales/smoke/nad_sweep/networks/lenet/indices"
    document = changed(changed(shipped, line, list(range(25))), "scales/smoke/nad_sweep/seeds", 2000)
    assert len(plans(document)["smoke"].experiments["nad_sweep"].seeds) == 2000, (
        "both estimands: 2 · 25 · 2000 networks"
    )
    assert CELLS == 2 * 25 * 2000
    document = changed(document, "scales/smoke/nad_sweep/seeds", 2001)
    assert sentences(document) == [
        "params.yaml: scales.smoke.nad_sweep: 100,050 networks would be trained, more than 100,000; "
        "ask for fewer seeds or places"
    ]


def test_the_largest_values_that_are_allowed(shipped):
    for path, value in (
        ("seed", 0),
        ("seed", 10**9),
        ("eps1", 0),
        ("eps2", 1_000_000),
        ("sigma", 1_000_000),
        ("poison/size", 1_000_000),
        ("estimator/step", 0.001),
        ("estimator/step", 1e6),
        ("images/path", "mine.tar"),
        ("images/fallback", None),
        ("scales/smoke/linear_pairs/train_samples", 1_000_000),
        ("scales/smoke/linear_pairs/test_samples", 1_000_000),
        ("scales/smoke/linear_pairs/test_samples", 1),
        ("scales/smoke/linear_pairs/seeds", 10_000),
        ("scales/smoke/linear_pairs/training/epochs", 10_000),
        ("scales/smoke/linear_pairs/training/lr", 1_000),
        ("scales/smoke/linear_pairs/training/weight_decay", 1_000),
        ("scales/smoke/nads/lenet", {"networks": 1_000_000, "error": 0.5, "first": 1024}),
        ("scales/smoke/nads/vgg11", {"networks": 2, "input": [1, 1000, 1000], "first": 1_000_000}),
    ):
        assert plans(changed(shipped, path, value)), path


def test_a_place_is_written_with_dots():
    assert joined("params.yaml") == "params.yaml"
    assert joined("params.yaml", "a") == "params.yaml: a"
    assert joined("params.yaml", "a", "b", "c") == joined("params.yaml: a.b", "c") == "params.yaml: a.b.c"


def test_a_long_value_is_not_repeated_whole():
    assert shown("a" * 78) == repr("a" * 78)
    assert shown("a" * 79) == "'" + "a" * 78 + "…"
    assert len(shown([{"a": "b" * 1000}])) == 80


def test_whatever_the_user_wrote_a_sentence_is_one_line(shipped):
    (sentence,) = sentences(changed(shipped, "a\nb\r\n  c\u2028", 1))
    assert sentence.startswith("params.yaml: unknown key 'a\\nb")
    sentence, unknown = sentences(changed(shipped, "image_pairs/sigma/a\nb", "wide"))
    assert sentence == "params.yaml: image_pairs.sigma.a b must be a finite number, not 'wide'"
    assert unknown.startswith("params.yaml: image_pairs.sigma: unknown architecture 'a\\nb'; known are: resnet18, ")


def test_ranges_stand_in_lists_of_whole_numbers_alone():
    mistakes = Mistakes()
    assert mistakes.typed(tuple[int, ...], [1, [2, 4, 1]], "params.yaml: a") == (1, 2, 3, 4)
    assert mistakes.typed(tuple[str, ...], ["b", [2, 4, 1]], "params.yaml: a") is None
    assert mistakes.sentences == ["params.yaml: a must be text, not [2, 4, 1]"]


def test_an_unknown_kind_of_mistake_is_said_in_pydantics_words():
    mistakes = Mistakes()
    assert mistakes.typed(complex, "x", "params.yaml: z") is None
    (sentence,) = mistakes.sentences
    assert sentence.startswith("params.yaml: z: ")
    assert mistakes.typed(complex, "1j", "params.yaml: z") == 1j
