"""What nobody means, in the numbers and the names of params.yaml: one sentence, at once, whatever it would take to carry it out."""

import io

import pandas as pd
import pytest
from documents import changed, sentences

from pipeline.project.errors import InputError
from pipeline.settings import plans
from pipeline.settings.bounds import NAME
from pipeline.settings.typed import LONGEST, MOST, SENTENCE, UNKNOWN, Mistakes
from tests.faults.values import NAMES

LINEAR = "scales/laptop/linear_pairs"
AT = "params.yaml: scales.laptop.linear_pairs"
INDICES = f"{LINEAR}/networks/lenet/indices"
LINE = f"{AT}.networks.lenet"
TWELVE = 10**12


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        # What takes more memory or time than there is.
        (INDICES, [[0, TWELVE, 1]], f"{LINE}.indices: the range [0, {TWELVE}, 1] holds more than 10,000 numbers"),
        (INDICES, [[0, TWELVE, 10**11]], f"{LINE}: NAD index {10**11} is out of range; indices run from 0 to 1023"),
        (
            INDICES,
            [[0, 9999, 1]] * 45_000,
            f"{LINE}.indices holds 450,000,000 numbers, its ranges written out, more than 10,000",
        ),
        (
            INDICES,
            [[0, LONGEST - 1, 1], 7],
            f"{LINE}.indices holds 10,001 numbers, its ranges written out, more than 10,000",
        ),
        (INDICES, [5] * 10_000, f"{LINE}: indices repeat a value, 5"),
        (
            INDICES,
            [[0, 1023, 1]],
            f"{AT}: 3,145,752 networks would be trained, more than 100,000; ask for fewer seeds or places",
        ),
        (f"{LINEAR}/seeds", TWELVE, f"{AT}: seeds must be at most 10,000, not {TWELVE}"),
        (f"{LINEAR}/train_samples", TWELVE, f"{AT}: train_samples must be at most 1,000,000, not {TWELVE}"),
        (f"{LINEAR}/training/epochs", 10**9, f"{AT}.training: epochs must be at most 10,000, not {10**9}"),
        ("seed", 2**70, f"params.yaml: seed must lie between 0 and 1,000,000,000, not {2**70}"),
        (
            "scales/laptop/nads/logreg",
            TWELVE,
            f"params.yaml: scales.laptop.nads.logreg: networks must be at most 1,000,000, not {TWELVE}",
        ),
        # Numbers of which nothing is left.
        ("estimator/step", 1e-30, "params.yaml: estimator: step must lie between 0.001 and 1e+06, not 1e-30"),
        ("sigma", 1e300, "params.yaml: sigma must be at most 1,000,000, not 1e+300"),
        # Settings of networks that there are not.
        (
            "image_pairs/sigma/lenett",
            1.0,
            "params.yaml: image_pairs.sigma: unknown architecture 'lenett'; did you mean 'lenet'?",
        ),
        ("nad_sweep/sigma/vgg", 1.0, "params.yaml: nad_sweep.sigma: unknown architecture 'vgg'; did you mean 'vgg11'?"),
    ],
)
def test_it_ends_with_one_sentence(shipped, path, value, sentence):
    assert sentences(changed(shipped, path, value)) == [sentence]


def test_data_that_no_machine_holds_are_refused_with_their_size(shipped):
    """Of two channels: 2 · 1024 · 4 bytes a sample."""
    small = "scales/smoke/linear_pairs"
    document = changed(shipped, f"{small}/train_samples", 1_000_000)
    assert plans(changed(document, f"{small}/test_samples", 953_125))
    assert sentences(changed(document, f"{small}/test_samples", 953_126)) == [
        "params.yaml: scales.smoke.linear_pairs: the data of one seed would take 16.0 GB, more than 16; ask for fewer samples or seeds"
    ]
    document = changed(changed(shipped, f"{small}/seeds", 1000), f"{small}/train_samples", 122_000)
    assert sentences(document) == [
        "params.yaml: scales.smoke.linear_pairs: the data of 1,000 seeds would take 1,001.5 GB, more than 1,000; "
        "ask for fewer samples or seeds"
    ]
    # Of pictures no more are drawn than there are.
    document = changed(shipped, "scales/smoke/image_pairs/train_samples", 1_000_000)
    assert plans(changed(document, "scales/smoke/image_pairs/test_samples", 1_000_000))


def with_one_more(document, block, name):
    """What is said of a document that has another architecture, or another scale."""
    return sentences(document | {block: document[block] | {name: list(document[block].values())[-1]}})


@pytest.mark.parametrize("block", ["architectures", "scales"])
@pytest.mark.parametrize("name", NAMES)
def test_names_that_no_file_and_no_table_can_hold(shipped, block, name):
    shipped["scales"] = {"smoke": shipped["scales"]["smoke"]}
    (sentence,) = with_one_more(shipped | {"scale": "smoke"}, block, name)
    assert sentence.startswith(f"params.yaml: {block}: '") and " is no name; let it begin with a letter" in sentence


@pytest.mark.parametrize(("block", "name"), [("architectures", "LeNet"), ("scales", "SMOKE")])
def test_names_that_are_one_file_on_some_machines(shipped, block, name):
    assert with_one_more(shipped, block, name) == [
        f"params.yaml: {block}: {name} differs from {name.lower()} in case alone, and some file systems hold one of them; rename it"
    ]


def test_names_come_back_from_a_table_as_they_are(shipped):
    """Of those that are like what pandas takes for a number, a truth value or nothing, as others read cells.csv too."""
    names = [
        "yes",
        "no",
        "on",
        "t",
        "f",
        "e5",
        "E5",
        "i",
        "j",
        "x-1",
        "a1e3",
        "n",
        "N-A",
        "nan_",
        "na-n",
        "none_",
        "nulls",
        "infs",
    ]
    names += [*shipped["architectures"]]
    assert all(map(NAME.fullmatch, names))
    for each in ([name] for name in names):
        table = io.StringIO(pd.DataFrame({"architecture": each}).to_csv(index=False))
        assert pd.read_csv(table)["architecture"].tolist() == each


def test_the_shipped_names_are_names(shipped):
    assert all(map(NAME.fullmatch, [*shipped["architectures"], *shipped["scales"]]))


def test_mistakes_without_end_are_counted(shipped):
    found = sentences(shipped | {f"key{n}": n for n in range(20_000)})
    assert len(found) == UNKNOWN + 1
    assert (
        found[0].startswith("params.yaml: unknown key 'key0'; ")
        and found[-1] == "params.yaml: and 19,980 more that are unknown"
    )
    found = sentences(changed(shipped, INDICES, [f"{n}" for n in range(10_000)]))
    assert len(found) == MOST + 1
    assert found[:1] == [f"{LINE}.indices must be a whole number, not '0'"]
    assert found[-1] == "params.yaml: and 9,950 more mistakes like these"


def test_a_sentence_has_an_end(shipped):
    (sentence,) = sentences(changed(shipped, "architectures/lenet", {"network": "x" * 100_000}))
    assert sentence == f"params.yaml: architectures.lenet: the network '{'x' * 2000}"[: SENTENCE - 1] + "…"


def test_as_many_mistakes_as_are_said():
    for count, last in ((MOST, f"here: {MOST - 1}"), (MOST + 1, "here: and 1 more mistakes like these")):
        mistakes = Mistakes()
        for number in range(count):
            mistakes.add(f"here: {number}")
        with pytest.raises(InputError, match=f"{last}$"):
            mistakes.end()
