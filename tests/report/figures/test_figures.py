from __future__ import annotations

import re
from pathlib import Path

import pytest

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures import style as figures
from lpsched.report.figures.style import blank_figure, tick_text, write_numbers

COLOURS = ("BLUE", "VERMILION", "GREEN", "PURPLE", "ORANGE", "SKY", "YELLOW", "INK")
FOLDER = Path(figures.__file__).parent
ROOT = FOLDER.parents[2]
OWN = {"style.py", "prices.py"}  # the palette itself, and the pale shades of bands


def test_no_figure_has_a_colour_of_its_own():
    found = {
        path.name: re.findall(r'"#[0-9a-fA-F]{6}"', path.read_text(encoding="utf-8"))
        for path in FOLDER.glob("*.py")
        if path.name not in OWN and "matplotlib" in path.read_text(encoding="utf-8")
    }
    assert {name: colours for name, colours in found.items() if colours} == {}


def brightness(colour: str) -> float:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.3 * red + 0.59 * green + 0.11 * blue


def test_the_two_lines_of_a_curve_differ_by_their_strokes_because_grey_does_not():
    # Why colour is never alone: blue and vermilion, bound and schedules, are nearly the same grey.
    assert abs(brightness(figures.BLUE) - brightness(figures.VERMILION)) < 0.15
    assert len({getattr(figures, name) for name in COLOURS}) == len(COLOURS)


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (0.0, 0.25, "0"),
        (1e-17, 0.1, "0"),  # what rounding left of 0
        (12.25, 0.25, "12.25"),
        (-1500.0, 500.0, "-1,500"),
        (1_000_000.5, 0.5, "1,000,000.5"),
        (2e9, 1e9, "2,000,000,000"),
        (3e-7, 1e-7, "3e-07"),
        (7.0, 0.0, "7"),
    ],
)
def test_ticks_are_written_with_thousands_and_as_many_digits_as_steps_need(value, step, text):
    assert tick_text(value, step) == text


def test_an_axis_writes_its_ticks_plainly():
    with drawing_style():
        axes = blank_figure(2.0).subplots()
        axes.set_xlim(0.0, 40_000.0)
        axes.set_xticks([0.0, 12_500.0, 25_000.0])
        write_numbers(axes.xaxis)
        formatter = axes.xaxis.get_major_formatter()
        assert [formatter(tick, None) for tick in (0.0, 12_500.0, 25_000.0)] == ["0", "12,500", "25,000"]


PAGE = (ROOT / "docs" / "guides" / "pictures.md").read_text(encoding="utf-8")


def test_every_figure_of_the_page_is_there():
    shown = re.findall(r"!\[[^\]]+\]\(../(figures/[^)]+)\)", PAGE)
    assert len(shown) == 8
    assert [name for name in shown if not (ROOT / "docs" / name).exists()] == []


def test_the_python_of_the_page_runs_from_the_root_of_the_project(tmp_path, monkeypatch):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    exec(compile(block, "pictures.md", "exec"), {})  # noqa: S102 - the page's own code
    assert (tmp_path / "price.pdf").read_bytes().startswith(b"%PDF")
