"""A page in a headless Chromium, which pointers and keys act on, without complaints."""

import html
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)

needed = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here (apt-get install chromium)"
)

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
  const slide = (id, index) => change(id, Math.log1p(index), "input");
  const terms = (id) => Array.from($(id).children, (part) => part.textContent).join("\\n");
  const pick = (id, name) => {
    change(id, [...$(id).options].findIndex((option) => option.text === name));
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
  document.documentElement.innerHTML = "<pre id=outcome></pre>";
  $("outcome").textContent = said;
})();
</script>"""


def browse(text, action, folder):
    """What a script puts into `out` in a page; folder: for the page and Chromium's
    profile."""
    shown = text.replace("<head>", f"<head>{LISTEN}")
    shown = shown.replace("</body>", ACT.replace("ACTION", action) + "</body>")
    page = folder / "page.html"
    page.write_text(shown, encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [page.as_uri()]
    command += ["--virtual-time-budget=20000", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True
    )
    found = re.search(r'id="outcome">(.*?)</pre>', done.stdout, re.S)[1]
    out = json.loads(html.unescape(found))
    assert (out.pop("failed", None), out.pop("complaints")) == (None, [])
    return out
