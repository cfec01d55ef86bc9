"""A small page with every kind of part, for tests."""

from __future__ import annotations

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import Tooltip, blank_figure
from lpsched.report.html.page import (
    FollowingTable,
    Mark,
    PageFigure,
    Paragraph,
    Reading,
    Scale,
    Section,
    Segment,
    Slider,
    Table,
    page,
)

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--",
    "]]>&amp;\"'`${alert(1)}\u2028\u2029",
    "\u05d0\u05d1\u05d2 \u202ereversed",
    "$x_1$",
)


def figure(*, log: bool = False) -> PageFigure:
    """Return a line from (0, 1) to (10, 100) in axes that end exactly there, with a tooltip at each end."""
    with drawing_style():
        figure = blank_figure(3.0)
        axes = figure.subplots()
        axes.plot([0, 10], [1, 100], marker="o")
        axes.set(xlim=(0, 10), ylim=(1, 100), yscale="log" if log else "linear", xlabel="x, m", ylabel="y, s")
    tooltips = (Tooltip(0, 1, "first\n0 m"), Tooltip(10, 100, "last\n10 m"), Tooltip(20, 5, "outside"))
    return PageFigure(figure, "A line.", "Up it goes.", name="line", tooltips=tooltips)


def slider(names: tuple[str, ...] = ("a", "b"), label: str = "profit ratio") -> Slider:
    """Return a slider of two segments: a line up and a line down, words, and a quotient.

    From 1 to 1.5 `most` goes from 0 to 1000, then from 1000 down to -500 at 2. In the middle of that, at 1.75,
    `gap` is 1 over 0 and `share` 0 over 0.
    """
    halves = (
        Segment(
            1.0,
            1.5,
            (
                Reading(0.0, 1000.0, "USD/h"),
                Reading("loss", "loss"),
                Reading(0.0, 1.0, over=(4.0, 4.0)),
                Reading(None, None),
            ),
            (tuple((Reading(place, place), Reading(0.0, 10.0 * place, "W")) for place in range(len(names))),),
            (Mark("line", (0.0, 5.0), (1.0, 10.0)), Mark("line", (-5.0, -1.0), (1.0, 10.0))),
        ),
        Segment(
            1.5,
            2.0,
            (
                Reading(1000.0, -500.0, "USD/h"),
                Reading("profit", "profit"),
                Reading(1.0, 1.0, over=(-1.0, 1.0)),
                Reading(-2.0, 2.0, over=(-1.0, 1.0)),
            ),
            (tuple((Reading(-place, -place), Reading(10.0, 10.0, "W")) for place in range(len(names))),),
            (Mark("line", (5.0, 10.0), (10.0, 100.0)),),
        ),
    )
    table = FollowingTable("Machines", ("name", "tasks", "power"), names)
    return Slider((Scale(label),), "Move it.", 1.25, ("most", "regime", "gap", "share"), halves, (table,))


def whole_page(names: tuple[str, ...] = ("a", "b")) -> str:
    """Return a page with every kind of part, in which the names stand wherever a name can."""
    first = names[0]
    rows = tuple((name, str(place)) for place, name in enumerate(names))
    drawn = figure(log=True)
    told = PageFigure(drawn.figure, first, first, "line", (*drawn.tooltips, Tooltip(5, 10, first)))
    sections = (
        Section(first, (Paragraph(first), Table((first, "count"), rows, numbers=True))),
        Section("PageFigure", (told,)),
        Section("Slider", (slider(names),)),
        Section("More", (Table(("word", "meaning"), (("a", "b"),)),)),
    )
    return page(first, f"All about {first}.", sections, footer=first)
