"""Sections of pages about bags."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import HEADERS as METHOD_HEADERS
from lpsched.bag.compare.result import FrontComparison, Overview, machine_loads
from lpsched.bag.result import (
    FRONT_HEADERS,
    KILOWATT,
    TWO_SIDED,
    FrontResult,
    Point,
    Result,
    machine_heading,
    task_heading,
)
from lpsched.report.figures.fronts import exact_of
from lpsched.report.figures.prices import sensitivity_picture, sensitivity_spots
from lpsched.report.figures.schedule import bag_loads, loads_picture, loads_spots, share_map, share_spots
from lpsched.report.html.page import Paragraph, Part, Picture, Section, Table
from lpsched.report.tables import UNFINISHED
from lpsched.units import JOULES_PER_KWH, ROUNDING, gap_text, lower_text, number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity
    from lpsched.bag.schedule import Schedule
    from lpsched.model.risk import Risk


# The answer about a bag in one sentence: what is proved, and what a schedule reaches.
DO_NOT_RUN: Final = "do-not-run"
LINEAR: Final = "The linear program, which may split tasks,"


def result_lead(overview: Overview, result: Result) -> str:
    """Return the answer of a solve."""
    if result.regime is None:
        return _least(result)
    currency = result.unit.removesuffix("/hour")
    at = "" if overview.price is None else f" at a price of {number(overview.price)} {currency}"
    if result.regime == DO_NOT_RUN:
        return _not_run(result, at)
    takes = _takes(result)
    if result.regime == "profit":
        return (
            f"This bag can earn at most {result.bound_text()} {result.unit}{at}, proved; here is a schedule "
            f"that earns {number(result.value)}, {_apart(result)}{takes}."
        )
    forced = overview.bag.site.deadline_seconds is not None
    why = "the deadline forces the work" if forced else "running loses less than waiting"
    most = f"can earn at most {result.bound_text()}"
    if result.bound < 0:
        most = f"loses at least {lower_text(0.0 - result.bound)}"
    loses = f"loses {number(0.0 - result.value)}{takes}"
    return f"This bag {most} {result.unit}{at}, proved; here is a schedule that {loses}: {why}."


def _least(result: Result) -> str:
    """Return the answer where less is better."""
    energy, makespan = result.measured.energy_joules, result.measured.makespan_seconds
    if result.objective == "makespan":
        unit, takes = "seconds", "" if energy is None else f", with {number(energy / JOULES_PER_KWH)} kWh"
    else:
        unit, takes = "joules", "" if makespan is None else f", in {number(makespan)} seconds"
    proved = f"This bag takes at least {result.bound_text()} {unit}, proved"
    return f"{proved}; here is a schedule that takes {number(result.value)}, {_apart(result)}{takes}."


def _not_run(result: Result, at: str) -> str:
    loss = f"waiting costs {number(0.0 - result.value)} {result.unit}" if result.value else "waiting costs nothing"
    if result.bound_regime == DO_NOT_RUN:
        return f"Better not run{at}: {loss}, and every schedule loses more, proved."
    return (
        f"Better not run{at}: {loss}, and our best schedule would lose more; no schedule can earn more than "
        f"{result.bound_text()} {result.unit}, proved."
    )


def _apart(result: Result) -> str:
    if result.gap is not None and result.gap <= ROUNDING:
        return "which is the best possible"
    if result.gap is None:
        return "near it"
    return f"{gap_text(result.gap)} {'below' if result.regime is not None else 'above'}"


def _takes(result: Result) -> str:
    makespan, energy = result.measured.makespan_seconds, result.measured.energy_joules
    if makespan is None:
        return ""
    joules = "" if energy is None else f" with {number(energy / JOULES_PER_KWH)} kWh"
    return f", in {number(makespan)} seconds{joules}"


def front_lead(result: FrontResult | FrontComparison) -> str:
    """Return what a front says."""
    front = exact_of(result)
    first, last = (
        f"{lower_text(vertex.energy_joules)} joules in {lower_text(vertex.makespan_seconds)} seconds"
        for vertex in (front.vertices[0], front.vertices[-1])
    )
    least = front.least_text()
    proved = f"{least[:1].upper()}{least[1:]}, proved. " if least else ""
    if len(front.vertices) == 1:
        (point,) = front.measured
        corner = f"{LINEAR} has one corner, {first}, which whole tasks may not reach."
        if point is None:
            return f"{proved}{corner}"
        both = f"{number(point.energy_joules)} joules and {number(point.makespan_seconds)} seconds"
        if _is_best(front, point):
            return f"One schedule is best in both: {both}, verified; no schedule takes less of either, proved."
        return f"{proved}The schedule here takes {both}, verified. {corner}"
    near = sum(point is not None for point in front.measured)
    schedules = "each corner" if near == len(front.vertices) else f"{near:,} of the corners"
    return (
        f"{proved}{LINEAR} has a front from {first} to {last}, with {corner_count(front)}: no schedule lies "
        f"below it, proved, and whole tasks may not reach it. There is a verified schedule near {schedules}."
    )


def corner_count(front: FrontResult) -> str:
    """Return how many corners a front has."""
    count = len(front.vertices)
    return f"{count:,} corner{'s' if count > 1 else ''}"


def _is_best(front: FrontResult, point: Point) -> bool:
    """Tell whether a schedule takes no more than what is proved of each criterion alone."""
    least = (front.least_joules, point.energy_joules), (front.least_seconds, point.makespan_seconds)
    return all(proved is not None and found <= (1.0 + ROUNDING) * proved for proved, found in least)


def price_lead(curve: PriceCurve) -> str:
    """Return what a price curve says."""
    currency = curve.unit.removesuffix("/hour")
    run, even = curve.least_price_to_run, curve.break_even_price
    told = []
    if even is not None:
        told.append(f"Below a price of {lower_text(even)} {currency} no schedule of this bag earns anything, proved")
    if run is not None:
        most = f"{lower_text(run)} {currency}"
        alone = f"Up to a price of {most} this bag is better not run, proved"
        told.append(f"up to {most} it is better not run" if told else alone)
    pieces = f"{len(curve.pieces):,} piece{'s' if len(curve.pieces) > 1 else ''}"
    if not told:
        return f"The most that this bag can earn at every price, proved, in {pieces}."
    return f"{'; '.join(told)}; the whole curve has {pieces}."


# The sections of a bag's page: each shows one part of its overview, or says why there is none.
FACTS: Final = ("what", "how much", "how we know")
SAME: Final = 1e-6  # relative: what is nearer is written alike, or nearly
MOST_ROWS: Final = 1_000  # of a table: a page of paper is 50
APART: Final = (
    "The slider shows another bound or another value at this price, because it was found on its own: without "
    "a time limit, with the usual gap, and with the schedules of all prices. All of them hold: the lower of "
    "two proved bounds says more, and so does the higher of two verified values."
)
MORE: Final = (
    "More machines than the first number cannot earn more than that many or fewer do (proved); with the "
    "second number a verified schedule earns more than any without them."
)
DERIVATIVES: Final = (
    "Marginal values are derivatives of the bound of the linear program: how it begins to change with one "
    "more. They promise nothing about schedules, because whole tasks move in steps."
)
STEPS: Final = (
    "One whole machine or task more, from bounds and verified schedules with and without it. Below the first "
    "price of a task no schedule with it earns more than the best without it; at the second price a verified "
    "schedule with it earns as much as any without it."
)
VERTICES: Final = (
    "Corners are vertices of the linear program, which may split tasks: no schedule lies below the line "
    "through them (proved), and whole tasks may not reach them. The schedules are verified. The last column "
    "says how far a schedule is above its corner, in joules or in seconds, whichever is more."
)
ABOVE: Final = (
    "Above: how much more makespan a method's verified schedules have than the front of the linear program "
    "at the same energy."
)
HARDER: Final = "With --effort tight the answer may come closer to its bound."


def answer_section(overview: Overview, result: Result) -> Section:
    """Show value and bound, how they are known, and why the slider says something else, where it does."""
    bag = overview.bag
    parts: list[Part] = [Table(FACTS, tuple(result.facts()))]
    if _differs(overview, result):
        parts.append(Paragraph(APART))
    if result.tight_may_help:
        parts.append(Paragraph(HARDER))
    tasks = f"{_counted(bag.tasks, 'task')} of {_counted(len(bag.task_types), 'type')}"
    machines = f"{_counted(bag.machines, 'machine')} of {_counted(len(bag.machine_types), 'type')}"
    parts.append(Paragraph(f"The bag has {tasks}, for {machines}."))
    return Section("The answer", tuple(parts))


def _differs(overview: Overview, result: Result) -> bool:
    """Tell whether the slider, where it begins, shows other numbers than the answer."""
    price, stretches = overview.price, overview.stretches
    if price is None or isinstance(stretches, str) or result.regime is None:
        return False
    for each in stretches:
        if each.from_price <= price < each.to_price:
            share = (price - each.from_price) / (each.to_price - each.from_price)
            ends = [(each.bound_at_from, each.bound_at_to, result.bound)]
            if each.value_at_from is not None and each.value_at_to is not None:
                ends.append((each.value_at_from, each.value_at_to, result.value))
            return any(
                not math.isclose((1 - share) * low + share * high, own, rel_tol=SAME, abs_tol=SAME * size)
                for low, high, own in ends
                for size in (max(abs(low), abs(high)),)
            )
    return False


def risk_section(risk: Risk) -> Section:
    """Show how the schedule fares if tasks do not take what the tables say."""
    parts: list[Part] = [Paragraph(risk.heading()), Table(risk.headers(), tuple(risk.rows()), numbers=True)]
    if risk.chances:
        parts.append(Table(("what", "how likely", "by"), tuple(risk.chance_rows())))
    return Section("If times and powers scatter", tuple(parts))


def pieces_section(curve: PriceCurve, found: Sensitivity | None) -> Section:
    """Show all pieces of the curve, and of the profit over the price of electricity."""
    told = (
        "No schedule earns more than the bound: proved at both ends of a piece, and so on the line between "
        "them. Bound and value are those where a piece begins. On pieces called loss no schedule earns, "
        "proved; on those called profit the bound leaves room for it."
    )
    parts: list[Part] = [Paragraph(told), _cut(curve.headers(), curve.rows())]
    if found is not None and found.electricity is not None:
        parts.append(Paragraph("Likewise over the price of electricity, the price of the bag as it is:"))
        parts.append(_cut(found.electricity_headers(), found.electricity_pieces()))
    return Section("All pieces", tuple(parts))


def sensitivity_sections(found: Sensitivity) -> list[Section]:
    """Show which price is needed, what electricity may cost, and which machines are worthwhile."""
    sections = [Section("Which price is needed for profit?", (Table(FACTS, tuple(found.price_rows())),))]
    at = "" if found.price is None else f"At a price of {number(found.price)} {found.currency}, all else as it is."
    if found.electricity is not None:
        facts = Table(FACTS, tuple(found.electricity_rows()))
        drawn = _drawn(replace(found, machines=()), "The most profit over the price of electricity.")
        sections.append(Section("What may electricity cost?", (Paragraph(at), *drawn, facts)))
    if found.machines:
        rows = _cut(found.machine_headers(), found.machine_rows())
        words = "The bound on profit over the number of machines of each type of which more raise it."
        drawn = _drawn(replace(found, electricity=None), words)
        told = Paragraph(" ".join([at, MORE, *found.machine_notes()]).strip())
        sections.append(Section("How many more machines are worthwhile?", (told, *drawn, rows)))
    last, notes = sections.pop(), map(Paragraph, found.notes)
    return [*sections, replace(last, parts=(*last.parts, *notes))]


def _drawn(found: Sensitivity, words: str) -> tuple[Part, ...]:
    """Return the picture of what a profit depends on, if there is anything to draw."""
    figure = sensitivity_picture(found)
    return () if figure is None else (Picture(figure, words, spots=sensitivity_spots(found)),)


def vertices_section(found: FrontResult | FrontComparison) -> Section:
    """Show every corner of the front, and methods beside it."""
    exact = exact_of(found)
    parts: list[Part] = []
    if isinstance(found, FrontComparison):
        parts += [Paragraph(ABOVE), Table(METHOD_HEADERS, tuple(found.rows()), numbers=True)]
    parts += [Paragraph(VERTICES), _cut(("corner", *FRONT_HEADERS[1:]), exact.rows())]
    if exact.sample:
        sampled = f"A sample of {len(exact.sample):,} evenly spaced weights"
        parts.append(Paragraph(f"{sampled} finds {exact.sampled_vertices():,} of them."))
    return Section("All corners of the front", tuple(parts))


def schedule_sections(bag: Bag, schedule: Schedule, result: Result | None = None) -> list[Section]:
    """Show when machines are done, what they take, and which task runs where."""
    worths = []
    if result is not None and (result.regime is not None or result.one_more is not None):
        worths.append(_worths(result))
    if not schedule.groups:
        return [Section("Machine by machine", (Paragraph("Nothing runs: all machines wait."),)), *worths]
    loads = bag_loads(bag, schedule)
    left = f" The {loads.left_out:,} machine types that work least are not drawn." if loads.left_out else ""
    done = Picture(
        loads_picture(bag, schedule),
        f"When the machines of {len(loads.types):,} types are done, and the energy that they take.",
        f"All machines stay on until the makespan.{left}",
        spots=loads_spots(bag, schedule),
    )
    words = "Which share of each task type runs on which machine type."
    shared = Picture(share_map(bag, schedule), words, spots=share_spots(bag, schedule))
    return [
        Section("Machine by machine", (done, _machines(bag, schedule, result))),
        Section("Which task runs where", (shared,)),
        *worths,
    ]


def _machines(bag: Bag, schedule: Schedule, result: Result | None) -> Table:
    """Return what the machines of each type do, in numbers."""
    loads = {each.name: each for each in bag_loads(bag, schedule, most=len(bag.machine_types)).types}
    busy = busy_shares(bag, schedule)
    energy = any(each.busy_joules is not None for each in loads.values())
    worth = None if result is None else result.worth
    headers = ["machine type", "machines", "done after, s", "busy"]
    headers += ["busy, J", "idle, J"] if energy else []
    headers += [] if worth is None or result is None else [machine_heading(result.unit)]
    rows = []
    for machine in bag.machine_types:
        own = loads[machine.name]
        first, last = own.loads[-1].completion_seconds, own.loads[0].completion_seconds
        done = number(last) if first == last else f"{number(first)} to {number(last)}"
        row = [machine.name, f"{machine.count:,}", done, percent(busy[machine.name])]
        row += [number(own.busy_joules), number(own.idle_joules)] if energy else []
        row += [] if worth is None else [worth.machine_text(machine.name)]
        rows.append(tuple(row))
    return _cut(tuple(headers), rows)


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


def _worths(result: Result) -> Section:
    """Show the marginal values, and what is proved about one whole machine or task more."""
    worth, steps = result.worth, result.one_more
    parts: list[Part] = []
    if worth is not None:
        parts += [Paragraph(DERIVATIVES), *([Paragraph(TWO_SIDED)] if worth.is_two_sided else [])]
        if worth.kilowatt_per_hour is not None:
            parts.append(Paragraph(f"{KILOWATT}: {worth.kilowatt_text()} {result.unit}."))
        machines = [(name, worth.machine_text(name)) for name in worth.machine_types]
        parts.append(_cut(("machine type", machine_heading(result.unit)), machines))
        tasks = [(name, worth.task_text(name)) for name in worth.task_types]
        parts.append(_cut(("task type", task_heading(result.unit)), tasks))
    elif result.regime is not None:
        parts.append(Paragraph(UNFINISHED))
    if steps is not None:
        parts.append(Paragraph(STEPS))
        parts += [_cut(headers, rows) for headers, rows in (steps.machine_table(), steps.task_table()) if rows]
    return Section("What one more is worth", tuple(parts))


def _counted(count: int, word: str) -> str:
    """Return a number of things.

    >>> _counted(1, "task"), _counted(1200, "task")
    ('one task', '1,200 tasks')
    """
    return f"one {word}" if count == 1 else f"{count:,} {word}s"


def _cut(headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Return a table of numbers that does not fill the page."""
    shown = tuple(rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        more = f"... and {len(rows) - MOST_ROWS:,} more (--json has all)"
        shown = (*shown, (more, *("" for _ in headers[1:])))
    return Table(headers, shown, numbers=True)
