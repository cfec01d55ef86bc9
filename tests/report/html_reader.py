"""Reads a page for tests: what stands in which tag, and whether every tag is closed."""

from __future__ import annotations

from html.parser import HTMLParser

NEVER_CLOSED = {"meta", "link", "img", "br", "hr", "input", "base"}


class Reader(HTMLParser):
    """Reads a page as a browser does, and notes what is odd about it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.issues: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []  # the innermost tag, and the text
        self.feed(text)
        self.close()
        self.issues += [f"{tag} is never closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in NEVER_CLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.issues.append(f"{tag} is closed but not open")

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1], data))

    def of(self, tag: str) -> list[str]:
        return [text for inner, text in self.texts if inner == tag]
