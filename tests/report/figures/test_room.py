from __future__ import annotations

import sys
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lpsched.errors import MissingExtraError
from lpsched.facility.solve import facility as solve
from lpsched.io.figure_files import drawing_style, figure_bytes
from lpsched.report.figures.facility import PowerRow, power_rows, room_figure
from tests.paper_facility import paper_facility
from tests.report.rooms import awkward_room, plain_room, small_room

pytestmark = pytest.mark.rotate_tests(3)


@pytest.fixture(scope="module")
def drawn() -> Any:
    return room_figure(*small_room())


def segments(axes):
    (lines,) = axes.collections
    return [segment.tolist() for segment in lines.get_segments()]


def test_every_node_stands_at_its_inlet_with_the_mark_of_its_type(drawn):
    inlets, *_ = drawn.axes
    assert {line.get_label(): line.get_xydata().tolist() for line in inlets.lines} == {
        "dual": [[0.0, 21.0], [2.0, 22.0]],
        "quad": [[1.0, 23.5]],
    }
    assert len({line.get_marker() for line in inlets.lines}) == 2


def test_the_redline_of_every_node_is_drawn_above_it(drawn):
    inlets, *_ = drawn.axes
    assert segments(inlets) == [[[-0.5, 24.0], [0.5, 24.0]], [[0.5, 25.0], [1.5, 25.0]], [[1.5, 24.0], [2.5, 24.0]]]


def test_nodes_side_by_side_with_one_redline_share_its_line():
    inlets, *_ = room_figure(*plain_room(nodes=4)).axes
    assert segments(inlets) == [[[-0.5, 25.0], [3.5, 25.0]]]


def test_where_there_are_many_node_types_the_last_ones_share_a_mark():
    inlets, *_ = room_figure(*plain_room(nodes=24, kinds=12)).axes
    shown: dict[Any, Any] = {line.get_label(): line.get_xydata() for line in inlets.lines}
    assert list(shown) == [*(f"kind {j}" for j in range(7)), "5 other types"]
    assert shown["kind 3"][:, 0].tolist() == [3.0, 15.0]
    assert sorted(shown["5 other types"][:, 0]) == [7.0, 8.0, 9.0, 10.0, 11.0, 19.0, 20.0, 21.0, 22.0, 23.0]


def test_the_title_says_how_near_the_hottest_node_is_to_its_own_redline(drawn):
    # The quad draws in 23.5 of 25, the duals 21 and 22 of 24: 1.5 K is the least.
    assert drawn.axes[0].get_title(loc="left") == "Inlet air: the hottest node is 1.5 K below its redline"


def test_outlets_are_marked_within_their_ranges(drawn):
    outlets = drawn.axes[1]
    (line,) = outlets.lines
    assert line.get_xydata().tolist() == [[0.0, 18.0], [1.0, 19.0]]
    assert segments(outlets) == [[[0.0, 10.0], [0.0, 25.0]], [[1.0, 12.0], [1.0, 20.0]]]
    assert [label.get_text() for label in outlets.get_xticklabels()] == ["left", "right"]


def test_inlets_and_outlets_share_an_axis_that_holds_all_of_them(drawn):
    low, high = drawn.axes[0].get_ylim()
    assert drawn.axes[1].get_ylim() == (low, high)
    assert low < 18.0
    assert high > 25.0


def test_power_is_told_by_node_type_for_the_cooling_and_in_all():
    facility, measured, _ = small_room()
    # Duals: 2 x 10 W overhead and 15 + 12 - 20 = 7 W; the quad 20 W and 9 W; cooling 8 + 6 = 14 W.
    assert power_rows(facility, measured.node_watts, measured.cooling_watts) == [
        PowerRow("dual (2 nodes)", 20.0, 7.0),
        PowerRow("quad (1 node)", 20.0, 9.0),
        PowerRow("cooling", cooling=14.0),
        PowerRow("all", 40.0, 16.0, 14.0),
    ]


def test_small_node_types_are_told_together():
    facility, measured, _ = plain_room(nodes=30, kinds=20)
    rows = power_rows(facility, measured.node_watts, measured.cooling_watts)
    # Types 0 to 9 have two nodes, the others one: seven of the former stand alone, then 3 x 2 + 10 x 1 nodes.
    assert [row.label for row in rows] == [
        *(f"kind {j} (2 nodes)" for j in range(7)),
        "13 other types",
        "cooling",
        "all",
    ]
    assert rows[7] == PowerRow("13 other types", 160.0, 40.0)


