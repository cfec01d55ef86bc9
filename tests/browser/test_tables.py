from __future__ import annotations

import pytest

from lpsched.report.html.page import Section, Table, page

pytestmark = pytest.mark.slow

ROWS = (
    ("m10", "1,234.5", "12 %", "1.5 s", "-"),
    ("m2", "-3", "3 %", "20 s", "1.2"),
    ("M1", "-", "0.5 %", "infeasible", "and up"),
    ("\u00e4rger", "1.2e-05", "-", "3 s", "10"),
    ("m2", "987.1", "100 %", "", "-0.5"),
)


@pytest.fixture
def opened(open_page):
    table = Table(("name", "number", "share", "time", "from"), ROWS, numbers=True)
    return open_page(page("t", "", [Section("One", (table, Table(("a", "b"), (("x", "y"),))))]))


def column(opened, at):
    cells = opened.locator(f".table >> nth=0 >> tbody td:nth-child({at + 1})").all_text_contents()
    return [cell.replace("\u00a0", " ") for cell in cells]  # a number and its unit stay together


def click(opened, header):
    button = opened.get_by_role("button", name=header, exact=True)
    button.click()
    return button.locator("xpath=..").get_attribute("aria-sort")


RISING = {
    "name": ["\u00e4rger", "M1", "m2", "m2", "m10"],  # numbers in names by their size, capitals alike
    "number": ["-3", "1.2e-05", "987.1", "1,234.5", "-"],
    "share": ["0.5 %", "3 %", "12 %", "100 %", "-"],
    "time": ["1.5 s", "3 s", "20 s", "infeasible", ""],  # words after numbers, nothing at the end
    "from": ["-0.5", "1.2", "10", "and up", "-"],
}


def test_a_table_sorts_by_what_its_cells_mean(opened):
    for at, (header, rising) in enumerate(RISING.items()):
        assert click(opened, header) == "ascending"
        assert column(opened, at) == rising
        assert click(opened, header) == "descending"
        known = [cell for cell in rising if cell not in {"-", "", "infeasible"}]
        assert column(opened, at) == known[::-1] + rising[len(known) :]  # without a number: at the end, always
        assert click(opened, header) == "none"
        assert column(opened, 0) == [row[0] for row in ROWS]  # as it was


def test_a_table_sorts_by_keyboard_and_one_column_at_a_time(opened):
    opened.get_by_role("button", name="number").focus()
    opened.keyboard.press("Enter")
    opened.keyboard.press("Tab")
    opened.keyboard.press("Space")
    assert column(opened, 2)[0] == "0.5 %"
    sorts = [each.get_attribute("aria-sort") for each in opened.locator("th[aria-sort]").all()]
    assert sorts == ["none", "none", "ascending", "none", "none"]  # the table of one row needs none


@pytest.mark.parametrize("refused", [False, True])
def test_a_table_is_copied_as_it_stands_with_tabs(opened, refused):
    if refused:
        opened.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    opened.evaluate("document.addEventListener('copy', () => { window.copied = String(getSelection()) })")
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    click(opened, "number")
    button = opened.get_by_role("button", name="Copy table").first
    button.click()
    opened.get_by_role("status").first.get_by_text("copied", exact=True).wait_for()  # the clipboard takes its time
    assert button.evaluate("button => document.activeElement === button")
    text = opened.evaluate("window.copied") if refused else opened.evaluate("navigator.clipboard.readText()")
    order = (1, 3, 4, 0, 2)
    lines = [("name", "number", "share", "time", "from"), *(ROWS[at] for at in order)]
    assert text.splitlines() == ["\t".join(line) for line in lines]
