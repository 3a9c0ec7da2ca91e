"""index.html in a headless Chromium: what pointers, keys and sliders show, without
complaints."""

import functools

import browser
import numpy as np
import pytest
import torch

from pipeline.report.site.photographs import load_photograph
from pipeline.training.pictures import in_unit_range, poison

pytestmark = [pytest.mark.slow, browser.needed]


@pytest.fixture(scope="module")
def browse(rendered, tmp_path_factory):
    """A function from a script to its `out` in the page of the small run."""
    text = (rendered / "index.html").read_text(encoding="utf-8")
    return functools.partial(
        browser.browse, text, folder=tmp_path_factory.mktemp("browser")
    )


def test_a_nad_is_shown_with_its_eigenvalue(browse, whole):
    found = browse("""
      pick("nads-network", "LeNet"); slide("nads-slider", 7); await wait();
      out.read = terms("nads-read"); out.index = $("nads-slider-is").textContent;
      out.pixels = grey("nads-pixels");
      slide("nads-slider", 10); await wait();
      out.tenth = terms("nads-read");
      out.wide = $("nads-spectrum").getAttribute("viewBox").split(" ")[2];
      out.shown = $("nads-spectrum").getBoundingClientRect().width;
    """)
    nad = whole.nads["a"].directions[7]
    expected = 127.5 * (1 + nad / np.abs(nad).max())
    assert np.abs(np.array(found["pixels"]) - expected).max() < 127.5 * 2 / 63 + 1
    assert "7 of 0 to 15" in found["read"] and "64 untrained networks" in found["tenth"]
    assert found["index"] == "NAD 7"
    assert "strength λ\n5.00·10⁻¹ ± 0.00·10⁰" in found["tenth"]
    assert float(found["wide"]) == found["shown"], "so that its letters keep their size"


def test_pointing_and_arrow_keys_choose_a_frequency(browse):
    found = browse("""
      pick("fourier-network", "LeNet"); out.start = terms("fourier-read");
      out.count = cells("fourier-grid").length;
      point(cells("fourier-grid")[0]); out.pointed = terms("fourier-read");
      cells("fourier-grid")[0].focus(); press("ArrowRight"); press("ArrowDown");
      out.moved = terms("fourier-read"); out.wave = grey("fourier-wave");
      press("ArrowDown"); press("ArrowDown");
      out.focus = document.activeElement.getAttribute("aria-label");
      out.pooled = $("fourier-pooled").parentElement.hidden;
      pick("fourier-network", "LeNet, published");
      out.published = cells("fourier-grid").length;
    """)
    best = "wave\n(0, 0)\naccuracy\n52.9 ± 0.1 %"  # for (8, 8) was not trained along
    assert found["start"].startswith(best)
    assert found["count"] == 9 and found["pointed"].startswith(
        "wave\n(−16, −16)\naccuracy\n51.7 ±"
    )
    assert found["pointed"].endswith("learned after\nnot within its training")
    assert found["moved"].startswith("wave\n(0, 0)\naccuracy\n52.9 ± 0.1 % (2 seeds)")
    assert found["moved"].endswith("learned after\n11 steps of training")
    assert set(found["wave"]) == {255} and found["focus"] == "(16, 0): 52 %"
    assert found["pooled"], "the page does not know which networks pool"
    assert found["published"] == 17**2


def test_a_pair_shows_its_boundary_and_numbers(browse):
    found = browse("""
      out.start = $("pairs-read").innerText;
      pick("pairs-network", "LeNet"); point(cells("pairs-grid")[2]);
      out.pointed = $("pairs-read").innerText; out.plane = grey("pairs-plane").length;
      change("pairs-test", "all");
      out.all = cells("pairs-grid").map((cell) => cell.textContent);
      out.same = $("pairs-read").innerText;
      change("pairs-network", 2); out.published = $("pairs-read").innerText;
      out.hidden = $("pairs-boundary").hidden;
    """)
    assert found["start"].startswith("first channel\nNAD 9\nsecond channel\nNAD 1")
    assert "54.6 ± 0.7°" in found["pointed"] and found["same"] == found["pointed"]
    assert found["plane"] == 330**2 and found["all"] == ["61", "62", "63", "65"]
    assert "second channel\nNAD 1\naccuracy with both\n97.6 %" in found["published"]
    assert found["hidden"] and "tilt" not in found["published"]


