"""The slider of a bag: what is best at every price, read off the schedules along its price curve."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import machine_loads
from lpsched.bag.result import KILOWATT, Point, machine_heading, task_heading
from lpsched.report.html.page import FollowingTable, Mark, Reading, Slider, Stretch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceStretch
    from lpsched.bag.result import Worth
    from lpsched.bag.schedule import Schedule
    from lpsched.report.figures.fronts import Frame

FRONT: Final = "front"  # the picture in which a mark moves
CURVE: Final = "curve"
MOST_CELLS: Final = 30_000  # of tables that follow: some million letters
EXPLANATION: Final = (
    "Move it, or type a number: the value is what a verified schedule earns at that price, the bound what no "
    "schedule passes, proved. Nothing is drawn between samples: between two breakpoints everything is "
    "constant or a line. At the bag's own price it was searched as hard as 'lpsched solve' does; at other "
    "prices 'lpsched solve' may prove a lower bound and find a better schedule. At a breakpoint two "
    "schedules are equally good. Marginal values are derivatives of the LP bound for one more; where "
    "they bend between two breakpoints, there is a '-', and 'lpsched solve' has them."
)
NOTHING_RUNS: Final = Reading("-", "-")


@dataclass(frozen=True, slots=True)
class Along:
    """What the slider moves over: profit ratios, or prices where energy costs nothing."""

    currency: str
    by_ratio: bool

    @property
    def label(self) -> str:
        """What it is called."""
        return "profit ratio" if self.by_ratio else f"price, {self.currency}"

    def ends(self, stretch: PriceStretch) -> tuple[float, float]:
        """Return where a stretch begins and ends."""
        if self.by_ratio and stretch.from_ratio is not None and stretch.to_ratio is not None:
            return stretch.from_ratio, stretch.to_ratio
        return stretch.from_price, stretch.to_price

    def place(self, stretches: Sequence[PriceStretch], price: float) -> float:
        """Return where a price is, between the ends; a ratio of 1.2 is 1.2, whatever rounding made of it."""
        gamma = stretches[-1].to_price / self.ends(stretches[-1])[1]
        rounded = float(f"{price / gamma:.12g}")
        return min(max(rounded, self.ends(stretches[0])[0]), self.ends(stretches[-1])[1])


def price_slider(
    bag: Bag, stretches: Sequence[PriceStretch], *, begins_at: float, frame: Frame | None = None, panels: int = 0
) -> Slider:
    """Return the slider over the profit ratio, or over the price where energy costs nothing.

    Parameters
    ----------
    begins_at
        The price at which it stands at first.
    frame
        Of the picture of the front, in which a mark shows the schedule.
    panels
        Of the picture of the curve, in each of which a mark shows what the schedule earns.
    """
    along = Along(bag.prices.currency, by_ratio=stretches[-1].to_ratio is not None)
    shown = _shown_tasks(bag, len(stretches))
    tables = [_machine_table(bag)]
    if shown:
        tables.append(_task_table(bag, shown))
    return Slider(
        label=along.label,
        explanation=EXPLANATION,
        begins_at=along.place(stretches, begins_at),
        labels=_labels(bag),
        stretches=tuple(
            _stretch(bag, each, along, shown, (frame, panels)) for each in stretches if _is_wide(along, each)
        ),
        tables=tuple(tables),
    )


def _is_wide(along: Along, stretch: PriceStretch) -> bool:
    start, stop = along.ends(stretch)
    return start < stop


def _labels(bag: Bag) -> tuple[str, ...]:
    capped = (KILOWATT,) if bag.site.average_power_cap_watts is not None else ()
    return ("price", "regime", "bound", "value", "gap", "makespan", "energy", "average power", *capped)


def _stretch(
    bag: Bag, stretch: PriceStretch, along: Along, shown: Sequence[int], drawn: tuple[Frame | None, int]
) -> Stretch:
    start, stop = along.ends(stretch)
    tables = [_machine_rows(bag, stretch)]
    if shown:
        tables.append(_task_rows(bag, stretch, shown))
    return Stretch(start, stop, _readings(bag, stretch), tuple(tables), _marks(stretch, (start, stop), *drawn))


def _readings(bag: Bag, stretch: PriceStretch) -> tuple[Reading, ...]:
    """Return one reading for each label."""
    currency = bag.prices.currency
    unit = f"{currency}/hour"
    measured = stretch.measured
    seconds = None if measured is None else measured.makespan_seconds
    joules = None if measured is None else measured.energy_joules
    watts = joules / seconds if joules is not None and seconds else None
    readings = [
        Reading(stretch.from_price, stretch.to_price, currency),
        _word(_regime_words(stretch)),
        Reading(stretch.bound_at_from, stretch.bound_at_to, unit, upper=True),
        _word("none found") if stretch.value_at_from is None else _line(stretch, unit),
        _gap(stretch),
        Reading(seconds, seconds, "seconds"),
        Reading(joules, joules, "joules"),
        Reading(watts, watts, "watts"),
    ]
    if bag.site.average_power_cap_watts is not None:
        low, high = stretch.worth_at_from.kilowatt_per_hour, stretch.worth_at_to.kilowatt_per_hour
        readings.append(Reading(low, high, unit))
    return tuple(readings)


def _line(stretch: PriceStretch, unit: str) -> Reading:
    return Reading(stretch.value_at_from, stretch.value_at_to, unit)


def _word(text: str) -> Reading:
    return Reading(text, text)


def _regime_words(stretch: PriceStretch) -> str:
    """Return the regime of the value; where the bound leaves room for another, that too."""
    if stretch.regime is None:
        return "no schedule was found that keeps the limits"
    if stretch.regime == stretch.bound_regime:
        return stretch.regime.value
    return f"{stretch.regime.value}; the bound leaves room for {stretch.bound_regime.value}"


def _gap(stretch: PriceStretch) -> Reading:
    """Return |bound - value| / |bound|; the bound does not change its sign along a stretch."""
    if stretch.value_at_from is None or stretch.value_at_to is None:
        return NOTHING_RUNS
    return Reading(
        abs(stretch.bound_at_from - stretch.value_at_from),
        abs(stretch.bound_at_to - stretch.value_at_to),
        over=(abs(stretch.bound_at_from), abs(stretch.bound_at_to)),
    )


def _machine_table(bag: Bag) -> FollowingTable:
    headers = ("machine type", "machines", "used", "tasks", "busy", machine_heading(f"{bag.prices.currency}/hour"))
    return FollowingTable("Machine types", headers, tuple(each.name for each in bag.machine_types))


def _machine_rows(bag: Bag, stretch: PriceStretch) -> tuple[tuple[Reading, ...], ...]:
    """Return how many machines of each type work, on how many tasks, for which share of the time."""
    used: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    for group in () if stretch.schedule is None else stretch.schedule.groups:
        used[group.machine_type] += group.machines
        tasks[group.machine_type] += group.machines * sum(run.count for run in group.runs)
    busy = busy_shares(bag, stretch.schedule)
    return tuple(
        (
            _count(machine.count),
            _count(used[machine.name]),
            _count(tasks[machine.name]),
            Reading(busy[machine.name], busy[machine.name], "%"),
            _worth(stretch, "machine_types", machine.name),
        )
        for machine in bag.machine_types
    )


def busy_shares(bag: Bag, schedule: Schedule | None) -> dict[str, float]:
    """Return the share of the makespan for which the machines of each type work."""
    shares = dict.fromkeys((machine.name for machine in bag.machine_types), 0.0)
    if schedule is None or not schedule.groups:
        return shares
    loads = machine_loads(bag, schedule)
    makespan = schedule.makespan_seconds or max(load.completion_seconds for load in loads)
    counts = {machine.name: machine.count for machine in bag.machine_types}
    for load in loads:
        whole = counts[load.machine_type] * makespan
        shares[load.machine_type] += load.machines * load.completion_seconds / whole
    return {name: min(1.0, share) for name, share in shares.items()}


def _count(count: int) -> Reading:
    return Reading(float(count), float(count))


def _worth(stretch: PriceStretch, kind: str, name: str) -> Reading:
    def of(worth: Worth) -> float | None:
        return worth.machine_types[name] if kind == "machine_types" else worth.task_types[name]

    return Reading(of(stretch.worth_at_from), of(stretch.worth_at_to))


def _shown_tasks(bag: Bag, stretches: int) -> list[int]:
    """Return the task types that follow the slider: all, or the largest where that would fill the page."""
    left = MOST_CELLS // max(1, stretches) - 5 * len(bag.machine_types)
    sizes = [task.count for task in bag.task_types]
    return sorted(sorted(range(len(sizes)), key=lambda i: -sizes[i])[: max(0, left)])


def _task_table(bag: Bag, shown: Sequence[int]) -> FollowingTable:
    all_of_them = len(shown) == len(bag.task_types)
    title = "Task types" if all_of_them else f"The {len(shown):,} largest task types"
    names = tuple(bag.task_types[i].name for i in shown)
    return FollowingTable(title, ("task type", "tasks", task_heading(f"{bag.prices.currency}/hour")), names)


def _task_rows(bag: Bag, stretch: PriceStretch, shown: Sequence[int]) -> tuple[tuple[Reading, ...], ...]:
    tasks = [bag.task_types[i] for i in shown]
    return tuple((_count(task.count), _worth(stretch, "task_types", task.name)) for task in tasks)


def _marks(stretch: PriceStretch, ends: tuple[float, float], frame: Frame | None, panels: int) -> tuple[Mark, ...]:
    """Return where the schedule is among the points of the front, and where its price is on the curve."""
    marks = []
    if stretch.value_at_from is not None and stretch.value_at_to is not None:
        earns = (stretch.value_at_from, stretch.value_at_to)
        marks += [Mark(CURVE, ends, earns, "", panel) for panel in range(panels)]
    point = point_of(stretch)
    if frame is not None and point is not None:
        ((x, y),) = frame.spots([point])
        told = f"the schedule at this price: {frame.words(point)}"
        marks.append(Mark(FRONT, (x, x), (y, y), told))
    return tuple(marks)


def point_of(stretch: PriceStretch) -> Point | None:
    """Return energy and makespan of a stretch's schedule, if anything runs and there are watts."""
    measured = stretch.measured
    if measured is None or measured.energy_joules is None or measured.makespan_seconds is None:
        return None
    return Point(measured.energy_joules, measured.makespan_seconds)
