"""The numbers of the pages are those of small tables with known answers."""

import pandas as pd
import pytest

from pipeline.project.errors import InputError
from studies import numbers


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """Runs of tables, in the folder in which the functions look: index 0, 16 and 1000, two seeds
    of the first."""
    monkeypatch.setattr(numbers, "KEPT", tmp_path)
    lines = [
        "architecture,seed,index,accuracy,train_accuracy,steps",
        "lenet,0,0,0.98,1.0,1200",
        "lenet,1,0,1.0,1.0,1400",
        "lenet,0,16,0.75,0.995,20",
        "lenet,0,1000,0.5,0.7,30",
    ]
    (tmp_path / "nad_sweep/lenet").mkdir(parents=True)
    (tmp_path / "nad_sweep/lenet/results.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "nad_sweep/lenet/spectra.csv").write_text("index,value\n0,2.5\n", encoding="utf-8")


RUN = "nad_sweep/lenet"


def test_rows_are_chosen_by_the_values_of_columns():
    assert numbers.rows(RUN, index=0, seed=1)["accuracy"].tolist() == [100]
    assert numbers.count(RUN, index=[0, 16]) == 3
    assert numbers.count(RUN, index=range(16, 1024)) == 2
    assert numbers.mean(f"{RUN}/spectra.csv", "value") == 2.5
    with pytest.raises(InputError, match="rows where {'index': 7}, and its table has none"):
        numbers.rows(RUN, index=7)


def test_means_and_ends_are_of_the_chosen_rows():
    assert numbers.mean(RUN, index=0) == 99
    assert numbers.std(RUN, index=0) == pytest.approx(2**0.5)
    assert (numbers.lowest(RUN), numbers.highest(RUN)) == (50, 100)
    assert numbers.fitted(RUN) == 3
    assert numbers.seeds_apart(RUN) == pytest.approx(2)


def test_text_has_one_number_where_there_is_one():
    assert numbers.with_spread(RUN, index=0) == "99.0 ± 1.4"
    assert numbers.with_spread(RUN, index=16) == "75.0"
    assert numbers.with_spread(RUN, "steps", digits=0, index=0) == "1,300 ± 141"
    assert numbers.ends(RUN) == "50.0 to 100.0"
    assert numbers.ends(RUN, index=16) == "75.0"


def test_ranks_are_of_means_over_seeds():
    assert numbers.along(RUN).to_dict() == {0: 99, 16: 75, 1000: 50}
    assert numbers.rho(RUN) == pytest.approx(-1)


def test_published_values_are_of_the_papers():
    assert numbers.published("flip", "plain", network="lenet") == 69
    assert numbers.published("nad_sweep", "resnet18", index=[0, 1]) == pytest.approx(98.125)


def test_the_root_mean_square():
    assert numbers.rms(pd.Series([3, -4, 0, 0])) == 2.5


def test_numbers_are_shown_as_a_page_has_them():
    shown = [numbers.shown(x) for x in (-0.25, 1369.0, 1369, -3, "as is", numbers.KEPT)]
    assert shown == ["−0.2", "1,369.0", "1,369", "−3", "as is", numbers.KEPT]
    assert numbers.shown(-0.968, 2) == "−0.97"


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def test_cells_of_a_sweep_say_where_a_network_is_not_fitted():
    assert numbers.learned(RUN, "lenet", [0, 16, 1000]) == (
        "99.0 (1,300) | 75.0 (20) | 50.0 (not fitted)"
    )


def test_cells_of_two_channels_are_of_each_alone(tmp_path):
    cells = [(1, 1, 0.98), (1, 2, 1.0), (2, 1, 0.995), (2, 2, 1.0)]
    lines = [
        f"{first},{second},{part},{accuracy},{fit}"
        for first, second, fit in cells
        for part, accuracy in (("all", 0.9), ("first", 0.8), ("second", first / 10))
    ]
    header = "index_1,index_2,test_set,accuracy,train_accuracy"
    write(tmp_path / "linear_pairs/results.csv", header, *lines)
    expected = "80 / 10 (not fitted) | 80 / 10 | 80 / 20 | 80 / 20"
    assert numbers.alone("linear_pairs", [1, 2]) == expected


def test_waves_repeat_in_patches_where_both_frequencies_do(tmp_path):
    lines = ["0,-16,0.9,1.0", "8,8,1.0,0.9", "0,4,0.5,1.0", "12,8,0.6,1.0"]
    write(tmp_path / "fourier/results.csv", "k_row,k_col,accuracy,train_accuracy", *lines)
    assert numbers.along_waves("fourier", repeating=True) == "90.0 to 100.0 (1 of 2 fitted)"
    assert numbers.along_waves("fourier", repeating=False) == "50.0 to 60.0 (2 of 2 fitted)"
    assert numbers.along_waves("fourier", True, patch=8) == "50.0 to 100.0 (3 of 4 fitted)"


def test_responses_of_a_network_of_patches_are_fractions_of_the_first(tmp_path):
    folder = tmp_path / "patches/four_networks"
    header = "network,weights,patch,networks,error,repeating,k_row,k_col,least"
    write(folder / "networks.csv", header, "vit,12345,4,64,0.049,1,3,-8,0.0389")
    lines = ["vit,0,0.4,0.2", "vit,15,0.2,0.18", "vit,16,0.04,0.001", "vit,1000,0.002,0.004"]
    write(folder / "spectra.csv", "network,index,value,held_out", *lines)
    cells = "12,345 | 64 (0.049) | 50; 90 | 10; 0.5 | 0.5; 2 | (3, −8), 0.039"
    assert numbers.leading_nads("vit") == cells
