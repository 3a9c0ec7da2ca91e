"""index.html in a headless Chromium: what pointers, keys and sliders show, without complaints."""

import functools

import browser
import numpy as np
import pytest

pytestmark = [pytest.mark.slow, browser.needed]


@pytest.fixture(scope="module")
def browse(rendered, tmp_path_factory):
    """A function from a script to what it puts into `out` in the page of the small run."""
    text = (rendered / "index.html").read_text(encoding="utf-8")
    return functools.partial(browser.browse, text, folder=tmp_path_factory.mktemp("browser"))


def test_a_nad_is_shown_with_its_energy_its_eigenvalue_and_its_accuracy(browse, whole):
    found = browse("""
      change("nads-network", 1); await wait(); change("nads-slider", 7, "input");
      out.read = $("nads-read").innerText; out.number = $("nads-number").value;
      out.pixels = grey("nads-pixels"); out.energy = grey("nads-energy");
      change("nads-number", "10", "input"); await wait(); out.slider = $("nads-slider").value;
      out.typed = $("nads-read").innerText;
      change("nads-number", "99", "input"); await wait(); out.last = $("nads-slider").value;
    """)
    nad = whole.nads["a"]["directions"][7]
    expected = 127.5 * (1 + nad / np.abs(nad).max())
    assert np.abs(np.array(found["pixels"]) - expected).max() < 127.5 * 2 / 63 + 1
    energy = np.fft.fftshift(np.abs(np.fft.fft2(nad.reshape(32, 32))) ** 2).ravel()
    # The colour of the largest is the lightest, whose red part no other colour has.
    assert max(found["energy"]) == found["energy"][energy.argmax()]
    assert "7 of 0 to 15" in found["read"] and "accuracy" not in found["read"]
    assert (found["number"], found["slider"], found["last"]) == ("7", "10", "15")
    assert "accuracy along it\n52.1 ± 0.1 % (2 seeds)\npublished\n99.98 %" in found["typed"]


def test_pointing_and_arrow_keys_choose_a_frequency(browse):
    found = browse("""
      change("fourier-map", 2); out.count = cells("fourier-grid").length;
      point(cells("fourier-grid")[0]); out.pointed = $("fourier-read").innerText;
      cells("fourier-grid")[0].focus(); press("ArrowRight"); press("ArrowDown");
      out.moved = $("fourier-read").innerText; press("ArrowDown"); press("ArrowDown");
      out.focus = document.activeElement.getAttribute("aria-label");
    """)
    assert found["count"] == 9 and found["pointed"].startswith("Frequency (−16, −16)")
    assert "LeNet\t51.7 ± 0.1 %" in found["pointed"]
    assert "×0.125\t50.1 ± 0.1 % (2 seeds)\t100.0 %, full width" in found["pointed"]
    assert found["moved"].startswith("Frequency (0, 0)") and found["focus"] == "(16, 0): 52.1 %"


def test_a_pair_shows_its_boundary_and_numbers(browse):
    found = browse("""
      out.first = $("pairs-read").innerText;
      change("pairs-network", 1); point(cells("pairs-grid")[2]);
      out.second = $("pairs-read").innerText; out.plane = grey("pairs-plane").length;
      change("pairs-test", "all"); out.all = cells("pairs-grid").map((cell) => cell.textContent);
    """)
    assert "v₁: NAD 1, v₂: NAD 9" in found["first"]
    assert "tilt of the boundary\n7.4 ± 0.7°" in found["first"]
    assert "v₁: NAD 9, v₂: NAD 1" in found["second"] and "54.6 ± 0.7°" in found["second"]
    assert found["plane"] == 330**2 and found["all"] == ["61", "62", "63", "65"]
