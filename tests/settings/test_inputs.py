"""The height and width of an architecture's inputs: what follows them, and what is said where something cannot."""

import pytest
from documents import changed, sentences

from pipeline.settings import plans

SMALL = {"network": "logreg", "side": 64, "input": [64, 48]}


@pytest.fixture
def document(shipped):
    """The smoke scale with a network of 64×48 pixels in all experiments on directions."""
    smoke = shipped["scales"]["smoke"]
    shipped |= {"scale": "smoke", "scales": {"smoke": smoke}}
    shipped["architectures"]["wide"] = dict(SMALL)
    shipped["nad_sweep"]["sigma"]["wide"] = shipped["image_pairs"]["sigma"]["wide"] = 1.0
    smoke["nads"]["wide"] = 2
    for name in ("linear_pairs", "nad_sweep"):
        smoke[name]["networks"]["wide"] = {"indices": [0, 3071]}
    for name in ("fourier", "convergence"):
        smoke[name]["networks"]["wide"] = {"step": 8}
    return shipped


def test_nads_and_experiments_have_the_inputs_of_their_architecture(document):
    found = plans(document)["smoke"]
    assert found.nads.members["wide"].source.input == (1, 64, 48)
    assert found.nads.members["lenet"].source.input == (1, 32, 32)
    for name in ("linear_pairs", "nad_sweep", "fourier", "convergence"):
        members = found.experiments[name].members
        assert members["wide"].input == (64, 48) and members["lenet"].input == (32, 32)
        assert members["wide"].specification == {"network": "pipeline.networks.mlp:LogReg", "side": 64}


def test_images_have_the_size_of_the_networks_that_are_trained_on_them(document):
    assert plans(document)["smoke"].images.size == (32, 32)
    lines = {"image_pairs": {"indices": [1, 3071]}, "poison": {"indices": [3070], "mixture_indices": []}, "flip": {}}
    for name, line in lines.items():
        document["scales"]["smoke"][name]["networks"] = {"wide": line}
    found = plans(document)["smoke"]
    assert found.images.size == (64, 48) and found.experiments["fourier"].members["lenet"].input == (32, 32)
    document["scales"]["smoke"]["poison"]["networks"]["wide"]["indices"] = [3071]
    (sentence,) = sentences(document)
    assert sentence == f"{AT}.poison.networks.wide: ten classes take two NADs, so the last index is 3070, not 3071"


AT = "params.yaml: scales.smoke"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            "architectures/wide/input",
            64,
            "params.yaml: architectures.wide.input must be a list, not 64",
        ),
        (
            "architectures/wide/input",
            [3, 64, 64],
            "params.yaml: architectures.wide: input must be [height, width], not [3, 64, 64]",
        ),
        (
            "architectures/wide/input",
            [0, 64],
            "params.yaml: architectures.wide: input must be [height, width], not [0, 64]",
        ),
        (
            "architectures/wide/input",
            [2000, 2000],
            "params.yaml: architectures.wide: input must be of at most 1,000,000 pixels, not 4,000,000",
        ),
        (
            "scales/smoke/nad_sweep/networks/wide/indices",
            [3072],
            f"{AT}.nad_sweep.networks.wide: NAD index 3072 is out of range; indices run from 0 to 3071",
        ),
        (
            "scales/smoke/fourier/networks/wide/step",
            16,
            f"{AT}.fourier.networks.wide: step must divide 24, so that 0 and −24 are in",
        ),
        (
            "scales/smoke/nads/wide",
            {"networks": 2, "input": [3, 64, 48]},
            f"{AT}.linear_pairs.networks.wide: its NADs are for inputs 3×64×48; experiments have channels of 64×48",
        ),
        (
            "scales/smoke/nads/lenet",
            {"networks": 2, "input": [1, 64, 64]},
            f"{AT}.flip.networks.lenet: its NADs are for inputs 1×64×64; experiments have channels of 32×32; "
            "give the architecture input: [64, 64]",
        ),
        (
            "scales/smoke/image_pairs/networks/wide",
            {"indices": [1]},
            f"{AT}: all images of a scale have one size, the inputs of the networks trained on them, but those of lenet in "
            "flip have 32×32 pixels and those of wide in image_pairs have 64×48 pixels; name networks of one `input` in "
            "image_pairs, poison and flip",
        ),
        (
            "scales/smoke/linear_pairs/train_samples",
            1_000_000,
            f"{AT}.linear_pairs: the data of one seed would take 32.8 GB, more than 16; ask for fewer samples or seeds",
        ),
    ],
)
def test_what_does_not_fit_the_inputs_is_said(document, path, value, sentence):
    assert sentences(changed(document, path, value))[0] == sentence
