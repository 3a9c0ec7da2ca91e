"""The numbers of the pages are those of small tables with known answers."""

import json

import pandas as pd
import pytest

from pipeline.project.errors import InputError
from studies import numbers, values

RUN = "nad_sweep/lenet"


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The folder in which the functions look, with one run: NADs 0, 16 and 1000, two seeds of the
    first."""
    monkeypatch.setattr(numbers, "KEPT", tmp_path)
    write(
        f"{RUN}/results.csv",
        "architecture,seed,index,test_set,accuracy,train_accuracy,steps",
        "lenet,0,0,all,0.98,1.0,1200",
        "lenet,1,0,all,1.0,1.0,1400",
        "lenet,0,16,all,0.75,0.995,20",
        "lenet,0,1000,all,0.5,0.7,",
    )
    write(f"{RUN}/spectra.csv", "index,value", "0,2.5")


@pytest.fixture
def papers(monkeypatch):
    """Published tables, by name, to be filled."""
    tables = {}
    monkeypatch.setattr(numbers.papers, "table", tables.__getitem__)
    return tables


def write(place, *lines):
    path = numbers.KEPT / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def test_rows_are_chosen_by_the_values_of_columns():
    assert numbers.rows(RUN, index=0, seed=1)["accuracy"].tolist() == [100]
    assert numbers.count(RUN, index=[0, 16]) == 3
    assert numbers.count(RUN, index=range(16, 1024)) == 2
    assert numbers.count([RUN, RUN]) == 8
    assert numbers.mean(f"{RUN}/spectra.csv", "value") == 2.5
    with pytest.raises(InputError, match="rows where {'index': 7}, and its table has none"):
        numbers.rows(RUN, index=7)


def test_means_ends_and_ranks_are_of_the_chosen_rows():
    assert numbers.mean(RUN, index=0) == 99
    assert numbers.std(RUN, index=0) == pytest.approx(2**0.5)
    assert (numbers.lowest(RUN), numbers.highest(RUN)) == (50, 100)
    assert numbers.fitted(RUN) == 3
    assert numbers.seeds_apart(RUN) == pytest.approx(2)
    assert numbers.along(RUN).to_dict() == {0: 99, 16: 75, 1000: 50}
    assert numbers.rho(RUN) == pytest.approx(-1)
    # What is never learned takes longest.
    assert numbers.steps(RUN).to_dict() == {0: 1300, 16: 20, 1000: float("inf")}
    assert numbers.never(RUN) == 1
    # Ranks of steps 2, 1, 3 beside those of accuracy 3, 2, 1.
    assert numbers.sooner(RUN, RUN) == pytest.approx(-0.5)


def test_text_has_one_number_where_there_is_one():
    assert numbers.with_spread(RUN, "steps", digits=0, index=0) == "1,300 ± 141"
    assert numbers.with_spread(RUN, index=16) == numbers.ends(RUN, index=16) == "75.0"
    assert numbers.ends(RUN) == "50.0 to 100.0" and numbers.means(RUN) == "50.0 to 99.0"
    cells = "99.0 (1,300) | 75.0 (20) | 50.0 (not fitted) | –"
    assert numbers.learned(RUN, "lenet", [0, 16, 1000, 7]) == cells
    shown = [numbers.shown(x) for x in (-0.25, 1369.0, 1369, -3, "as is", numbers.KEPT)]
    assert shown == ["−0.2", "1,369.0", "1,369", "−3", "as is", numbers.KEPT]
    assert numbers.shown(-0.968, 2) == "−0.97"


def test_ours_stand_beside_the_published_at_the_directions_of_both(papers):
    papers["nad_sweep"] = pd.DataFrame({"index": [0, 16, 18], "lenet": [96.0, 79.0, 0.0]})
    expected = {"ours": {0: 99, 16: 75}, "published": {0: 96, 16: 79}}
    assert numbers.beside(RUN, "lenet").to_dict() == expected
    assert numbers.apart(RUN, "lenet") == pytest.approx(12.5**0.5)
    assert numbers.above(RUN, "lenet") == -0.5
    assert numbers.furthest(RUN, "lenet") == 4


def test_waves_that_are_alike_to_a_network_stand_together(papers):
    assert numbers.wave(-4, 2, mirrored=True) == numbers.wave(-2, -4, mirrored=True) == (2, 4)
    alike = {numbers.wave(*k, mirrored=False) for k in ((-4, 2), (2, -4), (4, -2), (-2, 4))}
    assert alike == {(-4, 2)} and numbers.wave(-4, -2, mirrored=False) == (-4, -2)
    assert numbers.wave(-16, 2, mirrored=False) == numbers.wave(-16, -2, mirrored=False)
    lines = ["0,0,-4,2,0.9", "0,0,-2,4,0.8", "0,0,-4,4,0.7", "0,0,-2,-2,0.5"]
    write("fourier/a/results.csv", "architecture,seed,k_row,k_col,accuracy", *lines)
    rows = [(0, 4, 99.0), (0, -4, 97.0), (-4, 0, 92.0), (-4, 2, 80.0), (-2, -2, 52.0)]
    rows += [(-16, 4, 70.0), (-16, -4, 70.0)]
    papers["fourier"] = pd.DataFrame(rows, columns=["k_row", "k_col", "resnet18"])
    both = numbers.beside("fourier/a", "resnet18")
    assert both.loc[(-4, 2)].tolist() == pytest.approx([85, 80])
    assert numbers.odd_halves("fourier/a", "resnet18", 1).index.tolist() == [(-4, 2)]
    assert numbers.odd_halves("fourier/a", "resnet18", 2)["published"].tolist() == [52]
    # Of two waves with two runs each, one pair is 2 points apart and the other equal.
    assert numbers.repeats("resnet18") == pytest.approx(1)


def test_the_published_row_beside_its_transpose(papers):
    rows = [(0, k, 60.0 + k) for k in range(-16, 16, 2)] + [(-k, 0, 50.0) for k in range(2, 18, 2)]
    papers["fourier"] = pd.DataFrame(rows, columns=["k_row", "k_col", "lenet"])
    above = numbers.above_transpose("lenet")
    assert above.to_dict() == {k: 10 + k for k in range(-16, 16, 2) if k}


def test_what_flipping_costs_is_of_each_seed():
    lines = ["0,plain,0.7", "0,flipped,0.5", "1,flipped,0.6", "1,plain,0.9"]
    write("flip/a/results.csv", "seed,images,accuracy", *lines)
    assert numbers.lost("flip/a").to_dict() == pytest.approx({0: 20, 1: 30})


def test_a_colour_beside_grey():
    lines = ["2,0,grey,0.5", "2,0,red_green,0.6", "4,0,grey,0.5", "4,0,red_green,0.8"]
    write("colours/a/results.csv", "k_row,k_col,axis,accuracy", *lines)
    assert numbers.less_grey("colours/a", "red_green") == "20.0 ± 10.0"


def test_how_many_times_the_earlier_index_the_later_one_must_be():
    lines = ["architecture,seed,index_1,index_2,test_set,accuracy"]
    for seed, turn in ((0, 4), (1, 16)):
        for later in (2, 4, 8, 16):
            place = f"lenet,{seed},{later},1"
            lines += [f"{place},first,0.7", f"{place},second,{0.9 if later >= turn else 0.5}"]
    write("linear_pairs/a/results.csv", *lines)
    assert numbers.times_later("linear_pairs/a", 1) == "4 to 16"


def test_what_ranks_families_need_not_rank_their_networks():
    names = ["LeNet", '"LeNet, wide"', "MLP", '"MLP (9, 9)"']
    accuracies, responses = [0.5, 0.6, 0.2, 0.3], [9, 8, 2, 1]
    networks = [f"{n},10,0,{e},{a},1" for n, a in zip(names, accuracies) for e in (1, 10)]
    folder = "prediction/seventeen_networks"
    header = "network,images,seed,epochs,accuracy,train_accuracy"
    write(f"{folder}/networks.csv", header, *networks)
    lines = [f"{n},{r}" for n, r in zip(names, responses)]
    write(f"{folder}/alignments.csv", "network,fisher", *lines)
    assert numbers.responses(10)["family"].tolist() == ["LeNet", "LeNet", "MLP", "MLP"]
    assert numbers.between_families("fisher", 10) == pytest.approx(1)
    assert numbers.within_families("fisher", 10) < -0.8
    assert numbers.convolutional("fisher", 10) == pytest.approx(-1)
    assert numbers.among_all("fisher", 10) == pytest.approx(0.6)


def test_cells_of_two_channels_are_of_each_alone():
    cells = [(1, 1, 0.98), (1, 2, 1.0), (2, 1, 0.995), (2, 2, 1.0)]
    lines = [
        f"{first},{second},{part},{accuracy},{fit}"
        for first, second, fit in cells
        for part, accuracy in (("all", 0.9), ("first", 0.8), ("second", first / 10))
    ]
    header = "index_1,index_2,test_set,accuracy,train_accuracy"
    write("linear_pairs/results.csv", header, *lines)
    expected = "80 / 10 (not fitted) | 80 / 10 | 80 / 20 | 80 / 20"
    assert numbers.alone("linear_pairs", [1, 2]) == expected


def test_waves_repeat_in_patches_where_both_frequencies_do():
    lines = ["0,-16,0.9,1.0", "8,8,1.0,0.9", "0,4,0.5,1.0", "12,8,0.6,1.0"]
    write("fourier/results.csv", "k_row,k_col,accuracy,train_accuracy", *lines)
    assert numbers.along_waves("fourier", repeating=True) == "90.0 to 100.0 (1 of 2 fitted)"
    assert numbers.along_waves("fourier", repeating=False) == "50.0 to 60.0 (2 of 2 fitted)"
    assert numbers.along_waves("fourier", True, patch=8) == "50.0 to 100.0 (3 of 4 fitted)"


def test_responses_of_a_network_of_patches_are_fractions_of_the_first():
    folder = "patches/four_networks"
    header = "network,weights,patch,networks,error,repeating,k_row,k_col,least"
    write(f"{folder}/networks.csv", header, "vit,12345,4,64,0.049,1,3,-8,0.0389")
    lines = ["vit,0,0.4,0.2", "vit,15,0.2,0.18", "vit,16,0.04,0.001", "vit,1000,0.002,0.004"]
    write(f"{folder}/spectra.csv", "network,index,value,held_out", *lines)
    cells = "12,345 | 64 (0.049) | 50; 90 | 10; 0.5 | 0.5; 2 | (3, −8), 0.039"
    assert numbers.leading_nads("vit") == cells


def test_every_published_value_stands_beside_ours(papers):
    papers["nad_sweep"] = pd.DataFrame({"index": [0, 16], "lenet": [96.0, 79.0]})
    lines = ["lenet,0,secant,0,all,0.98,10", "lenet,1,secant,0,all,1.0,10"]
    header = "architecture,seed,estimand,index,test_set,accuracy,n"
    write(f"{RUN}/results.csv", header, *lines, "lenet,0,gradient,16,all,0.6,10")
    members = {"lenet": {"specification": {"network": "pipeline.networks.lenet:LeNet"}}}
    write(f"{RUN}/run.json", json.dumps({"plan": {"members": members}}))
    (row,) = values.beside_the_published().to_numpy().tolist()
    assert row == [RUN, "lenet", "estimand secant, index 0", "all", 96, 99, 2]
