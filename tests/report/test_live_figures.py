"""The page's figures of D(v), of accuracies along NADs and of photographs, in a headless Chromium:
they answer sliders, keys and pointers with the numbers of the tables."""

import dataclasses
import functools
import re

import browser
import numpy as np
import pandas as pd
import pytest
import torch
from markupsafe import Markup
from small_run import SWEPT, with_rows

from pipeline.cells.fourier import fourier as wave
from pipeline.cells.pictures import flipped, in_unit_range, poisoned
from pipeline.cells.separable import linearly_separable
from pipeline.report import fourier, nad_sweep
from pipeline.report.published import table as published_table
from pipeline.report.site import photographs
from pipeline.report.site.data import LEVELS, ZERO, script_json, sprite
from pipeline.report.site.document import HERE, offered, templates

pytestmark = [pytest.mark.slow, browser.needed]

BASIS = np.linalg.qr(np.random.default_rng(1).normal(size=(1024, 1024)))[0]

PAGE = """<!doctype html><html lang="en"><head>
<meta charset="utf-8"><style>{{ style }}</style></head><body>
{% for name in figures %}<div class="live" id="live-{{ name }}" hidden>
{% include "live/" ~ name ~ ".html.j2" %}</div>{% endfor %}
<script type="application/json" id="data">{{ json }}</script>
<script>"use strict";(() => { {{ script }}
{% for name in figures %}{{ name }}($("live-{{ name }}"), page.{{ name }}, page);{% endfor %}
})();</script></body></html>"""


def page(nads, **figures):
    """A page of these figures alone, with their data."""
    read = lambda name: Markup((HERE / name).read_text(encoding="utf-8"))
    pictures = {}
    for name, each in nads.items():
        source, columns = sprite(each["directions"], tuple(each["shape"]))
        pictures[name] = {"name": f"network {name}", "shape": each["shape"], "sprite": source}
        pictures[name] |= {"columns": columns, "indices": np.arange(len(each["directions"]))}
    data = {"colours": [[0, 0, 0]], "tile": [ZERO, 2 * LEVELS], "nads": pictures, **figures}
    script = Markup("\n").join(read(f"script/{name}.js") for name in ("basis", *figures))
    values = {"style": read("page.css"), "script": script, "json": script_json(data)}
    return templates(HERE).from_string(PAGE).render(figures=list(figures), **values)


@pytest.fixture
def browse(tmp_path):
    """A function from a page and a script to what this puts into `out`."""
    return functools.partial(browser.browse, folder=tmp_path)


@pytest.fixture
def nads(whole):
    """The NADs of the small run, of which `a` has a whole basis."""
    return whole.nads | {"a": whole.nads["a"] | {"directions": BASIS}}


def normals(count, seed=1):
    """The page's standard-normal numbers: mulberry32, and Box and Muller's transform."""
    state = (seed + np.arange(1, 2 * count + 1, dtype=np.uint64) * 0x6D2B79F5).astype(np.uint32)
    t = (state ^ state >> 15) * (state | 1)
    t ^= t + (t ^ t >> 7) * (t | 61)
    one, two = (t ^ t >> 14).reshape(-1, 2).T / 2**32
    return np.sqrt(-2 * np.log(1 - one)) * np.cos(2 * np.pi * two)


