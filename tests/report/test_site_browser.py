"""index.html in a headless Chromium: what pointers, keys and sliders show, that nothing is
complained of, and that a phone can show it."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from pipeline import render
from pipeline.project import artifacts

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (apt-get install chromium)"),
]

LISTEN = """<script>
window.complaints = [];
for (const kind of ["log", "info", "warn", "error"])
  console[kind] = (...words) => complaints.push(kind + ": " + words.join(" "));
addEventListener("error", (event) => complaints.push("error: " + event.message));
addEventListener("unhandledrejection", (event) => complaints.push("rejection: " + event.reason));
document.addEventListener("securitypolicyviolation", (event) => complaints.push(event.blockedURI));
</script>"""

ACT = """<script>
(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 300)), out = {};
  const $ = (id) => document.getElementById(id);
  const change = (id, value, kind = "change") => {
    $(id).value = value;
    $(id).dispatchEvent(new Event(kind));
  };
  const grey = (id) => {
    const canvas = $(id), { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    return Array.from(data).filter((_, n) => n % 4 === 0);
  };
  const cells = (id) => [...document.querySelectorAll(`#${id} .cell`)];
  const point = (cell) => cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  const press = (key) =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  try { await wait(); ACTION } catch (error) { out.failed = String(error.stack); }
  const said = JSON.stringify({ complaints, ...out });
  if (parent !== window) return parent.postMessage(said, "*");
  document.documentElement.innerHTML = "<pre id=outcome></pre>";
  $("outcome").textContent = said;
})();
</script>"""

FRAME = """<!doctype html><pre id="outcome"></pre>
<iframe src="page.html" width="390" height="800"></iframe>
<script>addEventListener("message", (event) => {
  document.getElementById("outcome").textContent = event.data;
});</script>"""


@pytest.fixture(scope="module")
def browse(_laid, tmp_path_factory):
    """Gives what a script puts into `out` in the page of the small run: `browse(action)`.

    phone: in a window as wide as a phone; still: without the page's own script.
    """
    folder = tmp_path_factory.mktemp("browser")
    shutil.copytree(_laid, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        render.main()
    text = (folder / artifacts.REPORTS / "index.html").read_text(encoding="utf-8")

    def browse(action, phone=False, still=False):
        shown = text[: text.rindex("<script>")] + "</body>" if still else text
        shown = shown.replace("<head>", f"<head>{LISTEN}")
        shown = shown.replace("</body>", ACT.replace("ACTION", action) + "</body>")
        (folder / "page.html").write_text(shown, encoding="utf-8")
        (folder / "frame.html").write_text(FRAME, encoding="utf-8")
        address = (folder / ("frame.html" if phone else "page.html")).as_uri()
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", address]
        command += ["--virtual-time-budget=20000", f"--user-data-dir={folder / 'profile'}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        found = re.search(r'id="outcome">(.*?)</pre>', done.stdout, re.S)[1]
        out = json.loads(html.unescape(found))
        assert (out.pop("failed", None), out.pop("complaints")) == (None, [])
        return out

    return browse


def test_a_nad_is_shown_with_its_energy_its_eigenvalue_and_its_accuracy(browse, whole):
    found = browse("""
      change("nads-network", 1); change("nads-slider", 7, "input"); await wait();
      out.read = $("nads-read").innerText; out.number = $("nads-number").value;
      out.pixels = grey("nads-pixels"); out.energy = grey("nads-energy");
      change("nads-number", "10", "input"); await wait(); out.slider = $("nads-slider").value;
      out.typed = $("nads-read").innerText;
    """)
    nad = whole.nads["a"]["directions"][7]
    expected = 127.5 * (1 + nad / np.abs(nad).max())
    assert np.abs(np.array(found["pixels"]) - expected).max() < 127.5 * 2 / 63 + 1
    energy = np.fft.fftshift(np.abs(np.fft.fft2(nad.reshape(32, 32))) ** 2).ravel()
    # The colour of the largest is the lightest, whose red part no other colour has.
    assert max(found["energy"]) == found["energy"][energy.argmax()]
    assert "7 of 0 to 15" in found["read"] and "accuracy" not in found["read"]
    assert (found["number"], found["slider"]) == ("7", "10")
    assert "accuracy along it\n52.1 ± 0.1 % (2 seeds)\npublished\n99.98 %" in found["typed"]


def test_pointing_and_arrow_keys_choose_a_frequency(browse):
    found = browse("""
      change("fourier-map", 2); out.count = cells("fourier-grid").length;
      point(cells("fourier-grid")[0]); out.pointed = $("fourier-read").innerText;
      cells("fourier-grid")[0].focus(); press("ArrowRight"); press("ArrowDown");
      out.moved = $("fourier-read").innerText; press("ArrowDown");
      out.focus = document.activeElement.getAttribute("aria-label");
    """)
    assert found["count"] == 4 and found["pointed"].startswith("Frequency (−16, −16)")
    assert "LeNet\t51.7 ± 0.1 %" in found["pointed"]
    assert found["moved"].startswith("Frequency (0, 0)") and found["focus"] == "(0, 0): 52.9 %"


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
    assert found["plane"] == 330**2 and found["all"] == ["55", "56", "57", "59"]


def test_a_phone_shows_all_of_it_and_only_tables_scroll(browse):
    action = """
      document.querySelectorAll("details").forEach((part) => { part.open = true; });
      const { scrollWidth, clientWidth } = document.documentElement;
      out.widths = [innerWidth, scrollWidth - clientWidth];
      out.live = document.querySelectorAll(".live:not([hidden])").length;
    """
    assert browse(action, phone=True) == {"widths": [390, 0], "live": 3}


def test_without_its_script_every_part_has_its_figure_and_no_dead_control(browse):
    action = """
      const sections = [...document.querySelectorAll("section")];
      out.figures = sections.map((part) => part.querySelectorAll("img").length > 0);
      const controls = [...document.querySelectorAll("input, select, button, canvas")];
      out.controls = controls.filter((control) => control.offsetParent).length;
    """
    assert browse(action, still=True) == {"figures": [True] * 8, "controls": 0}
