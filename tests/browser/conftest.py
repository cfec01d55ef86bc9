"""A browser for tests, and pages in it that must not complain, ask the network or open a dialog.

A browser lives as long as its module's tests: Playwright keeps an event loop running in the thread that it was
started from, and other tests of the same process want to start theirs.
"""

from __future__ import annotations

import os
import shutil

import pytest

from tests.browser.opened import Opener

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NONE_FOUND = (
    f"NO BROWSER: none of {', '.join(NAMES)} is on the PATH and LPSCHED_CHROMIUM is not set, so no page is opened; "
    "on Debian: apt-get install chromium"
)


def chromium() -> str | None:
    return os.environ.get("LPSCHED_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def browser():
    program = chromium()
    if program is None:
        pytest.skip(NONE_FOUND)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open pages, and hold at the end of the test that none of them complained."""
    opener = Opener(browser, tmp_path)
    yield opener
    opener.close()