def test_d_of_v_is_drawn_as_the_paper_defines_it(browse, whole, nads):
    maps = offered(fourier.explorer(whole.experiments["fourier"], {}))
    curves = offered(nad_sweep.explorer([whole.experiments["nad_sweep"]], nads))
    found = browse(
        page(nads, sweep=curves, fourier=maps, problem={}),
        """
      const canvases = () => ["v", "minus", "plus"].map((name) => grey(`problem-${name}`));
      change("problem-row", 4, "input"); change("problem-column", -2, "input");
      change("problem-eps", 4, "input"); change("problem-sigma", 2, "input");
      out.wave = canvases(); out.called = $("problem-called").textContent;
      out.read = $("problem-read").innerText;
      out.bars = [...document.querySelectorAll("#problem-plot rect")]
        .map((bar) => +bar.getAttribute("y") + +bar.getAttribute("height"));
      change("problem-direction", 2); change("problem-index", 7, "input"); await wait();
      out.nad = canvases(); out.index = $("problem-called").textContent;
      change("problem-row", 0, "input"); change("problem-column", 0, "input");
      change("problem-direction", 0); out.constant = $("problem-read").innerText;
    """,
    )
    draws = normals(2 * 1024).reshape(2, 1024)
    assert abs(draws.mean()) < 0.05 and abs(draws.std() - 1) < 0.05
    # A tile's values are off by up to half a step of 1/63, twice folded.
    for canvases, v, rounding in (
        (found["wave"], wave(4, -2), 0),
        (found["nad"], BASIS[7], 127.5 * 2 / 63),
    ):
        samples = linearly_separable(draws, np.array([-1, 1]), v, 4, 2).numpy().reshape(2, -1)
        scaled = [v / np.abs(v).max(), *(samples / np.abs(samples).max())]
        np.testing.assert_allclose(canvases, 127.5 * (1 + np.array(scaled)), atol=rounding + 1)
    assert (found["called"], found["index"]) == ("v: the wave (4, −2)", "v: NAD 7 of network a")
    share = 16 / (16 + 4 * 1023)
    assert f"At ε = 4 and σ = 2, {100 * share:.2} % of the pixels' variance" in found["read"]
    # Seen along v all samples of a class lie on one point.
    assert sum(bottom < 100 for bottom in found["bars"]) == 2
    assert found["constant"].splitlines()[2:] == [
        "LeNet, trained at ε = 1.5, σ = 3: 52.9 ± 0.1 % (2 seeds)"
    ]


def test_a_point_on_a_curve_shows_its_numbers_and_its_nad(browse, whole, nads):
    rows = whole.experiments["nad_sweep"].results
    assert set(rows["index"]) == {0, 10} and len(SWEPT) == 4
    curves = offered(nad_sweep.explorer([whole.experiments["nad_sweep"]], nads))
    assert list(curves) == [
        "ResNet-18 ⅛",
        "ResNet-18 ⅛, NADs of the gradient",
        "LeNet",
        "LeNet, NADs of the gradient",
        "DenseNet-121, published",
        "VGG-11, published",
    ]
    found = browse(
        page(nads, sweep=curves),
        """
      const slider = $("sweep-slider"), svg = $("sweep-curve"), texts = ["read", "called"];
      const read = () => [...texts.map((n) => $(`sweep-${n}`).innerText), $("sweep-tile").hidden];
      out.hollow = [...svg.querySelectorAll("circle")].map((dot) => dot.getAttribute("fill"));
      out.bars = svg.querySelectorAll("line[stroke='var(--ours)']").length;
      change("sweep-network", 2); change("sweep-slider", 10, "input"); await wait();
      out.own = read(); out.pixels = grey("sweep-pixels");
      const clientX = svg.getBoundingClientRect().left + 44;
      svg.dispatchEvent(new PointerEvent("pointermove", { clientX, bubbles: true }));
      await wait(); out.pointed = read(); out.slider = slider.value;
      out.said = slider.getAttribute("aria-valuetext");
      change("sweep-slider", 11, "input"); await wait(); out.theirs = read();
      change("sweep-network", 3); out.gradient = read();
      change("sweep-network", 4); change("sweep-slider", 1, "input"); out.dense = read();
    """,
    )
    # One of the two networks along NAD 0 of `z` was not fitted.
    assert found["hollow"] == ["var(--panel)", "var(--ours)"] and found["bars"] == 2
    published = published_table("nad_sweep").set_index("index")
    text, called, hidden = found["own"]
    assert (hidden, called) == (False, "NAD 10 of network a")
    assert "accuracy\n52.1 ± 0.1 % (2 seeds)\npublished\n99.98 %" in text
    expected = 127.5 * (1 + BASIS[10] / np.abs(BASIS[10]).max())
    assert np.abs(np.array(found["pixels"]) - expected).max() < 127.5 * 2 / 63 + 1
    assert found["pointed"][0].startswith("NAD\n0\n") and found["slider"] == "0"
    assert found["said"].startswith("NAD 0, accuracy 51.7 ± 0.1 % (2 seeds), published 100.00 %")
    later = published.index[11]
    assert f"NAD\n{later}\naccuracy\nnot trained here" in found["theirs"][0]
    # Pictures are of secants' NADs, of which `nads` has none for DenseNet-121.
    assert found["gradient"][2] and "published" not in found["gradient"][0]
    assert found["dense"][2]
    assert f"published\n{published['densenet121'].iloc[1]:.2f} %" in found["dense"][0]


