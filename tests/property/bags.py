"""Random bags that reach every corner of the bag formulations: caps, deadlines and prices that bind.

Amounts are drawn first; cap, deadline and price then relative to what the bag needs, because random ones would
nearly always be out of reach or without effect. Amounts are equal or clearly apart, because what comes
first by a billionth depends on the tolerances of a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.model.table import Table
from models.front import least_cost, thriftiest
from models.profit import break_even_price, idle_floor, least_running_cost


def hundredths(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(100 * low, 100 * high).map(lambda number: number / 100)


def powers_of_ten(low: int, high: int) -> st.SearchStrategy[float]:
    return hundredths(low, high).map(lambda power: 10.0**power)


@dataclass(frozen=True)
class Ranges:
    """From what to draw."""

    seconds: st.SearchStrategy[float]
    watts: st.SearchStrategy[float]
    tasks: st.SearchStrategy[int]
    machines: st.SearchStrategy[int]
    most_types: int = 4


ORDINARY = Ranges(
    seconds=st.integers(1, 20).map(float) | hundredths(1, 100),
    watts=st.integers(1, 20).map(float) | hundredths(1, 500),
    tasks=st.integers(1, 20) | st.integers(1, 100_000),
    machines=st.integers(1, 3) | st.integers(1, 1000),
)
UNEQUAL = Ranges(
    seconds=powers_of_ten(-3, 3),
    watts=powers_of_ten(0, 3),
    tasks=powers_of_ten(0, 6).map(int),
    machines=powers_of_ten(0, 6).map(int),
    most_types=3,
)


@st.composite
def plain_bags(draw, ranges: Ranges, *, power: bool = True) -> Bag:
    """Draw absent pairs, P-states, idle power (often above some watts), wear and depreciation; no limits."""
    machines = tuple(
        MachineType(
            name=f"m{j}",
            count=draw(ranges.machines),
            idle_watts=draw(st.just(0.0) | ranges.watts),
            wear_per_busy_hour=draw(st.just(0.0) | st.floats(0.01, 1.0)),
            purchase_price=draw(st.just(0.0) | st.floats(10.0, 1000.0)),
            mean_hours_to_failure=draw(st.floats(100.0, 10_000.0)),
            p_states=draw(st.sampled_from([None, None, ("P0",), ("P0", "P1"), ("P0", "P1", "P2")])),
        )
        for j in range(draw(st.integers(1, ranges.most_types)))
    )
    tasks = tuple(
        TaskType(name=f"t{i}", count=draw(ranges.tasks)) for i in range(draw(st.integers(1, ranges.most_types)))
    )
    columns = sum(machine.modes for machine in machines)
    present = [draw(st.lists(st.booleans(), min_size=columns, max_size=columns)) for _ in tasks]
    for row in present:
        row[draw(st.integers(0, columns - 1))] = True

    def table(amounts: st.SearchStrategy[float]) -> Table:
        return Table.of([[draw(amounts) if there else None for there in row] for row in present])

    return Bag("drawn", machines, tasks, table(ranges.seconds), table(ranges.watts) if power else None)


@st.composite
def limited_bags(draw, ranges: Ranges) -> Bag:
    """Draw a bag with a PUE and, often, a cap above the idle floor and a deadline above the least makespan."""
    bag: Bag = draw(plain_bags(ranges))
    pue = draw(st.just(1.0) | st.floats(1.0, 2.0))
    meter = draw(st.sampled_from(["facility", "it"]))
    cap = None
    if draw(st.booleans()):
        way = thriftiest(bag)
        it_cap = 1.05 * idle_floor(bag) + draw(st.floats(0.05, 3.0)) * way.joules / way.seconds
        cap = it_cap * (pue if meter == "facility" else 1.0)
    bag = bag.model_copy(update={"site": Site(pue=pue, average_power_cap_watts=cap, cap_measured_at=meter)})
    if draw(st.booleans()):
        fastest = least_cost(bag, joules_weight=0.0, seconds_weight=1.0)
        deadline = draw(st.floats(1.1, 5.0)) * fastest
        short = least_cost(without_pairs_beyond(bag, deadline), joules_weight=0.0, seconds_weight=1.0)
        if short > deadline / 1.05:  # the pairs that are left take longer
            deadline *= short / fastest
        bag = bag.model_copy(update={"site": bag.site.model_copy(update={"deadline_seconds": deadline})})
    return bag


def without_pairs_beyond(bag: Bag, deadline: float) -> Bag:
    """Return the bag with the pairs that are done by then; none is the last of its task type."""

    def only(table: Table) -> Table:
        rows = [
            [cell if e is not None and e <= deadline else None for cell, e in zip(*both, strict=True)]
            for both in zip(table, bag.seconds, strict=True)
        ]
        return Table.of(rows)

    return bag.model_copy(update={"seconds": only(bag.seconds), "watts": only(bag.watts)})


@st.composite
def priced_bags(draw, ranges: Ranges) -> Bag:
    """Draw a bag with a price near the two at which the regime changes: waiting, running at a loss, profit."""
    bag: Bag = draw(limited_bags(ranges))
    per_kwh = draw(st.floats(0.01, 1.0))
    bag = bag.model_copy(update={"prices": Prices(electricity_per_kwh=per_kwh)})
    even = break_even_price(bag)
    overhead = draw(st.just(0.0) | st.floats(0.1, 1.0)) * even
    waiting = least_running_cost(bag)
    place = draw(st.sampled_from([-0.5, 0.01, 0.5, 0.99, 1.01, 1.5]) | hundredths(-1, 2))
    costs = waiting + place * (even - waiting)  # 0: waiting and running are alike; 1: running breaks even
    factor = draw(st.sampled_from([0.5, 1.0, 1.0, 1.1, 20.0]))
    if factor == 1.0 and abs(costs - waiting) < 0.001 * abs(waiting):  # else all answers are rounding errors
        factor = 1.1
    price = overhead + max(0.0, factor * costs)
    by_task = draw(st.sampled_from([0.0, 0.3, 1.0]))
    first = bag.task_types[0]
    per_task = {first.name: by_task * price / first.count} if by_task else {}
    return bag.model_copy(
        update={
            "prices": Prices(
                per_bag=(1.0 - by_task) * price,
                per_task=per_task,
                electricity_per_kwh=per_kwh,
                overhead_per_bag=overhead,
            )
        }
    )
