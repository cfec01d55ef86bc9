"""Simulations in tables, figures and a page: the numbers of the result, names as they stand, small files."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from lpsched.io.figure_files import figure_bytes
from lpsched.model.table import Table
from lpsched.online.compare.simulations import simulate
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.parts import DayMachineType, DayTaskType, Period
from lpsched.online.result.policy import COLUMNS as POLICY_COLUMNS
from lpsched.online.result.policy import Earned, Judged, PolicyEntry, PolicyRun
from lpsched.online.result.simulation import TrialBounds
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.report.figures.simulation import (
    drawn_policies,
    priorities_figure,
    priorities_of,
    priority_rows,
    simulation_figure,
    traces_figure,
)
from lpsched.report.figures.timeline import COLUMNS, MOST_MACHINES, Bar, timeline_figure, timeline_of
from lpsched.report.html.comparisons import simulation_page
from lpsched.report.online_answers import in_words, simulation_tables
from tests.days import decaying, simple_day
from tests.online.result.test_simulation import run, simulation
from tests.report.html_reader import Reader
from tests.simulated import drawn_day

pytestmark = pytest.mark.rotate_tests(4)


@pytest.fixture(scope="module")
def day():
    return drawn_day(energy_gigajoules=0.001)


@pytest.fixture(scope="module")
def result(day):
    return simulate(day, ["fcfs", "min-min"], trials=2)


def printed(tables, width=300):
    out = io.StringIO()
    console = Console(file=out, width=width)
    for each in tables:
        console.print(each)
    return out.getvalue()


def texts(figure):
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.slow
def test_the_page_is_whole_and_needs_nothing_else(day, result):
    text = simulation_page(day, result)
    page = Reader(text)
    assert page.issues == []
    assert page.of("h2")[:3] == ["Policies side by side", "Utility and energy over the period", "Utility by priority"]
    assert len([tag for tag, _ in page.tags if tag == "figure"]) == 3
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert text.count("<script") == 1  # ours
    assert simulation_page(day, result) == text


def test_the_page_says_which_policies_have_no_answer(day, result):
    failed = PolicyEntry("<lazy>", "policy", (PolicyRun(0, reason="it did nothing"),))
    page = Reader(simulation_page(day, replace(result, policies=(*result.policies, failed))))
    assert "<lazy>" in page.of("td")
    assert "it did nothing" in page.of("td")
    alone = Reader(simulation_page(day, replace(result, policies=(failed,))))
    assert alone.issues == []
    assert "No scheduler has a result." in alone.of("p")


def test_the_sentence_names_the_best_and_the_bound():
    entries = (
        PolicyEntry("low", "policy", (run(0, 10.0, bound=80.0),)),
        PolicyEntry("high", "policy", (run(0, 60.0, bound=80.0),)),
    )
    bounds = (TrialBounds(0, 100.0, 80.0),)
    assert simulation(*entries, bounds=bounds).headline() == (
        "Best of 2 schedulers: high, utility 60; at most 80 possible (gap 25 %, proved)."
    )
    assert (
        simulation(entries[1], bounds=bounds).headline() == "high: utility 60; at most 80 possible (gap 25 %, proved)."
    )
    offline = PolicyEntry("offline", "offline", (run(0, 70.0, bound=80.0),))  # is no policy
    assert simulation(*entries, offline).headline().startswith("Best of 2 schedulers: high, mean utility 60")


@pytest.mark.parametrize(
    ("seconds", "arrivals", "words"),
    [(30.0, None, "30 s"), (None, 1, "arrival"), (None, 2000, "2,000 arrivals"), (60.0, 1, "60 s or arrival")],
)
def test_when_mapping_events_are_is_said(seconds, arrivals, words):
    made = simulation(PolicyEntry("p", "policy", (run(0, 10.0),)))
    options = {**made.options, "every_seconds": seconds, "every_arrivals": arrivals}
    assert f"; a scheduling event every {words}; " in f"{in_words(replace(made, options=options))}; "


def test_on_a_narrow_terminal_the_columns_of_policies_stand_below_each_other():
    entries = PolicyEntry("p", "policy", (run(0, 10.0),)), PolicyEntry("q", "policy", (run(0, 60.0),))
    shown = [
        column.header for column in POLICY_COLUMNS[Judged.DAY] if column.header not in {"gap", "dropped", "waiting"}
    ]
    for width, parts in ((80, 1), (60, 2)):
        lines = printed(simulation_tables(simulation(*entries)), width=width).splitlines()
        headers = [line.split() for line in lines if line.startswith("scheduler")]
        assert [word for words in headers for word in words if word != "scheduler"] == " ".join(shown).split()
        assert len(headers) == parts
        assert max(map(len, lines)) <= width


def test_tables_tell_worths_reasons_and_interrupted_trials():
    bounds = (TrialBounds(0, 100.0, 80.0, 1.5, (("cpu", 12.0),), 3.0),)
    failed = PolicyEntry("lazy", "policy", (PolicyRun(0, reason="it did nothing"),))
    shown = printed(simulation_tables(replace(simulation(failed, bounds=bounds), asked_trials=5)))
    assert "d: 1 of 5 days; seed 4; queued machines; a scheduling event every 60 s; energy at most 277.8 kWh" in (
        " ".join(shown.split())
    )
    assert re.search(r"an hour of cpu +12\n", shown)
    assert re.search(r"a kWh +3\n", shown)
    assert re.search(r"lazy +0 +it did nothing", shown)
    assert "found in 1.5 s" in shown


def test_names_with_markup_are_drawn_as_they_stand(result):
    odd = replace(result.policies[0], name="$x_1$ <b>[red]")
    shown = texts(traces_figure(replace(result, policies=(odd,))))
    assert r"\$x_1\$ <b>[red]" in shown


def test_lines_end_at_the_totals_and_the_constraint_is_dashed(result):
    figure = traces_figure(result)
    left, right = figure.axes
    by_name = {line.get_label(): line for line in left.lines}
    for entry in result.policies:
        assert np.asarray(by_name[entry.name].get_ydata())[-1] == pytest.approx(entry.mean("utility").mean)
    limit = next(line for line in right.lines if line.get_label() == "energy constraint")
    assert limit.get_linestyle() == "--"
    assert right.get_ylabel() == "energy taken so far, kWh"
    assert list(limit.get_ydata()) == pytest.approx([1e6 / 3.6e6] * 2)  # 0.001 GJ
    assert left.get_xlabel() == "minutes of the period"
    assert len(left.collections) == 2  # a band for each policy, over two trials


def test_of_many_policies_those_that_earn_most_are_drawn(result):
    many = [replace(result.policies[0], name=f"p{utility}", runs=(run(0, float(utility)),)) for utility in range(20)]
    drawn = drawn_policies(replace(result, policies=tuple(many)))
    assert [entry.name for entry in drawn] == [f"p{utility}" for utility in range(12, 20)]


def test_shares_of_priorities_are_where_the_table_says(result):
    names = priorities_of(result)
    headers, rows = priority_rows(result)
    assert headers == ("scheduler", *names)
    (axes,) = priorities_figure(result).axes
    marks = {line.get_label(): line for line in axes.lines if line.get_marker() not in {"", "None", None}}
    for place, name in enumerate(names):
        for row, entry in enumerate(result.policies):
            share = {each.name: each.share for each in entry.earned}[name]
            assert np.asarray(marks[name].get_xdata())[row] == pytest.approx(100 * share)
            assert rows[row][place + 1] == f"{100 * share:.1f} %"


def test_no_two_priorities_have_the_same_shape_or_colour():
    earned = tuple(Earned(f"p{place}", 1.0, 2.0) for place in range(8))
    entry = PolicyEntry("a", "policy", (run(0, 1.0, earned=earned),))
    (axes,) = priorities_figure(simulation(entry)).axes
    marks = [line for line in axes.lines if str(line.get_label()).startswith("p")]
    assert len({line.get_marker() for line in marks}) == len({line.get_color() for line in marks}) == 8


def ten_second_tasks(period):
    """Two machines; tasks of 10 s worth 9 and 1."""
    much, little = decaying(9.0), decaying(1.0)
    day = simple_day([[10.0]], [[1.0]], [2], [(0.0, 0, much), (0.0, 0, little), (0.0, 0, much)])
    return day.model_copy(update={"period": period})


def test_a_timeline_has_a_bar_for_each_run_cut_to_the_period():
    # The period is from 20 s to 120 s, so a column is 0.1 s. A run from 15 s has 5 s in it: columns 0 to 50.
    day = ten_second_tasks(Period(20.0, 100.0))
    schedule = DaySchedule((PlacedTask(0, "m0", 1, 15.0), PlacedTask(1, "m0", 1, 40.0), PlacedTask(2, "m0", 2, 115.0)))
    timeline = timeline_of(day, schedule)
    assert timeline.machines == (("m0", 1), ("m0", 2))
    assert timeline.kinds == ("own function u0", "own function u1")
    assert timeline.bars == (Bar(0, 0, 0, 50), Bar(0, 1, 200, 300), Bar(1, 0, 950, 1000))


def test_what_is_thinner_than_a_column_is_joined_with_its_neighbours():
    # A column is 100 s: ten runs of 10 s each without a break fill one; a single one does not.
    worth = decaying(1.0)
    day = simple_day([[10.0]], [[1.0]], [1], [(0.0, 0, worth)] * 21)
    day = day.model_copy(update={"period": Period(0.0, 100.0 * COLUMNS)})
    starts = [*(10.0 * n for n in range(20)), 5000.0]
    schedule = DaySchedule(tuple(PlacedTask(n, "m0", 1, start) for n, start in enumerate(starts)))
    assert timeline_of(day, schedule).bars == (Bar(0, 0, 0, 2),)


def test_a_day_without_an_end_is_drawn_until_the_last_task_ends():
    schedule = DaySchedule((PlacedTask(0, "m0", 1, 90.0),))
    assert timeline_of(ten_second_tasks(Period()), schedule).span_seconds == 100.0
    empty = timeline_of(ten_second_tasks(Period()), DaySchedule(()))
    assert (empty.bars, empty.span_seconds) == ((), 0.0)
    assert figure_bytes(timeline_figure(empty, "nothing"), ".svg")


def many_machines(types, count):
    return Day(
        name="many",
        machine_types=tuple(DayMachineType(f"m{j}", count) for j in range(types)),
        task_types=(DayTaskType("t"),),
        seconds=Table.of([[1.0] * types]),
        watts=Table.of([[1.0] * types]),
        tasks=ArrivingTasks.of([0.0], [0], ["u"]),
        utility_functions={"u": decaying(1.0)},
    )


@pytest.mark.parametrize(("types", "count"), [(3, 10**6), (1, 121), (500, 1), (130, 7)])
def test_of_many_machines_some_of_each_type_are_drawn(types, count):
    day = many_machines(types, count)
    timeline = timeline_of(day, DaySchedule((PlacedTask(0, "m0", 1, 0.0),)))
    assert len(timeline.machines) <= MOST_MACHINES
    assert len(timeline.machines) == len(set(timeline.machines))
    assert len({name for name, _ in timeline.machines}) == min(types, MOST_MACHINES)
    assert all(1 <= number <= count for _, number in timeline.machines)


@pytest.mark.slow
def test_a_full_day_of_a_hundred_machines_is_a_small_file():
    worths = [decaying(float(most)) for most in (8, 4, 2, 1)]
    tasks = [(0.0, 0, worths[n % 4]) for n in range(10_000)]
    day = simple_day([[860.0]], [[1.0]], [100], tasks).model_copy(update={"period": Period(0.0, 86_400.0)})
    schedule = DaySchedule(tuple(PlacedTask(n, "m0", n % 100 + 1, 861.0 * (n // 100)) for n in range(10_000)))
    svg = figure_bytes(timeline_figure(timeline_of(day, schedule), "busy"), ".svg")
    assert len(svg) < 1_500_000
    assert svg == figure_bytes(timeline_figure(timeline_of(day, schedule), "busy"), ".svg")


def test_the_picture_has_utility_energy_and_priorities(result):
    figure = simulation_figure(result)
    labels = [axes.get_xlabel() for part in figure.subfigs for axes in part.axes]
    assert labels == [
        "minutes of the period",
        "minutes of the period",
        "utility earned, % of what the tasks of each priority earn if none waits",
    ]
