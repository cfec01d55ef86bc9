"""The slider of a bag says, word for word, what `lpsched solve` says at that price, where neither searches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.overview import price_stretches
from lpsched.bag.parts import Prices, Site
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.solve import solve
from lpsched.report.figures.fronts import Frame
from lpsched.report.html import bag as module
from lpsched.report.html.bag import price_slider
from lpsched.report.html.bag_sections import busy_shares
from lpsched.report.html.page import written
from lpsched.units import number

pytestmark = pytest.mark.rotate_tests(3)

INSTANCES = Path(__file__).parents[3] / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")


def slider_of(bag, **curve):
    stretches = price_stretches(bag, price_curve(bag, **curve))
    return price_slider(bag, stretches, begins_at=0.0)


def words_at(slider, x):
    here = slider.stretch_at(x)
    readings = [written(reading, here, x) for reading in here.readings]
    tables = [[[written(cell, here, x) for cell in row] for row in rows] for rows in here.tables]
    return dict(zip(slider.labels, readings, strict=True)), tables


def words_of(result):
    """Return what `lpsched solve` prints, by the slider's labels; its rows of machine types and task types."""
    facts = {name: text for name, text, _ in result.facts()}
    measured = result.measured
    watts = None
    if measured.energy_joules is not None and measured.makespan_seconds is not None:
        watts = measured.energy_joules / measured.makespan_seconds
    told = {name: facts.get(name, "-") for name in ("bound", "value", "gap", "regime", "makespan", "energy")}
    told["average power"] = "-" if watts is None else f"{number(watts)} watts"
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
        said, (machine_rows, task_rows) = words_at(slider, ratio)
        assert {name: said[name] for name in told} == told
        assert [[row[1], row[2], row[4]] for row in machine_rows] == machines
        assert [row[-1] for row in task_rows] == tasks
        if result.worth.kilowatt_per_hour is not None:
            kilowatt = f"{number(result.worth.kilowatt_per_hour)} USD/hour"
            assert said["marginal value of one more kilowatt under the cap (LP)"] == kilowatt


def test_it_begins_at_the_price_asked_for():
    stretches = price_stretches(TINY, price_curve(TINY), to_price=0.02)
    slider = price_slider(TINY, stretches, begins_at=0.0132)
    assert slider.begins_at == 2.0  # ratio 1 is 0.0066 USD
    assert price_slider(TINY, stretches, begins_at=7.0).begins_at == slider.stretches[-1].stop


def test_where_energy_is_free_the_slider_moves_over_prices():
    slider = slider_of(TINY.model_copy(update={"prices": Prices(electricity_per_kwh=0.0, currency="EUR")}))
    assert slider.label == "price, EUR"
    said, _ = words_at(slider, 0.25)
    assert (said["price"], said["value"]) == ("0.25 EUR", "75 EUR/hour")  # 0.25 in 12 s


def test_machines_are_busy_for_their_share_of_the_makespan():
    # All on 'slow', of which there are two: 12 tasks in 30 s keep both busy, and 'fast' idles.
    result = solve(TINY, price=0.007)
    assert busy_shares(TINY, result.schedule) == {"fast": 0.0, "slow": 1.0}
    late = replace(result.schedule, makespan_seconds=60.0)
    assert busy_shares(TINY, late) == {"fast": 0.0, "slow": 0.5}
    _, (machines, _) = words_at(slider_of(TINY), 1.1)
    assert [row[3] for row in machines] == ["0 %", "100 %"]


def test_a_mark_is_where_the_schedule_is_and_none_where_nothing_runs():
    stretches = price_stretches(TINY, price_curve(TINY))
    frame = Frame(front(TINY))
    slider = price_slider(TINY, stretches, begins_at=0.0, frame=frame, panels=2)
    waiting, *_, fast = slider.stretches
    assert [(mark.picture, mark.axes) for mark in waiting.marks] == [("curve", 0), ("curve", 1)]
    last = fast.marks[-1]
    assert (last.picture, last.x, last.y) == ("front", (8.4, 8.4), (12.0, 12.0))  # kilojoules and seconds
    assert fast.marks[0].y == (stretches[-1].value_at_from, stretches[-1].value_at_to)


def test_of_very_many_task_types_the_largest_follow(monkeypatch):
    bag = TINY.model_copy(
        update={"task_types": (TINY.task_types[0], TINY.task_types[1].model_copy(update={"count": 7}))}
    )
    stretches = price_stretches(bag, price_curve(bag))
    monkeypatch.setattr(module, "MOST_CELLS", len(stretches) * 11)  # five for a machine type: room for one
    shown = price_slider(bag, stretches, begins_at=0.0).tables[1]
    assert (shown.title, shown.names) == ("The 1 largest task types", ("print",))
    monkeypatch.setattr(module, "MOST_CELLS", len(stretches) * 10)
    none = price_slider(bag, stretches, begins_at=0.0)
    assert [table.title for table in none.tables] == ["Machine types"]
