"""The pages of the gallery are what their commands write."""

from __future__ import annotations

import re

import pytest

from scripts.gallery import GALLERY, PAGES, write_page
from tests.docs.pages import PAGES as TEXTS
from tests.referee.recording import FOOTER, GLYPH, other_versions

pytestmark = pytest.mark.unwatched  # what commands do is tested elsewhere

DRAWING = re.compile(r"<svg.*?</svg>", flags=re.DOTALL)
TABLE = re.compile(r"<table><thead>.*?</table>", flags=re.DOTALL)
TIMED = re.compile(r"<th>(?:seconds|ms/event)</th></tr></thead>")  # the last column says how long something took
LAST_CELL = re.compile(r"<td>[^<]*</td>(?=</tr>)")
FOUND_IN = re.compile(r"(?<=found in )[\d.]+(?= s\b)")


SEARCHED = {"hours"}  # thousands of steps of a search, each of which a last digit may turn: without numbers
NUMBERS = re.compile(
    r'<script type="application/json">.*?</script>|<li.*?</li>|-?\d[\d.,]*(?:e-?\d+)?', flags=re.DOTALL
)


def without_times(page: str, name: str) -> str:
    """Return a page without what differs from run to run, and from version to version."""
    page = TABLE.sub(lambda table: LAST_CELL.sub("", table[0]) if TIMED.search(table[0]) else table[0], page)
    page = GLYPH.sub(r"\1", FOUND_IN.sub("", FOOTER.sub("", page)))
    if name in SEARCHED or other_versions("prices"):  # other packages, or another kind of processor
        return NUMBERS.sub("", DRAWING.sub("", page))
    return page


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_command_writes_now(name, tmp_path):
    made, kept = (
        without_times(path.read_text(), name) for path in (write_page(name, tmp_path), GALLERY / f"{name}.html")
    )
    assert made == kept, "write them again: python scripts/gallery.py"


def test_the_gallery_has_each_page_with_its_command_and_a_picture():
    text = TEXTS["docs/gallery/index.md"].text
    assert set(re.findall(r"\]\((\w+)\.html\)", text)) == set(PAGES)
    assert re.findall(r"^    `lpsched (.*)`$", text, flags=re.MULTILINE) == list(PAGES.values())
    assert {path.stem for path in GALLERY.glob("*.html")} == {path.stem for path in GALLERY.glob("*.png")} == set(PAGES)


def test_pages_are_small():
    assert all(path.stat().st_size < 900_000 for path in GALLERY.iterdir())
