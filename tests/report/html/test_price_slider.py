"""The slider of a bag shows, letter by letter, the answer of `lpsched solve` at that price, where neither searches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.overview import schedule_segments
from lpsched.bag.parts import Prices, Site
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.solve import solve
from lpsched.model.results import short_unit
from lpsched.report.figures.fronts import Frame
from lpsched.report.figures.prices import ratio_of
from lpsched.report.html import bag as module
from lpsched.report.html.bag import price_slider
from lpsched.report.html.page import line_at, written
from lpsched.units import duration, energy_text, gap_text, number, power_text

pytestmark = pytest.mark.rotate_tests(3)

INSTANCES = Path(__file__).parents[3] / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")


def slider_of(bag, **curve):
    found = price_curve(bag, **curve)
    return price_slider(bag, schedule_segments(bag, found), gamma=ratio_of(found))


def words_at(slider, x):
    here = slider.segment_at(x)
    readings = [written(reading, here, x) for reading in here.readings]
    tables = [[[written(cell, here, x) for cell in row] for row in rows] for rows in here.tables]
    return dict(zip(slider.labels, readings, strict=True)), tables


def words_of(result):
    """Return the answer of `solve` by the slider's labels; its rows of machine types and task types."""
    seconds, joules = result.measured.makespan_seconds, result.measured.energy_joules
    per_bag = None if seconds is None else result.value * seconds / 3600
    told = {
        "profit (verified)": f"{number(result.value)} {short_unit(result.unit)}",
        "at most (proved)": f"{result.bound_text()} {short_unit(result.unit)}",
        "gap": gap_text(result.gap),
        "profit per bag": "-" if per_bag is None else f"{number(per_bag)} USD",
        "makespan": duration(seconds),
        "energy": energy_text(joules),
        "average power": power_text(None if seconds is None else joules / seconds),
    }
    used: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    for group in result.schedule.groups:
        used[group.machine_type] += group.machines
        tasks[group.machine_type] += group.machines * sum(run.count for run in group.runs)
    machines = [
        [f"{used[name]:,}", f"{tasks[name]:,}", number(worth)] for name, worth in result.worth.machine_types.items()
    ]
    return told, machines, [number(worth) for worth in result.worth.task_types.values()]


@pytest.mark.parametrize(
    ("bag", "ratios"),
    [
        (TINY, (0.2, 0.9, 1.1, 1.37, 1.6, 2.1)),
        (IDLE.model_copy(update={"site": Site(average_power_cap_watts=52_000.0)}), (0.907, 0.95, 1.01, 1.03)),
    ],
    ids=["tiny", "idle"],
)
def test_the_slider_says_what_solve_says(bag, ratios):
    # With more effort, `solve` spends a second on one price that the curve shares between all of them.
    some = {} if bag is TINY else {"from_ratio": 0.9, "to_ratio": 1.05}
    slider = slider_of(bag, effort="balanced", **some)
    for ratio in ratios:
        result = solve(bag, profit_ratio=ratio, effort="balanced")
        told, machines, tasks = words_of(result)
        said, (_, _, machine_rows, task_rows) = words_at(slider, ratio * slider.scales[-1].size)
        assert {name: said[name] for name in told} == told
        assert [[row[1], row[3], row[4]] for row in machine_rows] == machines
        assert [row[-1] for row in task_rows] == tasks
        if result.worth.kilowatt_per_hour is not None:
            assert said["one more kW under the cap (LP)"] == f"{number(result.worth.kilowatt_per_hour)} USD/h"


def test_it_begins_at_the_price_asked_for():
    stretches = schedule_segments(TINY, price_curve(TINY), to_price=0.02)
    slider = price_slider(TINY, stretches, current=0.0132, gamma=0.0066)
    assert (slider.begins_at, slider.current) == (0.0132, 0.0132)
    assert [(each.label, each.size) for each in slider.scales] == [
        ("price, USD", 1.0),
        ("% of current price", 0.000132),
        ("profit ratio", 0.0066),
    ]
    beyond = price_slider(TINY, stretches, current=7.0)
    assert (beyond.begins_at, beyond.current) == (slider.segments[-1].stop, None)
    assert price_slider(TINY, stretches, even=0.01).begins_at == pytest.approx(0.012)


def test_where_energy_is_free_the_slider_moves_over_prices():
    slider = slider_of(TINY.model_copy(update={"prices": Prices(electricity_per_kwh=0.0, currency="EUR")}))
    assert [each.label for each in slider.scales] == ["price, EUR"]
    said, _ = words_at(slider, 0.25)
    assert said["profit (verified)"] == "75 EUR/h"  # 0.25 in 12 s


