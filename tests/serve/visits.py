"""Visits to the live page in a browser: what a user does, and what must not happen meanwhile."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

REFUSED: Final = re.compile(r"Failed to load resource: the server responded with a status of (4\d\d|503)")


class Visitor:
    """Opens the page; `close` fails if it wrote to the console, or asked for anything outside its server."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        self.url = url
        self.contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []  # addresses of all requests
        self.may_be_gone = False  # a story in which the server cannot be reached

    def __call__(self, after: str = "/", *, answered: bool = True, **options: Any) -> Page:
        """Open an address of the server, and wait for the first answer."""
        size = {"width": options.pop("width", 1280), "height": options.pop("height", 900)}
        context = self.browser.new_context(viewport=size, reduced_motion="reduce", **options)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)  # other tests run beside this one
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._request)
        page.goto(self.url + after)
        if answered:
            page.wait_for_selector("html[data-version]", state="attached")
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert self.complaints == []

    def _console(self, message) -> None:
        if REFUSED.match(message.text) or (self.may_be_gone and "net::ERR_" in message.text):
            return  # what the browser writes about answers that are errors, which the page shows
        self.complaints.append(f"{message.type}: {message.text}")

    def _request(self, request) -> None:
        self.asked.append(request.url)
        if not request.url.startswith((self.url + "/", "data:", "blob:" + self.url)):
            self.complaints.append(f"asked for {request.url}")


@contextlib.contextmanager
def answered(page: Page) -> Iterator[None]:
    """Do something, then wait until the page has the answers to it."""
    before = page.get_attribute("html", "data-version")
    yield
    page.wait_for_selector(f"html:not([data-version='{before}'])", state="attached")


def paste(page: Page, text: str) -> None:
    """Open a text by the dialog."""
    page.click("#open")
    page.fill("#open-text", text)
    page.click("#open-pasted")


def headline(page: Page) -> str:
    """Return what the page says first."""
    return " ".join(page.inner_text("#headline").split())


def rows_of(page: Page, place: str) -> dict[str, list[str]]:
    """Return the first table of a section: its rows by their name."""
    rows = page.locator(f"{place} table").first.locator("tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}
