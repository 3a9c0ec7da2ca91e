"""Whatever is done to params.yaml, it ends in plans that can be carried out, or in sentences."""

import copy
import dataclasses
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structure import ROOT

from pipeline import experiments
from pipeline.grid.experiment import Plan
from pipeline.nads.plan import NADsPlan
from pipeline.project.errors import InputError
from pipeline.settings import parsed, plans, read
from pipeline.settings.bounds import CELLS
from pipeline.settings.typed import MOST
from tests.faults.params import leaves
from tests.faults.values import HOSTILE

TEXT = (ROOT / "params.yaml").read_text(encoding="utf-8")
SHIPPED = read(ROOT / "params.yaml")

SMOKE = SHIPPED | {"scale": "smoke", "scales": {"smoke": SHIPPED["scales"]["smoke"]}}

TWO_SCALES = SHIPPED | {"scales": {name: SHIPPED["scales"][name] for name in ("smoke", "laptop")}}

KEYS = st.sampled_from(
    ["lenet", "nads", "indices", "epochs", "file", "first", "input", "network", "training", "smoke", "sigma"]
) | st.text(max_size=5)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 1100),
    st.sampled_from([2**31, 2**63, -(2**63), 2**64, 10**12, 10**30, 10**399, -(10**399)]),
    st.floats(allow_nan=False, allow_infinity=False),  # others are refused when the file is read
    st.sampled_from([1e-320, 1e-45, 1e38, 1e300, -1e300]),
    st.text(max_size=8),
    KEYS,
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def inner(value):
    """Every mapping and list in a document that has entries."""
    if isinstance(value, (dict, list)) and value:
        yield value
        for item in list(value.values() if isinstance(value, dict) else value):
            yield from inner(item)


@st.composite
def mutated(draw):
    """The shipped document with one to three entries, at any depth, taken away, renamed, replaced, doubled or swapped."""
    document = copy.deepcopy(TWO_SCALES)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        places = list(inner(document))
        if not places:
            break
        # The first levels as often as all of the others.
        place = places[draw(st.integers(0, len(places) - 1) | st.integers(0, min(20, len(places) - 1)))]
        key = draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        change = draw(st.sampled_from(["take away", "rename", "replace", "adjust", "adjust", "double", "swap"]))
        if change == "take away":
            del place[key]
        elif change == "adjust" and type(place[key]) in (bool, int, float):
            place[key] = draw(
                {bool: st.booleans(), int: st.integers(0, 1023), float: st.floats(0, 2)}[type(place[key])]
            )
        elif change in ("replace", "adjust"):
            place[key] = draw(VALUES)
        elif change == "double" or (change == "rename" and isinstance(place, list)):
            if isinstance(place, list):
                place.insert(key, copy.deepcopy(place[key]))
            else:
                place[draw(KEYS)] = copy.deepcopy(place[key])
        elif change == "rename":
            name = draw(KEYS | st.just(f"{key}s") | st.just(key[1:]))
            place[name] = place.pop(key)
        else:
            other = places[draw(st.integers(0, len(places) - 1))]
            other_key = draw(st.sampled_from(list(other) if isinstance(other, dict) else range(len(other))))
            # Copies, as a mapping that comes to stand within itself could not be read from a file.
            place[key], other[other_key] = copy.deepcopy(other[other_key]), copy.deepcopy(place[key])
    return document


def check_plans(found):
    """Assert that plans are what the other stages can read and carry out."""
    for scale, asked in found.items():
        assert asked.nads.scale == scale
        assert NADsPlan.read(json.loads(json.dumps(dataclasses.asdict(asked.nads), allow_nan=False))) == asked.nads
        for name, plan in asked.experiments.items():
            experiment = experiments.find(name)
            document = json.loads(json.dumps(dataclasses.asdict(plan), allow_nan=False))
            assert Plan.read(experiment, document) == plan
            assert plan.members
            assert plan.train_samples * plan.test_samples * len(plan.seeds) > 0
            cells = sum(1 for member in plan.members.values() for _ in experiment.places(member)) * len(plan.seeds)
            assert 0 < cells <= CELLS
            for architecture, member in plan.members.items():
                assert ":" in member.specification["network"]
                values = experiment.values(plan, architecture)
                assert all(abs(value) <= 1e6 for value in values.values())
                if experiment.needs_nads:
                    assert asked.nads.members[architecture].source.covers(member.grid.last())


def check_sentences(error, where="params.yaml"):
    """Assert that a refusal is lines, each a sentence that begins with the file, none said twice."""
    said = str(error).split("\n")
    assert all(sentence.startswith(where) and len(sentence.split()) > 3 for sentence in said), said
    assert len(set(said)) == len(said) <= MOST + 1
    assert "Traceback" not in str(error)
    assert len(str(error).splitlines()) == len(said), "no other ends of lines"


@settings(derandomize=True, deadline=None, max_examples=70, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_a_document_changed_anywhere_gives_plans_or_sentences(document):
    before = copy.deepcopy(document)
    try:
        found = plans(document)
    except InputError as error:
        check_sentences(error)
    else:
        check_plans(found)
        assert next(iter(found)) == document["scale"]
    assert repr(document) == repr(before)


LEAVES = list(leaves(SMOKE))


@settings(derandomize=True, deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(LEAVES), st.sampled_from(HOSTILE), st.booleans())
def test_a_hostile_value_anywhere_gives_plans_or_sentences(path, value, as_a_key):
    document = place = copy.deepcopy(SMOKE)
    *parents, last = path
    for key in parents:
        place = place[key]
    if as_a_key and isinstance(value, str):
        place[value] = place.pop(last)
    else:
        place[last] = copy.deepcopy(value)
    try:
        check_plans(plans(document))
    except InputError as error:
        check_sentences(error)


@settings(derandomize=True, deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_text_changed_anywhere_gives_plans_or_sentences(data):
    lines = TEXT.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    change = data.draw(st.sampled_from(["take away", "double", "swap", "cut", "insert"]))
    if change == "take away":
        del lines[at]
    elif change == "double":
        lines.insert(at, lines[at])
    elif change == "swap":
        other = data.draw(st.integers(0, len(lines) - 1))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        column = data.draw(st.integers(0, len(lines[at]) - 1))
        inserted = (
            "" if change == "cut" else data.draw(st.text(":,[]{}-&*!|>'\"%@`#?~.e0 \n\t", min_size=1, max_size=3))
        )
        lines[at] = lines[at][:column] + inserted + lines[at][column + (change == "cut") :]
    try:
        check_plans(plans(parsed("".join(lines))))
    except InputError as error:
        check_sentences(error)
