"""Figures as files: PNG, SVG and PDF by Matplotlib, the same bytes for the same figure.

Matplotlib is optional: `load_matplotlib` raises an error that names the extra. It keeps its settings in one place
for the whole program; `drawing_style` changes them while a figure is drawn or written, and puts them back,
so that neither the user's own settings get into our figures, nor ours into theirs.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MissingExtraError, OutputError, raise_signal_in
from lpsched.io.content import write_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from matplotlib.figure import Figure

ENDINGS: Final = (".png", ".svg", ".pdf")
STYLE: Final[dict[str, Any]] = {
    "axes.axisbelow": True,
    "axes.grid.axis": "y",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "font.family": "DejaVu Sans",  # comes with Matplotlib, so that every machine draws the same letters
    "font.size": 8,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # whole outlines: printers and journals reject the older kind
    "savefig.dpi": 200,
    "svg.fonttype": "path",  # letters as outlines: no font is looked for where the figure is shown
    "svg.hashsalt": "lpsched",  # names of clips are otherwise drawn at random
}
NO_DATES: Final[dict[str, dict[str, None]]] = {  # what Matplotlib would note in the file
    ".png": {},
    ".svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
    ".pdf": {"CreationDate": None},
}


def load_matplotlib() -> ModuleType:
    """Return Matplotlib."""
    try:
        return importlib.import_module("matplotlib")
    except ImportError as error:
        raise_signal_in(error)
        raise MissingExtraError("a figure", "report") from error


def load_jinja() -> ModuleType:
    """Return Jinja2, which fills the templates of pages."""
    try:
        return importlib.import_module("jinja2")
    except ImportError as error:
        raise_signal_in(error)
        raise MissingExtraError("a page", "report") from error


@contextlib.contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in our style, whatever the user's settings are; afterwards they are as before."""
    matplotlib = load_matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def figure_bytes(figure: Figure, ending: str) -> bytes:
    """Return the figure as a file with that ending would hold it."""
    if ending not in ENDINGS:
        raise OutputError(f"cannot write a figure as {ending!r}: expected {' or '.join(ENDINGS)}; choose one")
    out = io.BytesIO()
    with drawing_style():
        figure.savefig(out, format=ending.removeprefix("."), metadata=NO_DATES[ending])
    return _with_counted_clips(out.getvalue()) if ending == ".svg" else out.getvalue()


def _with_counted_clips(svg: bytes) -> bytes:
    """Name clips by counting: Matplotlib's names change with the last digit of where the layout puts them."""
    names = dict.fromkeys(re.findall(rb'<clipPath id="(p[0-9a-f]{10})"', svg))
    number = {name: b"clip%d" % place for place, name in enumerate(names)}
    return re.sub(
        rb'(<clipPath id="|url\(#)(p[0-9a-f]{10})', lambda found: found[1] + number.get(found[2], found[2]), svg
    )


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, whole or not at all."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(f"cannot write {path}: expected the ending {' or '.join(ENDINGS)}; choose one")
    write_files({path: figure_bytes(figure, path.suffix.lower())})


def inline_svg(figure: Figure, *, prefix: str) -> str:
    """Return the figure as an element of an HTML page.

    Every id begins with `prefix`, so that several figures can stand in one page. What only a file of its own
    needs is left out, and so are the comments, which repeat the texts of the figure.
    """
    text = figure_bytes(figure, ".svg").decode("utf-8")
    text = re.sub(r"<!--.*?-->\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' (?:xmlns(?::xlink)?|version)="[^"]*"', "", text, count=3)
    text = re.sub(r'( id="| (?:xlink:)?href="#|url\(#)', rf"\g<1>{prefix}-", text)
    return text.strip()