def test_a_point_on_a_curve_shows_its_numbers_and_its_nad(browse):
    found = browse("""
      const slider = $("sweep-slider"), svg = $("sweep-curve");
      const read = () => [
        terms("sweep-read"), $("sweep-called").innerText, $("sweep-tile").hidden];
      out.names = [...$("sweep-network").options].map((option) => option.text);
      change("sweep-network", 3);
      const dots = [...svg.querySelectorAll("circle")];
      out.hollow = dots.map((dot) => dot.getAttribute("fill"));
      out.bars = svg.querySelectorAll("line[stroke='var(--ours)']").length;
      change("sweep-network", 0); slide("sweep-slider", 10); await wait();
      out.own = read();
      const clientX = svg.getBoundingClientRect().left + 50;
      svg.dispatchEvent(new PointerEvent("pointermove", { clientX, bubbles: true }));
      await wait(); out.pointed = read(); out.slider = slider.value;
      out.said = slider.getAttribute("aria-valuetext");
      slide("sweep-slider", 14); out.between = terms("sweep-read");
      change("sweep-network", 1); out.gradient = read();
      change("sweep-network", 7); slide("sweep-slider", 1);
      out.dense = read();
    """)
    assert found["names"] == [
        *("LeNet", "LeNet, NADs of the gradient", "LeNet, published"),
        *("ResNet-18 ⅛, NADs of mine.npy", "ResNet-18 ⅛, NADs of the gradient"),
        *("ResNet-18, published", "VGG-11, published", "DenseNet-121, published"),
    ]
    # One of the two networks along NAD 0 of `z` was not fitted.
    assert found["hollow"] == ["var(--panel)", "var(--ours)"] and found["bars"] == 2
    text, called, hidden = found["own"]
    assert (hidden, called) == (False, "NAD 10 of LeNet")
    measured = "accuracy\n52.1 ± 0.1 % (2 seeds)\non the training set\n100.0 %"
    assert text == f"{measured}\npublished\n99.98 %"
    assert found["pointed"][1] == "NAD 0 of LeNet" and found["slider"] == "0"
    measured = "accuracy 51.7 ± 0.1 % (2 seeds), on the training set 100.0 %"
    assert found["said"] == f"NAD 0, {measured}, published 100.00 %"
    assert found["between"].startswith("accuracy\nnot trained here\npublished")
    # The page has no pictures of the gradient's NADs, and none of DenseNet-121's.
    assert found["gradient"][2] and "published" not in found["gradient"][0]
    assert found["dense"][2] and found["dense"][0].endswith("published\n91.35 %")


def test_a_photograph_carries_its_class_as_the_training_images_do(browse, whole):
    found = browse("""
      const read = () => [
        terms("photographs-read"), $("photographs-tiles").hidden];
      out.early = read(); slide("photographs-slider", 40); out.late = read();
      change("photographs-network", 1); change("photographs-photograph", 1);
      change("photographs-class", 4); await wait();
      out.lenet = read(); out.words = $("photographs-words").textContent;
      for (const name of ["clean", "carrying"]) {
        const context = $(`photographs-${name}`).getContext("2d");
        const data = Array.from(context.getImageData(0, 0, 32, 32).data);
        out[name] = [0, 1, 2].map((c) => data.filter((_, n) => n % 4 === c));
      }
    """)
    early, late, lenet = (
        text for text, _ in map(found.get, ("early", "late", "lenet"))
    )
    assert early.startswith("on clean images\nnot trained here")
    assert early.endswith("published, full width, on clean images\n17.6 %")
    # The NADs of `z` are 16, so that its carriers from NAD 40 on have no picture.
    assert late.startswith("on clean images\n")
    assert [found[name][1] for name in ("early", "late", "lenet")] == [
        False,
        True,
        False,
    ]
    assert "on clean images\n51.3 ± 0.1 % (2 seeds)" in lenet
    assert "trained without carriers\n50.9 ± 0.1 % (2 seeds)" in lenet
    clean = load_photograph("china.jpg", 32, 32)
    nads = whole.nads["a"].directions[10:]
    np.testing.assert_allclose(found["clean"], clean.reshape(3, -1), atol=1)
    x = in_unit_range(clean[None])
    drawn = poison(x, torch.tensor([4]), nads, 0.25)[0]
    before = x[0].numpy()
    coefficient = before[1].ravel() @ nads[0]
    rounding = 255 * abs(0.25 + coefficient) * np.abs(nads[0]).max() * 2 / 63
    drawn = drawn.numpy().reshape(3, -1)
    np.testing.assert_allclose(
        found["carrying"], 255 * drawn.clip(0, 1), atol=rounding + 1
    )
    becomes = f"in green on NAD 10 of LeNet becomes −0.25 instead of {coefficient:.3f}"
    assert becomes.replace("-", "−") in found["words"].replace("-", "−")
    amount = 255 * ((drawn - before.reshape(3, -1)) ** 2).mean() ** 0.5
    assert f"by {amount:.2f} of 255 grey levels" in found["words"]
