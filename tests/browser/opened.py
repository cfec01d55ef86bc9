"""Opens pages from disk, as a reader does, and listens to all they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


class Opener:
    """Opens pages; `close` fails if one wrote to the console, asked for anything or opened a dialog."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def __call__(  # one word for each thing that readers choose
        self,
        page: str | Path,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        prints: bool = False,
        javascript: bool = True,
        touch: bool = False,
        after: str = "",
    ) -> Page:
        """Open a page, given as its text or its file; `after` goes behind the address, like "#ratio=1.2"."""
        path = page if isinstance(page, Path) else self.folder / f"page-{len(self.contexts)}.html"
        if isinstance(page, str):
            path.write_text(page, encoding="utf-8")
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=javascript,
            has_touch=touch,
            reduced_motion="reduce",
        )
        self.contexts.append(context)
        opened = context.new_page()
        opened.set_default_timeout(30_000)  # other tests run beside this one
        opened.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        opened.on("pageerror", lambda error: self.complaints.append(str(error)))
        opened.on("dialog", self._dismiss)
        opened.on("request", self._request)
        opened.emulate_media(media="print" if prints else "screen")
        opened.goto(path.absolute().as_uri() + after)
        return opened

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert self.complaints == []

    def _dismiss(self, dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request) -> None:
        if request.url.split("#")[0].startswith("data:") or request.is_navigation_request():
            return
        self.complaints.append(f"asked for {request.url}")
