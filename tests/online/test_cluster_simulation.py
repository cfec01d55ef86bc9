"""Simulations of clusters in tables, pictures and a page: waits, costs, and what nodes run when."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from lpsched.io.figure_files import figure_bytes
from lpsched.online.compare.simulations import simulate
from lpsched.online.parts import Cluster, Period
from lpsched.online.result.policy import COLUMNS as POLICY_COLUMNS
from lpsched.online.result.policy import Judged, PolicyEntry, PolicyRun
from lpsched.online.result.simulation import TrialBounds
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.simulate.options import ClusterOptions
from lpsched.online.utility import WaitingCost
from lpsched.report.figures import timeline as module
from lpsched.report.figures.simulation import simulation_figure, traces_figure, wait_rows, waits_figure
from lpsched.report.figures.timeline import (
    BUSY_COLUMNS,
    COLUMNS,
    HATCHES,
    MOST_CLUSTERS,
    MOST_LOOKS,
    ROWS,
    looks_of,
    node_figure,
    node_times,
    times_figure,
)
from lpsched.report.html.comparisons import simulation_page
from lpsched.report.online_answers import cost_words, in_words, notes, simulation_tables
from tests.days import decaying
from tests.parallel import Task, simple_clusters
from tests.report.html_reader import Reader
from tests.report.test_simulation import printed, texts
from tests.simulated_clusters import drawn_clusters, three_tasks, waiting_tasks

pytestmark = pytest.mark.rotate_tests(5)

NOTHING = ClustersSchedule(())


@pytest.fixture(scope="module")
def clusters():
    return drawn_clusters(energy_gigajoules=0.01)


@pytest.fixture(scope="module")
def result(clusters):
    return simulate(clusters, ["easy", "random"], trials=2)


@pytest.fixture(scope="module")
def waiting():
    return waiting_tasks(WaitingCost())


@pytest.fixture(scope="module")
def costs(waiting):
    made = simulate(waiting, ["easy", "conservative"])
    bounds = tuple(replace(trial, bound=-4.0, bound_seconds=1.5) for trial in made.trials)
    entries = tuple(replace(each, runs=(replace(each.runs[0], bound=-4.0),)) for each in made.policies)
    return replace(made, trials=bounds, policies=entries)


def worth_one(seconds, nodes, tasks, **more):
    """Return clusters whose tasks are worth 1, whenever they end."""
    worth = decaying(1.0)
    return simple_clusters(seconds, nodes, [task._replace(utility=worth) for task in tasks], **more)


def on_nodes(*placed):
    return ClustersSchedule(tuple(PlacedOnNodes(task, "c0", nodes, start) for task, nodes, start in placed))


def test_the_page_of_utilities_is_whole(clusters, result):
    text = simulation_page(clusters, result)
    page = Reader(text)
    assert page.issues == []
    assert page.of("h2") == [
        "Policies side by side",
        "Utility and energy over the period",
        "Utility by priority",
        "How long tasks waited",
        f"What the nodes run under {result.best.name}",
        "What the columns mean",
    ]
    assert len([tag for tag, _ in page.tags if tag == "figure"]) == 4
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert text.count("<script") == 1  # ours
    assert simulation_page(clusters, result) == text


def test_the_page_of_costs_tells_no_utility(waiting, costs):
    page = Reader(simulation_page(waiting, costs))
    assert page.issues == []
    heads = page.of("h2")
    assert "Cost over time" in heads
    assert "Utility by priority" not in heads
    # Bounded slowdowns of 1, 2 and 3: a cost of 6, half as much again as the bound of 4.
    assert "Best of 2 schedulers: easy and 1 other, cost 6; at least 4 in any schedule (gap 50 %, proved)." in page.of(
        "p"
    )


def test_the_page_is_whole_where_no_policy_has_an_answer(waiting, costs):
    failed = PolicyEntry("<lazy>", "policy", (PolicyRun(0, reason="it did nothing"),), None, Judged.WAITING)
    page = Reader(simulation_page(waiting, replace(costs, policies=(failed,))))
    assert page.issues == []
    assert "No scheduler has a result." in page.of("p")
    assert "it did nothing" in page.of("td")


def test_costs_are_positive_in_tables_and_pictures(costs):
    shown = printed(simulation_tables(costs))
    assert re.search(r"no-wait reference +3 +1 *\n", shown)
    assert re.search(r"bound \(proved\) +4 +1.333 *\n", shown)  # 4 / 3, rounded down
    assert re.search(r"easy +6 +2 +50 % +100 % +10 s +20 s +3 ", shown)
    assert "The bound was found in 1.5 s." in " ".join(shown.split())
    (axes,) = traces_figure(costs).axes  # nobody knows the energy
    assert axes.get_ylabel() == "cost of the tasks done so far"
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.lines}
    assert lines["easy"][-1] == pytest.approx(6.0)
    assert list(lines["no schedule below, proved"]) == [4.0, 4.0]


def test_the_picture_of_costs_has_waits_and_that_of_utilities_priorities(result, costs):
    lowest = [
        [axes.get_xlabel() for part in simulation_figure(each).subfigs for axes in part.axes][-1]
        for each in (result, costs)
    ]
    assert lowest[0].startswith("utility earned")
    assert lowest[1] == "wait from arrival to start"


def test_waits_are_where_the_table_says(costs):
    (axes,) = waits_figure(costs).axes
    marks = {line.get_label(): line for line in axes.lines if line.get_marker() not in {"", "None", None}}
    assert {name: np.asarray(mark.get_xdata())[0] for name, mark in marks.items()} == {
        "median": 10.0, "mean": 10.0, "95 % wait no longer": 20.0, "longest": 20.0,
    }  # fmt: skip
    assert len({mark.get_marker() for mark in marks.values()}) == 4
    headers, rows = wait_rows(costs)
    assert rows[0] == ("easy", "10 s", "10 s", "20 s", "20 s", "2")
    assert len(headers) == 6


def test_how_clusters_were_run_is_said(result, costs):
    assert in_words(result) == "2 trials; seed 0; a scheduling event every 60 s; energy at most 2.778 kWh"
    told = "1 trial; seed 0; cost: bounded slowdown (runs of 10 s at least); a scheduling event at every arrival"
    assert in_words(costs) == f"{told} and end"
    options = {**result.options, "drop_below": 0.5, "energy_filter": "per-task", "leniency": 2.0}
    assert in_words(replace(result, options=options)).endswith(
        "; tasks below 0.5 dropped; energy filter per-task, leniency 2"
    )
    assert "Means over the trials" in notes(result)[0]


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (WaitingCost("seconds"), "cost: seconds waited"),
        (WaitingCost("slowdown", "cores"), "cost: slowdown times cores"),
        (WaitingCost("points", "core-seconds", points=((0.0, 1.0),)), "cost: by the points of the file times core-seconds"),
    ],
)  # fmt: skip
def test_what_waiting_costs_is_said(cost, words):
    told = {"measure": cost.measure, "weight": cost.weight, "at_least_seconds": cost.at_least_seconds}
    assert cost_words(told) == words


def test_on_a_narrow_terminal_no_column_is_lost(result, costs):
    for made in (result, costs):
        lines = printed(simulation_tables(made), width=80).splitlines()
        heads = [line.split() for line in lines if line.startswith("scheduler")]
        words = [word for head in heads for word in head if word != "scheduler"]
        hidden = {"dropped", *(() if made.bound is not None else ("gap",))}  # tasks of `result` are left waiting
        heads = [column.header for column in POLICY_COLUMNS[made.judged] if column.header not in hidden]
        assert words == " ".join(heads).split()
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("per_kwh", [None, 0.0])
def test_worths_are_of_nodes_and_without_a_limit_of_no_energy(costs, per_kwh):
    bounds = (TrialBounds(0, -3.0, -4.0, 1.5, (("all", 12.0),), per_kwh, 3),)
    shown = printed(simulation_tables(replace(costs, trials=bounds)))
    assert re.search(r"marginal value of one more \(LP\) +cost saved\n", shown)
    assert re.search(r"an hour of a node of all +12\n", shown)
    assert "kWh" not in shown


def test_the_sentence_of_utilities_is_that_of_days(result):
    assert result.headline().startswith(f"Best of 2 schedulers: {result.best.name}, mean utility ")


def test_every_run_is_a_rectangle_for_each_range_of_its_nodes():
    # Nodes 1 and 3 from 15 s, nodes 1 to 2 from 40 s; the period is from 20 s to 120 s; drawn until 123 s.
    clusters = worth_one(
        [[10.0]], [3], [Task(0.0, 2)] * 3, period=Period(20.0, 100.0)
    )  # fmt: skip
    schedule = on_nodes((0, ((1, 1), (3, 3)), 15.0), (1, ((1, 2),), 40.0), (2, ((2, 3),), 119.0))
    times = node_times(clusters, schedule)
    (only,) = times.clusters
    assert [each[1:] for each in only.rectangles] == [
        (0, 1, 15.0, 25.0),
        (2, 3, 15.0, 25.0),
        (0, 2, 40.0, 50.0),
        (1, 3, 119.0, 123.0),
    ]
    assert (times.begin, times.end, times.edges, times.is_exact) == (0.0, 123.0, (20.0, 120.0), True)


def test_how_busy_nodes_are_adds_up_to_the_node_seconds():
    # 3 nodes for 123 s; the runs above have 2 x 10, 2 x 10 and 2 x 4 node-seconds within.
    clusters = worth_one([[10.0]], [3], [Task(0.0, 2)] * 3, period=Period(20.0, 100.0))
    schedule = on_nodes((2, ((2, 3),), 119.0), (1, ((1, 2),), 40.0), (0, ((1, 1), (3, 3)), 15.0))
    times = node_times(clusters, schedule)
    assert len(times.busy) == BUSY_COLUMNS
    assert sum(times.busy) / BUSY_COLUMNS == pytest.approx(48.0 / (3 * 123.0))
    assert times.busy == times.clusters[0].busy
    assert times.busy[0] == 0.0


def test_of_many_runs_cells_show_what_takes_most_of_them(monkeypatch):
    # A second type that runs 30 of the first 100 columns' 40 s loses against the first one, which runs 10 s
    # less; where nothing runs for half of a cell, nothing is shown.
    monkeypatch.setattr(module, "MOST_RECTANGLES", 2)
    tasks = [Task(0.0, 1, task_type=0), Task(0.0, 1, task_type=1), Task(0.0, 1, task_type=0)]
    period = Period(0.0, 40.0 * COLUMNS / 1.03)
    clusters = worth_one([[30.0], [10.0]], [1], tasks, period=period)
    schedule = on_nodes((0, ((1, 1),), 0.0), (1, ((1, 1),), 30.0), (2, ((1, 1),), 39_975.0))
    times = node_times(clusters, schedule)
    assert not times.is_exact
    (first, last) = times.clusters[0].rectangles
    assert first[:4] == (0, 0.0, 1.0, 0.0)
    assert first.end == pytest.approx(40.0)
    assert (last.start, last.end) == pytest.approx((39_960.0, 40_000.0))  # 25 s of 40 s


def test_cells_of_a_million_nodes_are_few():
    nodes = 10**6
    tasks = [Task(0.0, nodes // 2)] * 4000
    clusters = worth_one([[10.0]], [nodes], tasks)
    schedule = on_nodes(*((n, ((1, nodes // 2),), 10.0 * n) for n in range(4000)))
    times = node_times(clusters, schedule)
    (only,) = times.clusters
    # Half of the rows are busy all the time, with waits of up to 10 minutes, up to 2 hours, and longer.
    assert len(only.rectangles) == 3 * ROWS // 2
    assert {(each.start, each.end) for each in only.rectangles} == {
        (0.0, 600.0), (600.0, 7200.0), (7200.0, 40_000.0),
    }  # fmt: skip
    assert max(each.high for each in only.rectangles) == pytest.approx(nodes / 2)
    svg = figure_bytes(node_figure(times, "busy"), ".svg")
    assert len(svg) < 500_000
    assert svg == figure_bytes(node_figure(times, "busy"), ".svg")


def test_of_many_clusters_the_largest_are_drawn_in_their_order():
    count = MOST_CLUSTERS + 3
    clusters = worth_one([[1.0] * count], [n + 1 for n in range(count)], [Task(0.0)])
    shown = node_times(clusters, NOTHING).clusters
    assert [each.name for each in shown] == [f"c{n}" for n in range(3, count)]


def test_nothing_at_all_can_be_drawn():
    for clusters in (three_tasks(), three_tasks(length_seconds=20.0), waiting_tasks()):
        assert figure_bytes(node_figure(node_times(clusters, NOTHING), "nothing"), ".svg")


def test_looks_show_p_states_then_types_then_waits():
    tasks = [Task(0.0, task_type=n % 2) for n in range(3)]
    placed = on_nodes((0, ((1, 1),), 0.0), (1, ((1, 1),), 600.0), (2, ((1, 1),), 601.0))
    two = worth_one([[1.0], [1.0]], [1], tasks)
    looks = looks_of(two, placed)
    assert (looks.meaning, looks.names, looks.numbers) == ("task type", ("t0", "t1"), (0, 1, 0))
    one = worth_one([[1.0]], [1], [Task(0.0)] * 3)
    looks = looks_of(one, placed)
    assert looks.names == ("began at once", "waited up to 10 min", "up to 2 hours")
    assert (looks.meaning, looks.numbers, looks.light_first) == ("wait", (0, 1, 2), True)
    states = worth_one([[1.0, 2.0]], [1], [Task(0.0)] * 2, p_states=[("fast", "slow")])
    slow = ClustersSchedule(tuple(PlacedOnNodes(n, "c0", ((1, 1),), 2.0 * n, "slow") for n in range(2)))
    assert looks_of(states, slow).names == ("slow",)


def test_more_types_than_looks_are_drawn_as_one():
    count = MOST_LOOKS + 2
    clusters = worth_one([[1.0]] * count, [1], [Task(0.0, task_type=n) for n in range(count)])
    looks = looks_of(clusters, on_nodes(*((n, ((1, 1),), float(n)) for n in range(count))))
    assert looks.names[-1] == "all others"
    assert looks.numbers == (0, 1, 2, 3, 4, 5, 5, 5)
    assert len(looks.names) == len(HATCHES) == len(set(HATCHES)) == MOST_LOOKS


def test_every_look_has_a_colour_and_a_hatch_of_its_own():
    count = MOST_LOOKS
    clusters = worth_one([[1.0]] * count, [1], [Task(0.0, task_type=n) for n in range(count)])
    times = node_times(clusters, on_nodes(*((n, ((1, 1),), float(n)) for n in range(count))))
    (legend,) = node_figure(times, "p").legends
    patches = legend.get_patches()
    assert len({patch.get_facecolor() for patch in patches}) == count
    assert len({patch.get_hatch() or "" for patch in patches}) == count


def test_names_with_markup_are_drawn_as_they_stand(waiting, costs):
    odd = waiting.model_copy(update={"clusters": (Cluster("$x_1$ <b>[red]", 2),)})
    placed = tuple(replace(each, cluster="$x_1$ <b>[red]") for each in costs.best.schedule.placed)
    runs = tuple(replace(run, busy=(("$x_1$ <b>[red]", 1.0),)) for run in costs.best.runs)
    entry = replace(costs.best, name="$p$", runs=runs, schedule=ClustersSchedule(placed))
    shown = texts(times_figure(odd, entry))
    assert r"\$x_1\$ <b>[red], 2 nodes" in shown
    assert r"seconds, under \$p\$" in shown
    page = simulation_page(odd, replace(costs, policies=(replace(entry, name="<script>"),)))
    assert page.count("<script>") == 1  # ours


def test_the_edges_of_the_period_are_dashed(clusters, result):
    axes = times_figure(clusters, result.best).axes[0]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [np.asarray(line.get_xdata())[0] for line in dashed] == [6.0, 36.0]  # minutes: 360 s and 2,160 s


def test_a_rectangle_too_thin_to_see_is_a_line():
    options = ClusterOptions(every_seconds=None)
    clusters = three_tasks()
    made = simulate(clusters, ["easy"], options=options)
    axes = times_figure(clusters, made.best).axes[0]
    assert axes.patches[0].get_linewidth() > 0.0
