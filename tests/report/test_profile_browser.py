"""The page of a profile in a browser: its keys and its slider, that nothing is complained of, a phone, and scripts that are off."""

import functools

import numpy as np
import pytest
from browser import IN_A_BROWSER, browsed
from profile_found import found

from pipeline.report import profile

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    """Gives what a script sees in the page of a known profile; see `browsed`."""
    return functools.partial(browsed, tmp_path_factory.mktemp("browser"), profile.document(found()))


def test_slider_number_and_keys_show_a_nad_with_its_eigenvalue_and_its_accuracy(browse):
    seen = browse("""
      await wait(); out.first = $("nads-read").innerText; out.pixels = grey("nads-pixels");
      send($("nads-slider"), 63); await wait(); out.last = $("nads-read").innerText; out.number = $("nads-number").value;
      send($("nads-number"), "7"); await wait(); out.seventh = $("nads-read").innerText; out.slider = $("nads-slider").value;
      const link = [...document.querySelectorAll("#live-nads a, #live-nads button")].find((each) => each.textContent.trim() === "63");
      link.click(); await wait(); out.linked = $("nads-number").value;
      out.names = [...$("nads-network").options].map((option) => option.text);
    """)
    nads = found().nads
    direction = nads.directions[0]
    assert np.abs(np.array(seen["pixels"]) - 127.5 * (1 + direction / np.abs(direction).max())).max() < 127.5 / 62 + 1
    assert "0 of 0 to 63" in seen["first"] and "98.0 ± 2.8 % (2 seeds)" in seen["first"]
    assert "63 of 0 to 63" in seen["last"] and "55.0 %" in seen["last"] and seen["number"] == "63"
    assert "7 of 0 to 63" in seen["seventh"] and "accuracy" not in seen["seventh"] and seen["slider"] == "7"
    assert seen["linked"] == "63" and seen["names"] == ["My <net>"]


def test_a_phone_shows_all_of_it(browse):
    action = """
      document.querySelectorAll("details").forEach((part) => { part.open = true; });
      out.widths = [innerWidth, document.documentElement.scrollWidth - document.documentElement.clientWidth];
    """
    assert browse(action, phone=True) == {"widths": [390, 0]}


def test_without_its_script_every_figure_is_there_and_no_dead_control(browse):
    seen = browse(
        """
      out.figures = [...document.images].map((image) => image.naturalWidth > 0 && image.offsetParent !== null);
      out.controls = [...document.querySelectorAll("input, select, button, canvas")].filter((control) => control.offsetParent).length;
    """,
        still=True,
    )
    assert seen == {"figures": [True] * 7, "controls": 0}