def test_machines_are_busy_for_their_share_of_the_makespan():
    # All on 'slow', of which there are two: 12 tasks in 30 s keep both busy, and 'fast' idles.
    _, (_, _, machines, _) = words_at(slider_of(TINY), 1.1 * 0.0066)  # a ratio of 1 is 0.0066 USD
    assert [row[2] for row in machines] == ["0 %", "100 %"]


def test_a_mark_is_where_the_schedule_is_and_none_where_nothing_runs():
    stretches = schedule_segments(TINY, price_curve(TINY))
    frame = Frame(front(TINY))
    slider = price_slider(TINY, stretches, frame=frame)
    waiting, *_, fast = slider.segments
    assert [mark.figure for mark in waiting.marks] == ["curve"]
    last = fast.marks[-1]
    assert (last.figure, last.x, last.y) == ("front", (8.4 / 3.6,) * 2, (12.0, 12.0))  # Wh and seconds
    assert fast.marks[0].y == (stretches[-1].value_at_from, stretches[-1].value_at_to)


def test_of_very_many_task_types_the_largest_follow(monkeypatch):
    bag = TINY.model_copy(
        update={"task_types": (TINY.task_types[0], TINY.task_types[1].model_copy(update={"count": 7}))}
    )
    stretches = schedule_segments(bag, price_curve(bag))
    monkeypatch.setattr(module, "MOST_CELLS", len(stretches) * 11)  # five for a machine type: room for one
    shown = price_slider(bag, stretches).tables[3]
    assert (shown.title, shown.names) == ("The 1 largest task type", ("print",))
    monkeypatch.setattr(module, "MOST_CELLS", len(stretches) * 10)
    none = price_slider(bag, stretches)
    assert [table.title for table in none.tables] == ["Money", "Which task runs where", "Machine types"]


def test_the_money_at_a_price_adds_up_to_the_profit():
    # 0.5 USD of overhead, and 1 USD for each busy hour of 'slow'. At 2 USD all on 'fast' and 'slow', in 12 s with 8,400 J
    # for 1 USD/kWh: 2 - 0.5 - 8400 / 3.6e6 - wear.
    machines = (TINY.machine_types[0], TINY.machine_types[1].model_copy(update={"wear_per_busy_hour": 1.0}))
    prices = Prices(electricity_per_kwh=1.0, overhead_per_bag=0.5)
    slider = slider_of(TINY.model_copy(update={"machine_types": machines, "prices": prices}))
    here = slider.segment_at(2.0)
    money = [[line_at(2.0, here, cell.ends) for cell in row] for row in here.tables[0]]
    assert slider.tables[0].names == ("revenue", "electricity", "wear", "overhead", "profit")  # nothing else is paid
    assert [row[1] for row in money[:2]] == pytest.approx([2.0, -8400 / 3.6e6])
    assert money[3][1] == pytest.approx(-0.5)
    assert money[2][1] == pytest.approx(-2 * 12 / 3600)  # both of 'slow' are busy to the end
    for column in (0, 1):
        assert sum(row[column] for row in money[:4]) == pytest.approx(money[4][column])
    assert money[4][0] == pytest.approx(money[4][1] * 3600 / 12)  # bag after bag, each in 12 s
    decimals = {len(written(cell, here, here.start).partition(".")[2]) for row in here.tables[0] for cell in row[:1]}
    assert len(decimals) == 1  # as in the terminal, amounts stand below each other


def test_waiting_has_costs_but_no_revenue():
    slider = slider_of(TINY)
    said, (money, heat, _, _) = words_at(slider, 0.001)
    assert said["status"] == "best not to run"
    assert [row[0] for row in money] == ["0.0000", "-0.1440", "-0.1440"]  # idle watts for an hour
    assert {row[1] for row in money} == {"-"}
    assert {cell for row in heat for cell in row} == {"-"}


def test_the_heat_map_counts_the_tasks_of_the_schedule_and_joins_small_types(monkeypatch):
    result = solve(TINY, price=0.02, effort="balanced")
    slider = slider_of(TINY, effort="balanced")
    counts: Counter[tuple[str, str]] = Counter()
    for group in result.schedule.groups:
        for run in group.runs:
            counts[run.task_type, group.machine_type] += group.machines * run.count
    _, (_, heat, _, _) = words_at(slider, 0.02)
    table = slider.tables[1]
    assert table.headers == ("task type", "fast", "slow")
    runs = [[counts[task, machine] for machine in table.headers[1:]] for task in table.names]
    assert heat == [[f"{count:,}" if count else "-" for count in row] for row in runs]
    assert [sum(row) for row in runs] == list(table.totals)
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    joined = slider_of(TINY, effort="balanced")
    assert (joined.tables[1].names, joined.tables[1].totals) == (("2 other task types",), (12.0,))
    _, (_, (row,), _, _) = words_at(joined, 0.02)
    assert row == [str(sum(each[column] for each in runs)) for column in (0, 1)]
