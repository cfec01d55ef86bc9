"""Random tiny days that are odd: absent pairs, P-states in no order, utility by levels and by own functions."""

from __future__ import annotations

from hypothesis import strategies as st

from lpsched.model.table import Table
from lpsched.online.day import ArrivingTasks, Day, Levels
from lpsched.online.parts import EDGES, PRORATED, DayMachineType, DayTaskType, Period
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.utility import ClassInterval, Interval, Urgency, UtilityFunction, UtilityLevels

SECONDS = st.integers(1, 20).map(float) | st.floats(0.01, 100.0)
WATTS = st.integers(0, 20).map(float) | st.floats(0.01, 500.0)
GAPS = st.sampled_from([0.0, 0.0, 1.0, 5.0]) | st.floats(0.001, 30.0)
AMOUNTS = st.integers(0, 8).map(float) | st.floats(0.01, 10.0)
RATES = st.sampled_from([0.0, 0.01, 1.0]) | st.floats(0.001, 0.5)


@st.composite
def utility_functions(draw, most_intervals=4) -> UtilityFunction:
    """Draw a utility function: steady, decaying or dropping, perhaps worth nothing from the beginning."""
    count = draw(st.integers(1, most_intervals))
    values = sorted(draw(st.lists(AMOUNTS, min_size=2 * count, max_size=2 * count)), reverse=True)
    begins = [0.0]
    for _ in range(count - 1):
        begins.append(begins[-1] + draw(st.integers(1, 20).map(float) | st.floats(0.1, 50.0)))
    return UtilityFunction(
        tuple(Interval(begin, values[2 * k], values[2 * k + 1], draw(RATES)) for k, begin in enumerate(begins))
    )


@st.composite
def utility_levels(draw) -> UtilityLevels:
    """Draw a priority, an urgency and a utility class or two of each."""
    classes = {}
    for name in draw(st.sampled_from(["A", "AB"])):
        count = draw(st.integers(1, 3))
        shares = sorted(
            draw(st.lists(st.sampled_from([0.0, 0.1, 0.6, 1.0]), min_size=count, max_size=count)), reverse=True
        )
        begins = sorted(draw(st.sets(st.sampled_from([0.0, 0.1, 0.5, 2.0]), min_size=count, max_size=count)))
        classes[name] = tuple(
            ClassInterval(begin, share, draw(st.sampled_from([0.0, 0.9, 10.0])))
            for begin, share in zip(begins, shares, strict=True)
        )
    return UtilityLevels(
        {name: draw(AMOUNTS) for name in ("high", "low")},
        {"soon": Urgency(draw(RATES), draw(st.sampled_from([0.0, 0.8, 1.1])))},
        classes,
    )


@st.composite
def days(draw, *, most_tasks=6, most_types=3, most_machines=2) -> Day:
    """Draw a day with at most so many tasks, types of either kind, and machines of a type."""
    machines = tuple(
        DayMachineType(
            f"m{j}",
            draw(st.integers(1, most_machines)),
            draw(st.sampled_from([None, None, ("P0",), ("P0", "P1"), ("P0", "P1", "P2")])),
        )
        for j in range(draw(st.integers(1, most_types)))
    )
    types = draw(st.integers(1, most_types))
    columns = sum(machine.modes for machine in machines)
    present = [draw(st.lists(st.booleans(), min_size=columns, max_size=columns)) for _ in range(types)]
    for row in present:
        row[draw(st.integers(0, columns - 1))] = True

    def table(amounts: st.SearchStrategy[float]) -> Table:
        return Table.of([[draw(amounts) if there else None for there in row] for row in present])

    levels = draw(utility_levels())
    own = {f"u{f}": draw(utility_functions()) for f in range(draw(st.integers(0, 2)))}
    ways = [*own, *(Levels(p, "soon", c) for p in levels.priorities for c in levels.utility_classes)]
    arrivals, now = [], 0.0
    for _ in range(draw(st.integers(1, most_tasks))):
        now += draw(GAPS)
        arrivals.append(now)
    tasks = ArrivingTasks.of(
        arrivals, [draw(st.integers(0, types - 1)) for _ in arrivals], [draw(st.sampled_from(ways)) for _ in arrivals]
    )
    names = tuple(DayTaskType(f"t{i}") for i in range(types))
    return Day(
        name="drawn",
        machine_types=machines,
        task_types=names,
        seconds=table(SECONDS),
        watts=table(WATTS),
        tasks=tasks,
        utility_functions=own,
        **dict(levels),
    )


@st.composite
def periods(draw, *, ends_by=60.0) -> Period:
    """Draw a period: perhaps without warm-up, length or energy constraint, with edges of either kind."""
    begin = draw(st.sampled_from([0.0, 0.0, 1.0, 5.0]) | st.floats(0.01, ends_by / 2))
    length = draw(st.none() | st.sampled_from([1.0, 5.0, 20.0]) | st.floats(0.01, ends_by))
    edge = PRORATED if length is None else draw(st.sampled_from(EDGES))
    return Period(begin, length, edge, draw(st.none() | st.sampled_from([0.0, 100.0, 5000.0])))


@st.composite
def schedules_of(draw, day: Day) -> DaySchedule:
    """Draw a valid schedule: some tasks dropped, the rest on any machine, in any order, with pauses."""
    free: dict[tuple[int, int], float] = {}
    placed = []
    for task in draw(st.permutations(range(day.tasks))):
        row = day.seconds.row(day.arriving.type_numbers[task])
        column = draw(st.none() | st.sampled_from([c for c, cell in enumerate(row) if cell is not None]))
        if column is None:
            continue
        j = day.modes[column][0]
        number = draw(st.integers(1, day.machine_types[j].count))
        pause = draw(st.sampled_from([0.0, 0.0, 3.0]))
        start = max(day.arriving.arrival_seconds[task], free.get((j, number), 0.0)) + pause
        placed.append(PlacedTask(task, day.machine_types[j].name, number, start, day.p_state(column)))
        free[j, number] = start + (row[column] or 0.0)
    return DaySchedule(tuple(placed))
