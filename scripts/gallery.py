"""The report pages of the gallery (docs/gallery/), as the commands of `PAGES` write them now.

    python scripts/gallery.py [--chromium /usr/bin/chromium]

With a browser, also a small picture of each page. Needs the extra `report`; for the pictures, `test` and Chromium.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from pathlib import Path
from typing import Final

from lpsched.cli.main import run

ROOT: Final = Path(__file__).parent.parent
GALLERY: Final = ROOT / "docs" / "gallery"
PAGES: Final = {  # each page, and the command that writes it
    "solve": "solve instances/mlperf-power.yaml",
    "price": "price instances/mlperf-power.yaml",
    "front": "front instances/zeus-34x4.yaml",
    "hours": "solve instances/ai-week.yaml --objective cost --effort fast",
    "validate": "validate instances/veed-12x6.yaml --price 16",
    "simulate": "simulate instances/h100-training.yaml --bound",
    "facility": "facility instances/gavel-v100.yaml",
}
WIDTH, HEIGHT, SCALE = 1000, 800, 0.6  # of a picture
ARGUMENTS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def write_page(name: str, folder: Path) -> Path:
    """Write a page into a folder; return its path."""
    path = folder.absolute() / f"{name}.html"
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()):
        if run(["--force", "--quiet", *PAGES[name].split(), "--report", str(path)]) != 0:
            raise SystemExit(f"{PAGES[name]} failed")
    return path


def take_pictures(chromium: str) -> None:
    """Write a picture of the beginning of each page."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only for pictures

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        for name in PAGES:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
            page.goto((GALLERY / f"{name}.html").as_uri())
            page.screenshot(path=GALLERY / f"{name}.png")
        browser.close()


def main() -> None:
    """Write all pages, and pictures of them where there is a browser."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", help="take pictures with this browser")
    chromium = parser.parse_args().chromium
    for name in PAGES:
        print(write_page(name, GALLERY).relative_to(ROOT))
    if chromium:
        take_pictures(chromium)


if __name__ == "__main__":
    main()
