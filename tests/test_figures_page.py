"""The page of all figures names every script, and what it points to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("figures.md", "profit-figures.md")
SCRIPTS = sorted(path.stem.removeprefix("figure_") for path in (ROOT / "scripts").glob("figure_*.py"))


def test_every_script_has_a_row_and_every_row_a_script():
    rows = re.findall(
        r"^\| [^|]+ \| `([a-z0-9_]+)` \|", (ROOT / "docs" / PAGES[0]).read_text(), flags=re.MULTILINE
    )
    assert sorted(rows) == SCRIPTS


@pytest.mark.parametrize("page", PAGES)
def test_every_link_points_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert links
    missing = [link for link in links if not link.startswith("http") and not (ROOT / "docs" / link).exists()]
    assert missing == []


def test_every_picture_is_linked_from_a_page():
    linked = {
        name
        for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        for name in re.findall(r"figures/([A-Za-z0-9-]+\.(?:svg|png))", page.read_text(encoding="utf-8"))
    }
    drawn = {path.name for path in (ROOT / "docs" / "figures").iterdir() if path.suffix in {".svg", ".png"}}
    assert drawn <= linked
