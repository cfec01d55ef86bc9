from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from lpsched.facility.parts import CoreAllocation, CoreFraction
from lpsched.report.figures.facility import core_shares_figure, shown_nodes
from tests.report.rooms import plain_room, small_room


def bars(axes) -> dict[float, list[tuple[str, float, float]]]:
    """Return label, bottom and height of the bars at each place; outlines have a label that begins with _."""
    found: dict[float, list[tuple[str, float, float]]] = {}
    for each in axes.containers:
        (bar,) = each.patches
        label = str(each.get_label())
        at = found.setdefault(bar.get_x() + bar.get_width() / 2, [])
        if not label.startswith("_"):
            at.append((label, bar.get_y(), bar.get_height()))
    return found


def read_legend(figure) -> list[str]:
    """Return the labels of the legend as they are read: line by line, from the left."""
    figure.draw_without_rendering()
    (legend,) = figure.legends
    placed = [(text.get_window_extent(), text.get_text()) for text in legend.get_texts()]
    return [text for _, text in sorted(placed, key=lambda each: (-round(each[0].y0 / 10), each[0].x0))]


def test_bars_are_the_fractions_with_the_most_memory_intensive_at_the_bottom():
    facility, _, cores = small_room()
    figure = core_shares_figure(facility, {"ours": cores})
    places = bars(figure.axes[0])
    # The quad is node 1; then come the duals, nodes 0 and 2: 4 + 2 + 2 cores.
    assert list(places.values()) == [
        [("2  join (medium)", 0.0, 1.0)],
        [("1  scan (heavy)", 0.0, 0.3), ("3  count (light)", 0.3, 0.5)],
        [],
        [],
        [("1  scan (heavy)", 0.0, 0.75), ("3  count (light)", 0.75, 0.25)],
        [],
        [],
        [("3  count (light)", 0.0, 0.4)],
    ]


def test_cores_of_one_node_stand_together():
    facility, _, cores = small_room()
    at = sorted(bars(core_shares_figure(facility, {"ours": cores}).axes[0]))
    steps = [round(right - left, 6) for left, right in pairwise(at)]
    assert [step > 1.0 for step in steps] == [False, False, False, True, False, True, False]


def test_numbers_in_the_bars_are_those_of_the_legend():
    facility, _, cores = small_room()
    texts = [text.get_text() for text in core_shares_figure(facility, {"ours": cores}).axes[0].texts]
    assert texts == ["2", "1", "3", "1", "3", "3"]


def test_the_legend_goes_from_the_most_memory_intensive_to_the_least_and_to_idle():
    facility, _, cores = small_room()
    figure = core_shares_figure(facility, {"ours": cores})
    assert read_legend(figure) == ["1  scan (heavy)", "2  join (medium)", "3  count (light)", "idle"]


def test_a_long_legend_is_read_line_by_line():
    facility, _, cores = plain_room(tasks=40, cores=16)
    expected = [f"{i + 1}  task {i}" for i in range(16)]
    assert read_legend(core_shares_figure(facility, {"ours": cores})) == [*expected, "idle"]


def test_what_cannot_be_seen_is_neither_drawn_nor_in_the_legend():
    facility, _, _ = small_room()
    node = ((CoreFraction("scan", 0.0009), CoreFraction("join", 0.5)), ())
    cores = CoreAllocation((18.0, 19.0), (node, ((), (), (), ()), ((), ())))
    figure = core_shares_figure(facility, {"ours": cores})
    assert read_legend(figure) == ["2  join (medium)", "idle"]
    assert [each for place in bars(figure.axes[0]).values() for each in place] == [("2  join (medium)", 0.0, 0.5)]


def test_from_terminal_one_task_type_on_a_core_are_one_bar():
    facility, _, _ = small_room()
    parts = tuple(CoreFraction("scan", 0.0008) for _ in range(2))  # 0.0016 together, which can be seen
    cores = CoreAllocation((18.0, 19.0), ((parts, ()), ((), (), (), ()), ((), ())))
    figure = core_shares_figure(facility, {"ours": cores})
    assert [each for place in bars(figure.axes[0]).values() for each in place] == [("1  scan (heavy)", 0.0, 0.0016)]


