from __future__ import annotations

import re
import sys

import matplotlib as mpl
import pytest

from lpsched.errors import MissingExtraError, OutputError, install_command
from lpsched.io.figure_files import ENDINGS, drawing_style, figure_bytes, inline_svg, write_figure
from lpsched.report.figures.style import blank_figure


def small_figure(text="text"):
    with drawing_style():
        figure = blank_figure(2.0)
        axes = figure.subplots()
        axes.bar([0, 1], [1, 2], hatch="//", label=text)
        axes.set_xlim(0, 1)  # cuts a bar, so that there is a clip, whose name Matplotlib draws
        axes.legend()
        axes.set_title(text)
        return figure


@pytest.mark.parametrize(
    ("ending", "begin"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".PNG", b"\x89PNG")]
)
def test_the_ending_says_what_is_written(tmp_path, ending, begin):
    path = tmp_path / f"room{ending}"
    write_figure(small_figure(), path)
    assert path.read_bytes().startswith(begin)


@pytest.mark.parametrize("name", ["room.jpg", "room", "png", "room.svgz"])
def test_another_ending_is_refused_and_nothing_written(tmp_path, name):
    with pytest.raises(OutputError) as caught:
        write_figure(small_figure(), tmp_path / name)
    assert str(caught.value) == (
        f"cannot write {tmp_path / name}: expected the ending .png or .svg or .pdf; choose one"
    )
    assert not list(tmp_path.iterdir())


def test_bytes_of_another_ending_are_refused():
    with pytest.raises(OutputError, match=r"cannot write a figure as '\.gif': expected \.png or \.svg or \.pdf"):
        figure_bytes(small_figure(), ".gif")


def test_a_picture_that_cannot_be_drawn_leaves_the_old_file(tmp_path):
    path = tmp_path / "room.png"
    path.write_bytes(b"old")
    figure = small_figure()
    figure.axes[0].set_title("$\\nonsense$")  # a formula that is none, so that drawing fails
    with pytest.raises(ValueError, match="nonsense"):
        write_figure(figure, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(OutputError, match="there is no folder"):
        write_figure(small_figure(), tmp_path / "missing" / "room.png")


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_picture_has_the_same_bytes_whatever_the_users_settings_are(ending):
    first = figure_bytes(small_figure(), ending)
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "black", "savefig.dpi": 30}):
        assert figure_bytes(small_figure(), ending) == first


def test_the_users_settings_are_left_as_they_were():
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": "mine"}):
        before = dict(mpl.rcParams)
        figure_bytes(small_figure(), ".svg")
        assert dict(mpl.rcParams) == before


def test_no_date_gets_into_a_figure():
    for ending in ENDINGS:
        content = figure_bytes(small_figure(), ending)
        assert b"CreationDate" not in content
        assert b"dc:date" not in content


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError) as caught:
        blank_figure(1.0)
    assert (
        str(caught.value)
        == f"a figure needs the extra 'report'; install it:\n    {install_command('jinja2>=3.1.6', 'matplotlib>=3.10')}"
    )


def test_drawing_needs_no_window_and_no_current_figure():
    before = "matplotlib.pyplot" in sys.modules
    figure_bytes(small_figure(), ".png")
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_an_inline_picture_stands_on_its_own_and_shares_no_id():
    # A text with comments, ids and links of its own: only outlines of its letters may remain.
    awkward = '--> id="x" <use href="#y"/> http://example.org'
    left, right = (inline_svg(small_figure(awkward), prefix=prefix) for prefix in ("left", "right"))
    assert left.startswith("<svg")
    assert left.endswith("</svg>")
    for forbidden in ("http", "<!--", "-->", "<?xml", "<!DOCTYPE", "xmlns", "example"):
        assert forbidden not in left
    ids = re.findall(r'\bid="([^"]*)"', left)
    assert ids
    assert all(each.startswith("left-") for each in ids)
    assert len(set(ids)) == len(ids)
    used = set(re.findall(r'href="#([^"]*)"', left)) | set(re.findall(r"url\(#([^)]*)\)", left))
    assert used
    assert used <= set(ids)
    assert not set(ids) & set(re.findall(r'\bid="([^"]*)"', right))


def test_clips_are_named_by_counting_and_every_one_that_is_used_is_there():
    svg = figure_bytes(small_figure(), ".svg").decode()
    clips = re.findall(r'<clipPath id="([^"]*)"', svg)
    assert clips == [f"clip{place}" for place in range(len(clips))] != []
    used = set(re.findall(r'clip-path="url\(#([^)]*)\)"', svg))
    assert used == set(clips)
