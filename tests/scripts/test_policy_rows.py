from __future__ import annotations

import sys

import pytest

from lpsched.errors import MissingExtraError
from lpsched.io.figure_files import figure_bytes
from lpsched.model.provenance import Estimate
from scripts.figures.shared.policy_rows import LANES, Marks, RowPanel, policy_rows_figure

NAMES = ("min-min", "$ours$ <script>")
QUEUED = Marks("queued", (Estimate(40.0, 2.0), Estimate(50.0)))
POLLED = Marks("polled", (Estimate(45.0, 1.0), None))


@pytest.fixture
def figure():
    panels = [RowPanel("utility", (QUEUED, POLLED), ("bound", 60.0)), RowPanel("tasks", (POLLED, QUEUED))]
    return policy_rows_figure(NAMES, panels)


def spots(axes) -> dict[str, list[tuple[float, float]]]:
    """Return the marks of each case: where they stand."""
    return {
        each.get_label(): list(zip(*(map(float, values) for values in each[0].get_data()), strict=True))
        for each in axes.containers
    }


def test_each_case_has_a_mark_at_its_mean_in_the_row_of_its_policy(figure):
    drawn = spots(figure.axes[0])
    # Two lanes of a row: a quarter of the room above its middle, and a quarter below.
    lanes = [row - y for row, (_, y) in enumerate(drawn["queued"])]
    assert [x for x, _ in drawn["queued"]] == [40.0, 50.0]
    assert lanes == pytest.approx([LANES / 4, LANES / 4])
    ((x, y),) = drawn["polled"]  # none where there is no estimate
    assert (x, y) == pytest.approx((45.0, LANES / 4))


def test_whiskers_are_the_intervals(figure):
    segments = [line.get_segments() for line in figure.axes[0].collections]
    assert [tuple(each[:, 0]) for each in segments[0]] == [(38.0, 42.0), (50.0, 50.0)]
    assert [tuple(each[:, 0]) for each in segments[1]] == [(44.0, 46.0)]


def test_shape_and_colour_differ_between_cases(figure):
    lines = [each[0] for each in figure.axes[0].containers]
    assert len({line.get_marker() for line in lines}) == len({line.get_color() for line in lines}) == 2


def test_the_limit_is_a_line_with_a_name_in_its_panel_alone(figure):
    limits = [[line for line in axes.lines if line.get_label() == "bound"] for axes in figure.axes]
    assert list(limits[0][0].get_xdata()) == [60.0, 60.0]
    assert limits[1] == []
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {"queued", "polled", "bound"}


def test_panels_share_their_rows_and_name_their_own_axes(figure):
    left, right = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["min-min", r"\$ours\$ <script>"]
    assert (left.get_xlabel(), right.get_xlabel()) == ("utility", "tasks")
    assert left.get_ylim() == right.get_ylim() == (1.5, -0.5)  # the first row on top


def test_a_picture_has_more_height_for_more_policies_and_cases():
    few, more = (
        policy_rows_figure(["a"] * rows, [RowPanel("x", (Marks("y", (Estimate(1.0),) * rows),) * cases)])
        for rows, cases in ((2, 1), (3, 4))
    )
    assert few.get_figheight() < more.get_figheight()


def test_names_that_could_be_formulas_or_tags_can_be_written(figure):
    assert b"<script" not in figure_bytes(figure, ".svg")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="report"):
        policy_rows_figure(NAMES, [RowPanel("utility", (QUEUED,))])
