"""Screenshots of a page in README and docs/guides/pages.md: a bag's prices, as Chromium shows them.

    python scripts/readme_pictures.py [--chromium /usr/bin/chromium]

Writes docs/figures/page-light.png and page-dark.png, by day and by night, down to the price curve; and page.png with
the front, and with the details of one point. Needs the extra `test`, and Chromium.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "figures"
COMMAND = ("price", str(ROOT / "instances" / "mlperf-power.yaml"), "--report")
WIDTH, HEIGHT = 880, 1290  # from the title down to the price curve
SHARPNESS = 1.5
WHOLE_WIDTH, WHOLE_HEIGHT = 1040, 1980
POINT = 2  # of the left half of the first figure, counted from the right
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def main() -> None:
    """Write the page, and take screenshots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    chromium = parser.parse_args().chromium
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "price.html")
        subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "lpsched", *COMMAND, str(page)], check=True, stdout=subprocess.DEVNULL
        )
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        for scheme in ("light", "dark"):
            look = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT},
                color_scheme="light" if scheme == "light" else "dark",
                device_scale_factor=SHARPNESS,
            )
            look.goto(page.as_uri())
            look.screenshot(path=FIGURES / f"page-{scheme}.png")
        whole = browser.new_page(viewport={"width": WHOLE_WIDTH, "height": WHOLE_HEIGHT}, color_scheme="light")
        whole.goto(page.as_uri())
        points = [each.bounding_box() for each in whole.locator("figure").first.locator(".point").all()]
        left = [(box["x"], box["y"]) for box in points if box is not None and box["x"] < WHOLE_WIDTH / 2]
        x, y = sorted(left)[-POINT]
        whole.mouse.move(x + 2, y + 2)
        whole.screenshot(path=FIGURES / "page.png")
        browser.close()


if __name__ == "__main__":
    main()