def test_a_photograph_carries_its_class_as_the_training_images_do(browse, whole, nads):
    poison, flip = whole.experiments["poison"], whole.experiments["flip"]
    carrying = poison.results.query("index == 10").assign(test_set="poisoned", accuracy=0.75)
    rows = pd.concat([poison.results, carrying], ignore_index=True)
    poison = with_rows(whole, "poison", rows).experiments["poison"]
    ten = dataclasses.replace(poison, images=poison.images | {"classes": list("abcdefghij")})
    data = photographs.explorer([ten], [flip], nads)
    data = {part: offered(rows) for part, rows in data.items()}
    found = browse(
        page(nads, photographs=data),
        """
      const read = () => [$("photographs-read").innerText, $("photographs-tiles").hidden];
      out.early = read(); change("photographs-slider", 1, "input"); out.ours = read();
      change("photographs-slider", 4, "input"); out.late = read();
      out.theirs = $("photographs-flips").innerText;
      change("photographs-network", 1); change("photographs-photograph", 1);
      change("photographs-class", 7); await wait();
      out.lenet = read(); out.words = $("photographs-words").textContent;
      for (const name of ["clean", "carrying", "flipped"]) {
        const { data } = $(`photographs-${name}`).getContext("2d").getImageData(0, 0, 32, 32);
        out[name] = [0, 1, 2].map((c) => Array.from(data).filter((_, n) => n % 4 === c));
      }
    """,
    )
    published = published_table("poison")
    assert "carriers from NAD\n0\non clean images\nnot trained here" in found["early"][0]
    assert f"on clean images\n{published['resnet18'][0]:.1f} %" in found["early"][0]
    # The NADs of `z` are 16, so that its carriers from NAD 40 on have no picture.
    assert (found["early"][1], found["ours"][1], found["late"][1]) == (False, False, True)
    assert "on images with carriers\n75.0 ± 0.0 % (2 seeds)" in found["lenet"][0]
    assert "trained without carriers\n50.9 ± 0.1 % (2 seeds)" in found["lenet"][0]
    clean = photographs.photograph("china.jpg", 32, 32)
    x, one = in_unit_range(clean[None]), BASIS[11]
    np.testing.assert_allclose(found["clean"], clean.reshape(3, -1), atol=1)
    drawn = poisoned(x, torch.tensor([7]), BASIS[10:], 0.25)[0].reshape(3, -1).numpy()
    coefficient = x[0, 1].numpy().ravel() @ one
    rounding = 255 * abs(0.25 - coefficient) * np.abs(one).max() * 2 / 63
    np.testing.assert_allclose(found["carrying"], 255 * drawn.clip(0, 1), atol=rounding + 1)
    becomes = f"in green on NAD 11 of network a becomes 0.25 instead of {coefficient:.3f}"
    assert becomes.replace("-", "−") in found["words"]
    amount = 255 * np.sqrt(((drawn - x[0].reshape(3, -1).numpy()) ** 2).mean())
    assert float(re.search(r"by ([\d.]+) of 255", found["words"])[1]) == pytest.approx(amount, 0.01)
    turned = flipped(x, BASIS)[0].reshape(3, -1).numpy()
    turned = 255 * (turned - turned.min()) / np.ptp(turned)
    np.testing.assert_allclose(found["flipped"], turned, atol=1.5)
    row = "LeNet\t50.9 ± 0.1 % (2 seeds)\t51.3 ± 0.1 % (2 seeds)\t69 / 48 %"
    assert row in found["theirs"]
