"""The documentation site: it builds without a warning, its links lead somewhere, and it loads nothing from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

import lpsched
from scripts.site_hooks import commands
from tests.browser.conftest import browser  # noqa: F401 - a fixture
from tests.docs.pages import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.unwatched]

LOADED = {"script": "src", "img": "src", "source": "srcset", "iframe": "src", "audio": "src", "video": "src"}


class Html(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {""}
        self.texts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in LOADED and given.get(LOADED[tag]):
            self.loaded.append(given[LOADED[tag]])
        if tag == "link" and given.get("rel") not in {"canonical", "next", "prev"}:
            self.loaded.append(given["href"])

    def handle_data(self, data):
        self.texts.append(data)


def build(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout as `scripts/docs` does."""
    environment = {**os.environ, "PYTHONPATH": str(root), "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=root, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, and what its pages have."""
    out = tmp_path_factory.mktemp("site")
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    return out, {path: Html(path) for path in sorted(out.rglob("*.html"))}


def test_every_page_of_docs_is_in_the_navigation(site):
    out, pages = site
    made = {str(path.relative_to(out)) for path in pages}
    texts = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    assert len(texts) > 30
    assert texts <= made
    home = {urlsplit(link).path for link in pages[out / "index.html"].links}
    assert texts - {"index.html"} <= home


def test_every_link_leads_to_a_file_and_to_an_anchor_of_it(site):
    out, pages = site
    lost = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in {"http", "https", "mailto"}:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].anchors if target in pages else {""}
            in_gallery = target.parent.name == "gallery"  # whose addresses have prices
            if not target.is_file() or (unquote(parts.fragment) not in known and not in_gallery):
                lost.append(f"{path.relative_to(out)}: {link}")
    assert sum(len(page.links) for page in pages.values()) > 1_000
    assert lost == []


def test_nothing_is_loaded_from_elsewhere_and_what_is_loaded_is_there(site):
    out, pages = site
    for path, page in pages.items():
        assert [each for each in page.loaded if urlsplit(each).netloc] == [], path
        if path.name != "404.html":
            files = [each for each in page.loaded if urlsplit(each).scheme != "data"]
            assert [each for each in files if not (path.parent / urlsplit(each).path).is_file()] == [], path
    for style in out.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8"), style


def test_every_public_name_is_in_the_python_reference(site):
    out, pages = site
    anchors = pages[out / "reference" / "api.html"].anchors
    assert [name for name in lpsched.__all__ if f"lpsched.{name}" not in anchors] == []


def test_every_command_and_every_option_is_in_the_reference_of_commands(site):
    out, pages = site
    page = pages[out / "reference" / "commands.html"]
    text = "".join(page.texts)
    for name, command, _ in commands():
        assert name.replace(" ", "-") in page.anchors
        options = [option for param in command.params for option in param.opts if option.startswith("--")]
        assert [option for option in options if option not in text] == [], name


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_pages_open_from_disk_without_a_complaint_and_fit_the_screen(site, browser, width, scheme):  # noqa: F811
    out, pages = site
    opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    complaints = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    for path in pages:
        if path.name != "404.html" and (path.parent.name != "gallery" or path.name == "index.html"):
            opened.goto(path.as_uri())
            too_wide = opened.evaluate("document.documentElement.scrollWidth") > width
            assert (complaints, too_wide) == ([], False), path.relative_to(out)
    opened.close()


def test_the_site_is_searched_without_a_server(site, browser):  # noqa: F811
    out, _ = site
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.goto((out / "index.html").as_uri())
    opened.locator(".md-search__input").click()
    opened.keyboard.type("sufferage")
    opened.wait_for_selector(".md-search-result__link")
    found = [link.get_attribute("href") for link in opened.locator(".md-search-result__link").all()]
    assert any("guides/heuristics.html" in link for link in found)
    opened.close()


def test_a_link_that_leads_nowhere_is_an_error(tmp_path):
    for name in ("docs", "instances", "models", "scripts", "lpsched", *(path.name for path in ROOT.glob("*.md"))):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "docs").unlink()
    (tmp_path / "docs").mkdir()
    for path in (ROOT / "docs").iterdir():
        (tmp_path / "docs" / path.name).symlink_to(path)
    home = tmp_path / "docs" / "index.md"
    text = home.read_text(encoding="utf-8")
    home.unlink()
    home.write_text(f"{text}\n[Lost](guides/pricing.md#no-such-anchor)\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), encoding="utf-8")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "no-such-anchor" in done.stderr


def test_the_script_is_strict_and_the_site_is_not_kept():
    assert "build --strict" in (ROOT / "scripts" / "docs").read_text(encoding="utf-8")
    assert "/site/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - no objects
    assert settings["site_dir"] == "site"
    assert settings["theme"]["font"] == "false"