def test_bars_of_power_are_stacked_from_0_and_the_cap_is_a_line(drawn):
    power = drawn.axes[2]
    parts = {
        str(each.get_label()): [(bar.get_x(), bar.get_width()) for bar in each.patches] for each in power.containers
    }
    assert parts == {
        "overhead": [(0.0, 20.0), (0.0, 20.0), (0.0, 0.0), (0.0, 40.0)],
        "cores": [(20.0, 7.0), (20.0, 9.0), (0.0, 0.0), (40.0, 16.0)],
        "cooling": [(27.0, 0.0), (29.0, 0.0), (0.0, 14.0), (56.0, 14.0)],
    }
    assert len({each.patches[0].get_hatch() for each in power.containers}) == 3
    (cap,) = power.lines
    assert set(cap.get_xdata()) == {200.0}
    assert power.get_xlim()[0] == 0.0
    assert power.get_xlim()[1] > 200.0
    assert power.get_xlabel() == "power, W"
    assert power.get_title(loc="left") == "Power: 70 W of the cap of 200 W"
    assert [text.get_text() for text in power.texts] == ["27", "29", "14", "70", "cap"]


def test_much_power_is_told_in_kilowatts():
    power: Any = room_figure(*plain_room(nodes=1000)).axes[2]
    # 1,000 nodes of 12.5 W and 5 W for cooling, below 100 kW.
    assert power.get_xlabel() == "power, kW"
    assert power.get_title(loc="left") == "Power: 12.51 kW of the cap of 100 kW"
    assert set(power.lines[0].get_xdata()) == {100.0}


def test_a_real_answer_is_drawn_with_its_own_numbers():
    facility = paper_facility()
    result = solve(facility)
    axes: list[Any] = room_figure(facility, result.measured, result.cores).axes
    inlets, outlets, power, shares = axes
    # On paper: outlet 25 C, inlet 25.5 C at the redline, 200 W of the node (120 W overhead), 280 W in all.
    assert inlets.lines[0].get_ydata() == pytest.approx([25.5])
    assert inlets.get_title(loc="left") == "Inlet air: the hottest node is at its redline"
    assert outlets.lines[0].get_ydata() == pytest.approx([25.0])
    assert power.get_title(loc="left") == "Power: 280 W of the cap of 280 W"
    # Both cores 0.6 of the time and one 0.4 of it: 1.6 core-seconds a second.
    assert busy_time(shares) == pytest.approx(1.6)


def busy_time(axes):
    drawn = [each for each in axes.containers if not each.get_label().startswith("_")]  # no outlines
    return sum(each.patches[0].get_height() for each in drawn)


@pytest.mark.rotate(1)
@pytest.mark.parametrize(
    "room",
    [
        pytest.param(plain_room(), id="one-node-with-one-core"),
        pytest.param(plain_room(cores=1024, units=60, tasks=40), id="a-huge-node-and-sixty-units"),
        pytest.param(plain_room(nodes=5000, kinds=12, cores=4, tasks=40), id="five-thousand-nodes"),
        pytest.param(awkward_room(), id="awkward-names"),
    ],
)
def test_every_room_can_be_drawn_without_a_warning(room):
    figure = room_figure(*room)
    with drawing_style():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    renderer, width = canvas.get_renderer(), figure.bbox.width
    for axes in figure.axes:  # what is written stays on the paper
        box = axes.get_tightbbox(renderer)
        assert box.x0 >= -1.0
        assert box.x1 <= width + 1.0
    for legend in figure.legends:
        assert legend.get_window_extent(renderer).width <= width


@pytest.mark.slow
def test_five_thousand_nodes_make_no_huge_file():
    content = figure_bytes(room_figure(*plain_room(nodes=5000, kinds=12, cores=4)), ".svg")
    assert len(content) < 500_000
    assert content.count(b"<use") < 2_000  # no dot for each node,
    assert content.count(b"<path") < 2_000  # and no line for each redline, but pixels
    assert content.count(b"<image") > 0


def test_awkward_names_are_never_taken_for_formulas():
    figure = room_figure(*awkward_room())
    figure.draw_without_rendering()
    shown = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert {r"1  \$x_1\$", r"2  <script>alert(...script>"} <= shown
    for axes in figure.axes:
        for text in (*axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts):
            assert text.get_text().count("$") == text.get_text().count(r"\$")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="a figure needs the extra 'report'"):
        room_figure(*small_room())
