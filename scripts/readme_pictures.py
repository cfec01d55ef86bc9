"""Screenshots of pages in README and docs/guides: a bag's prices, and the live page, as Chromium shows them.

    python scripts/readme_pictures.py [--chromium /usr/bin/chromium]

Writes docs/figures/page-light.png and page-dark.png, by day and by night, down to the price curve; page.png with
the front, and with the details of one point; serve.png, the live page of `lpsched serve`, and serve-pinned.png, where
two more machines are compared with a pinned scenario, by night. Needs the extra `test`, and Chromium.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "figures"
INSTANCE = str(ROOT / "instances" / "mlperf-power.yaml")
COMMAND = ("price", INSTANCE, "--report")
WIDTH, HEIGHT = 880, 1290  # from the title down to the price curve
SHARPNESS = 1.5
WHOLE_WIDTH, WHOLE_HEIGHT = 1040, 1980
POINT = 2  # of the left half of the first figure, counted from the right
LIVE_WIDTH, LIVE_HEIGHT = 1180, 1130
MORE = "DGX-H100"  # machines that the second scenario has more of
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
        live_pictures(browser)
        browser.close()


def live_pictures(browser: Browser) -> None:
    """Start a server, and take screenshots of its page."""
    command = [sys.executable, "-m", "lpsched", "serve", INSTANCE, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own command
        assert server.stdout is not None
        try:
            said = ""
            while not said.endswith("}\n"):
                said += server.stdout.readline()
            for name, scheme in (("serve", "light"), ("serve-pinned", "dark")):
                page = browser.new_page(
                    viewport={"width": LIVE_WIDTH, "height": LIVE_HEIGHT},
                    color_scheme="light" if scheme == "light" else "dark",
                )
                page.goto(json.loads(said)["url"])
                page.locator('html[data-version="1"]').wait_for()
                if name == "serve-pinned":
                    page.click("#pin")
                    box = page.get_by_label(MORE).and_(page.locator("input[type=number], input[type=text]")).first
                    box.fill("6")
                    box.press("Enter")
                    page.locator('html[data-version="2"]').wait_for()
                page.wait_for_timeout(1_000)  # all figures follow
                page.screenshot(path=FIGURES / f"{name}.png")
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
