"""Draw docs/site/hero.png, the article's first chapter after a bet, with Chromium.

`python -m docs.site.hero` needs docs/index.html and a browser named chromium.
"""

import subprocess
import tempfile
from pathlib import Path

from PIL import Image

PAGE = Path("docs/index.html")
PICTURE = Path("docs/site/hero.png")

SIZE = (860, 440)
"""Width and height in CSS pixels."""

STYLE = """<style>
:root { color-scheme: light; }
body, main { width: auto !important; max-width: none; padding: 0 !important; }
body, .live { margin: 0 !important; }
header, footer, section:not(#line), #line > :not(.live) { display: none; }
#live-training > :is(.controls, .data) { display: none; }
section { padding: 0 !important; border: 0; }
.live { border: 0; border-radius: 0; min-height: 100vh; padding: 1rem 1.4rem; }
</style>"""

# Chromium's virtual time does not wait for workers, so their tasks run in the page.
WORKER = """<script>
window.Worker = class {
  postMessage({ task, ...values }) {
    setTimeout(() => {
      const report = (...progress) => this.onmessage({ data: { progress } });
      this.onmessage({ data: { result: TASKS[task](values, report) } });
    });
  }
};
</script>"""

# The first networks start when they are seen, and a bet starts others.
BET = """<script>
const bet = document.getElementById("training-bet-strided");
addEventListener("load", () => setTimeout(() => bet.click(), 1000));
</script>"""


def photograph(browser: str, page: Path, picture: Path) -> None:
    """Save what a page shows after its networks have trained.

    Args:
        browser: The command of Chromium.
        page: The page.
        picture: Where to save the picture.
    """
    width, height = SIZE
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu"]
    command += ["--hide-scrollbars", "--force-device-scale-factor=2"]
    command += [f"--window-size={width},{height}", "--virtual-time-budget=60000"]
    command += [f"--user-data-dir={page.parent / 'profile'}"]
    command += [f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, timeout=300, capture_output=True)


def draw() -> None:
    """Draw the picture with few colours, so that it stays small."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        text = PAGE.read_text(encoding="utf-8")
        text = text.replace("<head>", f"<head>{WORKER}")
        text = text.replace("</body>", f"{STYLE}{BET}</body>")
        page.write_text(text, encoding="utf-8")
        picture = Path(folder) / "picture.png"
        photograph("chromium", page, picture)
        with Image.open(picture) as image:
            few = image.convert("RGB").quantize(64, dither=Image.Dither.NONE)
            few.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    draw()
