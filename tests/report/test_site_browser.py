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


def test_a_nad_is_shown_with_its_energy_and_its_eigenvalue(browse, whole):
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
    assert "7 of 0 to 15" in found["read"] and "64 untrained networks" in found["typed"]
    assert (found["number"], found["slider"], found["last"]) == ("7", "10", "15")
    assert "strength λ\n5.00·10⁻¹ ± 0.00·10⁰" in found["typed"]


def test_pointing_and_arrow_keys_choose_a_frequency(browse):
    found = browse("""
      out.start = $("fourier-read").innerText;
      change("fourier-network", 0); out.count = cells("fourier-grid").length;
      point(cells("fourier-grid")[0]); out.pointed = $("fourier-read").innerText;
      out.others = $("fourier-others").textContent;
      cells("fourier-grid")[0].focus(); press("ArrowRight"); press("ArrowDown");
      out.moved = $("fourier-read").innerText; out.wave = grey("fourier-wave");
      press("ArrowDown"); press("ArrowDown");
      out.focus = document.activeElement.getAttribute("aria-label");
      out.pooled = grey("fourier-pooled"); change("fourier-network", 1);
      out.published = cells("fourier-grid").length;
    """)
    best = "wave\n(0, 0)\naccuracy\n52.9 ± 0.1 %"  # for (8, 8) was not trained along
    assert found["start"].startswith(best)
    assert found["count"] == 9 and found["pointed"].startswith("wave\n(−16, −16)\naccuracy\n51.7 ±")
    assert found["pointed"].endswith("learned after\nnot within its training")
    assert "LeNet51.7 ± 0.1 % (2 seeds)" in found["others"]
    assert "ResNet-18, published100.0 %" in found["others"]
    assert found["moved"].startswith("wave\n(0, 0)\naccuracy\n52.9 ± 0.1 % (2 seeds)")
    assert found["moved"].endswith("learned after\n11 steps of training")
    assert set(found["wave"]) == {255} and found["focus"] == "(16, 0): 52.1 %"
    assert {127, 128} >= set(found["pooled"]) and len(found["pooled"]) == 64
    assert found["published"] == 17**2


def test_a_pair_shows_its_boundary_and_numbers(browse):
    found = browse("""
      out.start = $("pairs-read").innerText;
      change("pairs-network", 0); point(cells("pairs-grid")[2]);
      out.pointed = $("pairs-read").innerText; out.plane = grey("pairs-plane").length;
      change("pairs-test", "all"); out.all = cells("pairs-grid").map((cell) => cell.textContent);
      out.same = $("pairs-read").innerText;
      change("pairs-network", 2); out.published = $("pairs-read").innerText;
      out.hidden = $("pairs-boundary").hidden;
    """)
    assert found["start"].startswith("first channel\nNAD 9\nsecond channel\nNAD 1")
    assert "54.6 ± 0.7°" in found["pointed"] and found["same"] == found["pointed"]
    assert found["plane"] == 330**2 and found["all"] == ["61", "62", "63", "65"]
    assert "second channel\nNAD 1\naccuracy with both\n97.6 %" in found["published"]
    assert found["hidden"] and "tilt" not in found["published"]
