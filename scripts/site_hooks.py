"""Hooks of the documentation site (`mkdocs.yml`): pages from other files, links to them, notebooks, and the commands.

The pages of docs/ link to other files of the project by relative paths, so that they can be read in the repository
as well. On the site, such a link leads to the page made of that file (`PAGES`), or to a copy of it; a link to a
notebook leads to the page made of its cells and outputs.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from mkdocs.structure.files import File, Files

from lpsched.cli.main import app

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = {  # files of the project that are pages of the site
    "instances/README.md": "reference/instances.md",
    "CHANGELOG.md": "reference/changelog.md",
    "CONTRIBUTING.md": "reference/contributing.md",
    "models/README.md": "explanation/models.md",
    "README.md": "index.md",  # which says the same in other words
}
COPIES: Final = "source"  # where other files are copied to, as texts that a browser shows
LINK: Final = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")
COMMANDS: Final = "<!-- the commands -->"  # where they are put in
SECTIONS: Final = {"Options": "option", "Arguments": "argument", "Output files": "file"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages made of other files of the project."""
    for origin, place in PAGES.items():
        if files.get_file_from_path(place) is None:
            files.append(File.generated(config, place, content=(ROOT / origin).read_text(encoding="utf-8")))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook_page(path)))
    for origin in sorted(set(_linked())):
        files.append(File.generated(config, f"{COPIES}/{origin}.txt", abs_src_path=str(ROOT / origin)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the text of a page with links that lead to pages and files of the site, and with the commands."""
    del config, files
    origin = {place: origin for origin, place in PAGES.items() if origin != "README.md"}
    here = origin.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    markdown = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", lambda found: _link(found, here, page.file.src_uri), markdown)
    return markdown.replace(COMMANDS, "\n".join(_commands())) if COMMANDS in markdown else markdown


def _link(found: re.Match[str], here: str, page: str) -> str:
    """Return a link of a file of the project as one of its page; of a folder that has no page only the text."""
    whole = LINK.search(found[0])
    if whole is None:
        return found[0]
    target = posixpath.normpath(posixpath.join(posixpath.dirname(here), whole[1]))
    place = _place(target)
    if place is None:
        return found[1]
    return f"[{found[1]}]({posixpath.relpath(place, posixpath.dirname(page) or '.')}{whole[2] or ''})"


def _place(target: str) -> str | None:
    """Return where a file of the project is on the site."""
    if target.startswith("docs/"):
        return target.removeprefix("docs/").replace(".ipynb", ".md")
    for name in (target, f"{target}/README.md"):
        if name in PAGES:
            return PAGES[name]
    return f"{COPIES}/{target}.txt" if (ROOT / target).is_file() else None


def _linked() -> Iterator[str]:
    """Give the files outside docs/ that pages link to and that are no pages."""
    for path in (*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in PAGES)):
        for target, _ in LINK.findall(path.read_text(encoding="utf-8")):
            name = os.path.relpath(path.parent / target, ROOT)
            if (_place(name) or "").startswith(f"{COPIES}/"):
                yield name


def notebook_page(path: Path) -> str:
    """Return a notebook as Markdown: texts, code, and what the code printed, drew or returned."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += map(_output, cell.get("outputs", ()))
    title, *rest = parts[0].split("\n", 1)
    link = f'[The notebook](<{path.name}> "to run it yourself")'  # written so that it stays one of the file
    return "\n\n".join([title, f"{link}, run by our tests.", *rest, *parts[1:]])


def _output(output: dict[str, Any]) -> str:
    """Return what a cell printed, drew or returned; of several forms the best."""
    data = {kind: "".join(value) for kind, value in output.get("data", {}).items()}
    if "image/png" in data:
        return (
            f'<img alt="{_plain(data.get("text/plain", ""))}" src="data:image/png;base64,{data["image/png"].strip()}">'
        )
    if "image/svg+xml" in data or "text/html" in data:
        return f'<div class="output">\n{data.get("image/svg+xml") or data["text/html"]}\n</div>'
    text = "".join(output.get("text", "")) or data.get("text/plain", "")
    return f"```text\n{text.rstrip()}\n```"


class _Collector:
    """Takes what a command writes about its options, by section."""

    width = 10_000  # of a line: texts are whole

    def __init__(self) -> None:
        self.sections: dict[str, list[tuple[str, str]]] = {}
        self._title = ""

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        """Begin a section."""
        self._title = title
        yield

    def write_dl(self, rows: list[tuple[str, str]]) -> None:
        """Take the rows of a section."""
        self.sections[self._title] = rows


def commands() -> Iterator[tuple[str, Any, Any]]:
    """Give every command of the application with its whole name and its context; groups before their commands."""
    root = typer.main.get_command(app)
    yield from _commands_of("lpsched", root, root.make_context("lpsched", [], resilient_parsing=True))


def _commands_of(name: str, command: Any, context: Any) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 - Typer hides its classes
    yield name, command, context
    for short in command.list_commands(context) if hasattr(command, "list_commands") else ():
        child = command.get_command(context, short)
        inner = child.make_context(short, [], parent=context, resilient_parsing=True)
        yield from _commands_of(f"{name} {short}", child, inner)


def _commands() -> Iterator[str]:
    """Give the lines of the reference of all commands."""
    for name, command, context in commands():
        level = "###" if context.parent is not None and context.parent.parent is not None else "##"
        yield from ("", f"{level} {name}", "", _plain(command.help or ""), "")
        yield from ("```text", " ".join(command.get_usage(context).split()).removeprefix("Usage: "), "```", "")
        collector = _Collector()
        command.format_options(context, collector)
        for title, rows in collector.sections.items():
            kind = SECTIONS.get(title)
            yield from (f"| {kind or title} | |", "| --- | --- |")
            for left, right in rows:
                if not left.endswith("--help") or name == "lpsched":
                    anchor = f"{name} {left}".strip().replace(" ", "-")
                    code = f'<code class="option">{_plain(left.strip())}</code>'
                    yield f"| {code if kind else f'[{code}](#{anchor})'} | {_plain(right)} |"
            yield ""
        examples = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  ")]
        if examples:
            yield from ("```text", *examples, "```", "")


def _plain(text: str) -> str:
    """Return a text as Markdown that shows just that, also in a table."""
    return re.sub(r"[<>*_\[\]|`]", lambda found: f"&#{ord(found[0])};", " ".join(text.split()))
