"""A page in a headless Chromium: what a script of a test sees in it, and that nothing is complained of."""

import html
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

IN_A_BROWSER = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (in Debian: apt-get install chromium)"),
]
"""The marks of a file of tests that needs one."""

LISTEN = """<script>
window.complaints = [];
for (const kind of ["log", "info", "warn", "error"]) console[kind] = (...words) => complaints.push(kind + ": " + words.join(" "));
addEventListener("error", (event) => complaints.push("error: " + event.message));
addEventListener("unhandledrejection", (event) => complaints.push("rejection: " + event.reason));
document.addEventListener("securitypolicyviolation", (event) => complaints.push("policy: " + event.blockedURI));
</script>"""

ACT = """<script>
(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 300)), $ = (id) => document.getElementById(id), out = {};
  const send = (element, value) => { element.value = value; element.dispatchEvent(new Event("input")); };
  const grey = (id) => { const c = $(id); return Array.from(c.getContext("2d").getImageData(0, 0, c.width, c.height).data).filter((_, n) => n % 4 === 0); };
  const point = (cell) => cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  try { await wait(); ACTION } catch (error) { out.failed = String(error.stack); }
  out.complaints = complaints;
  const said = JSON.stringify(out);
  if (parent !== window) return parent.postMessage(said, "*");
  document.documentElement.innerHTML = "<pre id=outcome></pre>";
  $("outcome").textContent = said;
})();
</script>"""

FRAME = """<!doctype html><pre id="outcome"></pre><iframe src="page.html" width="390" height="800"></iframe>
<script>addEventListener("message", (event) => { document.getElementById("outcome").textContent = event.data; });</script>"""


def browsed(folder, text, action, phone=False, still=False):
    """What `action`, a script, puts into `out` in the page `text`, which is laid into a folder.

    phone: in a window as wide as a phone; still: without the page's own script.
    """
    shown = text[: text.rindex("<script>")] + "</body>" if still else text
    acting = shown.replace("<head>", f"<head>{LISTEN}").replace("</body>", ACT.replace("ACTION", action) + "</body>")
    (folder / "page.html").write_text(acting, encoding="utf-8")
    (folder / "frame.html").write_text(FRAME, encoding="utf-8")
    document = dumped(folder, "frame.html" if phone else "page.html")
    found = json.loads(html.unescape(re.search(r'id="outcome">(.*?)</pre>', document, re.S)[1]))
    assert (found.pop("failed", None), found.pop("complaints")) == (None, [])
    return found


def dumped(folder, name):
    """The document of a page after its scripts."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"]
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [*command, profile, "--dump-dom", (folder / name).as_uri()], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
