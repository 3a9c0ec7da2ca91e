"""The page in a browser: what keys, pointers and sliders change, that nothing is complained of, that a phone can show it."""

import functools

import numpy as np
import pytest
from browser import IN_A_BROWSER, browsed
from site_run import basis, page

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    """Gives what a script sees in the page: `browse(action)`; see `browsed`."""
    folder = tmp_path_factory.mktemp("browser")
    with pytest.MonkeyPatch.context() as patch:
        text = page(folder, patch)
    return functools.partial(browsed, folder, text)


READ = """
  $("nads-network").value = 1; $("nads-network").dispatchEvent(new Event("change"));
  for (let n = 0; n < 20; n++) { send($("nads-slider"), 37); await wait(); }
  out.read = $("nads-read").innerText; out.pixels = grey("nads-pixels"); out.energy = grey("nads-energy"); out.number = $("nads-number").value;
  send($("nads-number"), "10"); await wait();
  out.slider = $("nads-slider").value; out.typed = $("nads-read").innerText; out.other = grey("nads-pixels");
"""


def test_a_nad_is_shown_with_its_energy_its_eigenvalue_and_its_accuracy(browse):
    found = browse(READ)
    for place, pixels in ((37, found["pixels"]), (10, found["other"])):
        nad = basis()[place]
        assert np.abs(np.array(pixels) - 127.5 * (1 + nad / np.abs(nad).max())).max() < 127.5 / 62 + 1
    energy = np.fft.fftshift(np.abs(np.fft.fft2(basis()[37].reshape(32, 32))) ** 2).ravel()
    # The colour of the largest is the lightest, whose red part no other colour has.
    assert set(np.flatnonzero(np.array(found["energy"]) == max(found["energy"]))) == set(
        np.flatnonzero(energy > 0.99 * energy.max())
    )
    assert (
        "37 of 0 to 1023" in found["read"] and "indices 37 to 40" in found["read"] and "accuracy" not in found["read"]
    )
    assert (found["number"], found["slider"]) == ("37", "10")
    assert "accuracy along it\n51.3 ± 0.1 % (2 seeds)\npublished\n99.98 %" in found["typed"]


def test_pointing_and_arrow_keys_choose_a_frequency(browse):
    found = browse("""
      const cells = [...document.querySelectorAll("#fourier-grid .cell")];
      $("fourier-map").value = 1; $("fourier-map").dispatchEvent(new Event("change"));
      const now = () => [...document.querySelectorAll("#fourier-grid .cell")];
      out.count = now().length;
      point(now()[0]); out.pointed = $("fourier-read").innerText;
      now()[0].focus(); press("ArrowRight"); out.right = $("fourier-read").innerText; press("ArrowDown"); out.down = $("fourier-read").innerText;
      press("ArrowDown"); out.stays = $("fourier-read").innerText;
      out.focus = document.activeElement.getAttribute("aria-label"); out.tabs = now().filter((cell) => cell.tabIndex === 0).length;
    """)
    assert (
        found["count"] == 4
        and found["pointed"].startswith("Frequency (−16, −16)")
        and "LeNet\t51.7 ± 0.1 %" in found["pointed"]
    )
    assert [found[key][:20] for key in ("right", "down", "stays")] == [
        "Frequency (−16, 0)\n\n",
        *["Frequency (0, 0)\n\nne"] * 2,
    ]
    assert found["focus"] == "(0, 0): 52.9 %" and found["tabs"] == 1
    assert found["down"].rstrip().endswith("72.5 %")