def test_several_allocations_are_drawn_below_each_other_on_the_same_nodes():
    facility, _, cores = small_room()
    idle = replace(cores, nodes=(((), ()), ((), (), (), ()), ((), ())))
    figure = core_shares_figure(facility, {"with $co$-location": cores, "idle": idle}, nodes=(2, 0))
    top, bottom = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == [r"with \$co\$-location", "idle"]
    for axes in figure.axes:
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == ["node 2\ndual", "node 0\ndual"]
    assert [len(place) for place in bars(top).values()] == [0, 1, 2, 0]
    assert not any(bars(bottom).values())
    assert top.get_position().y0 > bottom.get_position().y0


def test_of_a_huge_node_the_first_cores_are_shown_and_the_label_says_so():
    facility, _, cores = plain_room(cores=1024, tasks=40)
    (axes,) = core_shares_figure(facility, {"ours": cores}).axes
    assert len(bars(axes)) == 16
    assert read_legend(axes.figure) == [*(f"{i + 1}  task {i}" for i in range(16)), "idle"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["node 0\nkind 0\n16 of 1,024 cores"]


def rows(*nodes):
    """Return an allocation of nodes with two cores; a node is the names that its first core runs."""
    return tuple((tuple(CoreFraction(name, 0.25) for name in names), ()) for names in nodes)


def test_three_nodes_of_the_type_with_most_cores_and_two_of_the_next_are_shown():
    facility, _, cores = plain_room(nodes=12, kinds=3, cores=2)
    kinds = tuple(
        kind.model_copy(update={"cores": count}) for kind, count in zip(facility.node_types, (1, 2, 4), strict=True)
    )
    facility = facility.model_copy(update={"node_types": kinds})
    # Types alternate: nodes 2, 5, 8 and 11 have four cores, 1, 4, 7 and 10 have two. All are alike.
    nodes = tuple((cores.nodes[0] * 2)[: kinds[v % 3].cores] for v in range(12))
    assert shown_nodes(facility, replace(cores, nodes=nodes)) == (2, 5, 8, 1, 4)


def test_of_one_type_five_nodes_are_shown_or_all_there_are():
    assert shown_nodes(*plain_room(nodes=9, cores=2)[::2]) == (0, 1, 2, 3, 4)
    assert shown_nodes(*plain_room(nodes=2, cores=2)[::2]) == (0, 1)


def test_nodes_that_run_more_task_types_come_first_and_the_same_ones_only_once():
    facility, _, cores = plain_room(nodes=8, cores=2, tasks=4)
    a, b, c = "task 0", "task 1", "task 2"
    # Different sets: {a} at 0 and 1, {a, b} at 2, 3 and 6, {a, b, c} at 4, {c} at 5, none at 7.
    nodes = rows((a,), (a,), (a, b), (b, a), (a, b, c), (c,), (a, b), ())
    assert shown_nodes(facility, replace(cores, nodes=nodes)) == (0, 2, 4, 5, 7)
    # All different: those with three, with two, and the first of those with one.
    nodes = rows((), (a,), (b,), (c,), (a, b), (a, c), (b, c), (a, b, c))
    assert shown_nodes(facility, replace(cores, nodes=nodes)) == (1, 4, 5, 6, 7)
    # With only {a} and {b}, one node of each, then the others in the order of the file.
    nodes = rows((a,), (a,), (a,), (a,), (a,), (a,), (b,), (b,))
    assert shown_nodes(facility, replace(cores, nodes=nodes)) == (0, 1, 2, 3, 6)


def test_of_nodes_with_the_same_task_types_the_busiest_comes_first():
    facility, _, cores = plain_room(nodes=7, cores=2)
    nodes = tuple(((CoreFraction("task 0", 0.1 * (v + 1)),), ()) for v in range(7))
    assert shown_nodes(facility, replace(cores, nodes=nodes)) == (2, 3, 4, 5, 6)