def test_a_pair_shows_its_boundary_and_numbers(browse):
    found = browse("""
      const cells = [...document.querySelectorAll("#pairs-grid .cell")];
      out.first = $("pairs-read").innerText; out.text = cells.map((cell) => cell.textContent);
      point(cells[2]); out.second = $("pairs-read").innerText;
      const row = grey("pairs-plane").slice(330 * 20, 330 * 21); out.left = row[3]; out.right = row[326];
      $("pairs-test").value = "all"; $("pairs-test").dispatchEvent(new Event("change")); out.all = [...document.querySelectorAll("#pairs-grid .cell")].map((cell) => cell.textContent);
    """)
    assert "v₁: NAD 1, v₂: NAD 9" in found["first"] and "tilt of the boundary\n24.5 ± 0.7°" in found["first"]
    assert "v₁: NAD 9, v₂: NAD 1" in found["second"] and "tilt of the boundary\n96.5 ± 0.7°" in found["second"]
    assert found["text"] == ["51", "52", "53", "54"] and found["all"] == ["50", "51", "53", "54"]
    assert found["left"] < 60 and found["right"] > 200


def test_a_sample_is_on_its_side_of_v_whatever_the_noise(browse):
    found = browse("""
      out.before = [$("samples-read").innerText, grey("samples-x")];
      send($("samples-sigma"), -2); out.quiet = [$("samples-read").innerText, grey("samples-x"), grey("samples-v")];
      document.querySelector("[name=samples-y][value='-1']").click(); send($("samples-eps"), 1); out.loud = $("samples-read").innerText;
      $("samples-again").click(); await wait(); out.again = grey("samples-x");
    """)
    assert found["before"][0].startswith("⟨x, v⟩ = 1.000") and found["quiet"][0].startswith("⟨x, v⟩ = 1.000")
    assert found["loud"].startswith("⟨x, v⟩ = −10.000")
    assert len({str(found["before"][1]), str(found["quiet"][1]), str(found["again"])}) == 3
    # Almost without noise the sample is v itself.
    assert (
        np.corrcoef(found["quiet"][1], found["quiet"][2])[0, 1]
        > 0.9
        > np.corrcoef(found["before"][1], found["quiet"][2])[0, 1]
    )


def test_only_the_rows_in_which_two_runs_differ_are_shown(browse):
    found = browse("""
      const host = document.querySelector("#nad_sweep .differ"), [select, least, said] = ["select", "input", "output"].map((kind) => host.querySelector(kind));
      host.closest("details").open = true;
      const shown = () => [...host.parentElement.querySelectorAll("tbody tr")].filter((row) => row.offsetParent).map((row) => row.innerText.split("\\t")[1]);
      out.runs = [...select.options].map((option) => option.text); out.visible = host.offsetParent !== null;
      out.all = [shown(), said.textContent];
      send(least, "48.8"); out.some = [shown(), said.textContent];
      send(least, "60"); out.none = [shown(), said.textContent];
    """)
    first, second = (f"estimand secant, index {index}" for index in (0, 10))
    # 100 and 99.98 are published, 50.9 and 51.3 were found.
    assert found == {
        "runs": ["published"],
        "visible": True,
        "all": [[first, second], "2 of 2 rows"],
        "some": [[first], "1 of 2 rows"],
        "none": [[], "0 of 2 rows"],
    }


def test_a_phone_shows_all_of_it_and_only_tables_scroll(browse):
    action = """
      document.querySelectorAll("details").forEach((part) => { part.open = true; });
      out.widths = [innerWidth, document.documentElement.scrollWidth - document.documentElement.clientWidth]; out.live = [...document.querySelectorAll(".live")].filter((part) => !part.hidden).length;
    """
    assert browse(action, phone=True) == {"widths": [390, 0], "live": 4}


def test_without_its_script_every_part_has_its_figure_and_no_dead_control(browse):
    found = browse(
        """
      out.sections = [...document.querySelectorAll("section")].map((part) => part.querySelectorAll("img").length > 0);
      out.figures = [...document.images].filter((image) => image.naturalWidth > 0 && image.offsetParent).length;
      out.controls = [...document.querySelectorAll("input, select, button, canvas")].filter((control) => control.offsetParent).length;
    """,
        still=True,
    )
    assert found == {"sections": [True] * 6, "figures": 6, "controls": 0}
