"""What makes a facility valid: rules between its parts, its air, and its cooling."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from operator import lt
from typing import TYPE_CHECKING, Final, cast

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, nearest, quote
from lpsched.facility.parts import (
    MIXING_KEYS,
    Air,
    ArrivingType,
    CracUnit,
    NodeType,
    check_cap,
    check_degradation,
    check_facility_watts,
    check_speed,
)
from lpsched.model.base import repeats, too_many
from lpsched.model.fields import SMALLEST, describe
from lpsched.model.reading import unnamed, unsound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lpsched.errors import Place
    from lpsched.facility.parts import Mixing, Room
    from lpsched.model.table import SparseMatrix, Table


# What the air of a facility must satisfy: the matrix fits, air is conserved, and all of it is cooled.
#
# This module and `cooling_rules.py` are plain Python: the verifier reads facilities without NumPy.
OFF_BALANCE: Final = 1e-6  # of the air of a place; printed matrices have six digits or so
WORD: Final = 8  # bytes

Shares = list[tuple[list[int], list[float]]]  # of each place: from where, and how much of its inlet air


def broken_air_rules(facility: Room) -> tuple[Fault, ...]:
    """Return the faults of a mixing matrix, in a facility whose other parts are sound."""
    faults = list(islice(_the_matrix_fits_and_is_sound(facility), MOST_FAULTS))
    if not faults and facility.mixing.form != "recirculation":
        faults += islice(_air_is_conserved(facility), MOST_FAULTS)
        faults += _every_node_gets_air_from_a_unit(facility)
    return tuple(faults)


def _the_matrix_fits_and_is_sound(facility: Room) -> Iterator[Fault]:
    form, matrix = facility.mixing.form, facility.mixing.matrix
    if form not in MIXING_KEYS:
        yield Fault(("mixing",), repr(form), "one of " + ", ".join(MIXING_KEYS), "choose one")
        return
    path: Place = ("mixing", MIXING_KEYS[form])
    size, of_what = len(facility.nodes) + len(facility.crac_units), "nodes and CRAC units"
    if form == "recirculation":
        size, of_what = len(facility.nodes), "nodes"
        if len(facility.crac_units) != 1:
            found = f"a recirculation matrix and {len(facility.crac_units)} CRAC units"
            do = "bring inlet_mix or alpha, or join the units to one"
            yield Fault(path, found, "one unit, whose outlet is the supply temperature", do)
    if (matrix.rows, matrix.columns) != (size, size):
        found = f"a matrix of {matrix.rows} x {matrix.columns}"
        yield Fault(path, found, f"{size} x {size}, {of_what}", "mend its shape")
        return
    if not _is_packed(matrix):
        yield Fault(path, "a matrix whose bytes do not fit", "rows, columns and values", "use SparseMatrix.of")
        return
    for v, (places, values) in enumerate(matrix_rows(matrix)):
        if sum(values) < math.inf and min(values, default=1.0) >= SMALLEST:  # no NaN: that sum is not below
            continue
        for place, value in zip(places, values, strict=True):
            if not SMALLEST <= value < math.inf:
                needed = f"a number from {SMALLEST:g}"
                yield Fault((*path, v, place), repr(value), needed, "leave zeros out")


def _is_packed(matrix: SparseMatrix) -> bool:
    if len(matrix.starts) != WORD * (matrix.rows + 1) or len(matrix.places) != len(matrix.packed):
        return False
    starts = memoryview(matrix.starts).cast("q").tolist()
    if starts[0] != 0 or WORD * starts[-1] != len(matrix.packed) or any(b < a for a, b in pairwise(starts)):
        return False
    return all(
        not places or (places[0] >= 0 and places[-1] < matrix.columns and all(map(lt, places, places[1:])))
        for places, _ in matrix_rows(matrix)
    )


def matrix_rows(matrix: SparseMatrix) -> Shares:
    """Return the entries of each row: columns, values."""
    starts = memoryview(matrix.starts).cast("q").tolist()
    places, values = memoryview(matrix.places).cast("q"), memoryview(matrix.packed).cast("d")
    return [(places[a:b].tolist(), cast("list[float]", values[a:b].tolist())) for a, b in pairwise(starts)]


def airflows(facility: Room) -> list[float]:
    """Return the airflow of each place, in cubic metres per second."""
    flows = [facility.node_types[j].airflow_m3_per_second for j in facility.nodes]
    return flows + [unit.airflow_m3_per_second for unit in facility.crac_units]


def _place(facility: Room, place: int) -> str:
    if place < len(facility.nodes):
        return f"node {place} ({quote(facility.node_types[facility.nodes[place]].name)})"
    return f"CRAC unit {quote(facility.crac_units[place - len(facility.nodes)].name)}"


def _air_is_conserved(facility: Room) -> Iterator[Fault]:
    """Check that the shares of each place sum to 1, and that as much air leaves it as enters it."""
    key, flows = MIXING_KEYS[facility.mixing.form], airflows(facility)
    given = facility.mixing.form == "inlet_mix"
    other = [0.0] * len(flows)  # inlet_mix: air that others draw from a place; alpha: air that reaches it
    for place, (places, shares) in enumerate(matrix_rows(facility.mixing.matrix)):
        total = sum(shares)
        if abs(total - 1.0) > OFF_BALANCE:
            what = "of the air that enters" if given else "of the air that leaves"
            found = f"shares {what} {_place(facility, place)} that sum to {total:.9g}"
            yield Fault(("mixing", key, place), found, "1", f"mend the row by {1.0 - total:+.3g}")
        for each, share in zip(places, shares, strict=True):
            other[each] += share * flows[place]
    for place, (own, total) in enumerate(zip(flows, other, strict=True)):
        if abs(total - own) > OFF_BALANCE * own:
            is_fed = "others draw in" if given else "others send"
            found = f"{total:.9g} m3/s that {is_fed} {'from' if given else 'to'} {_place(facility, place)}"
            needed = f"its airflow, {own:.9g} m3/s"
            yield Fault(("mixing", key), found, needed, f"mend column {place}, or the airflows")


def inlet_shares(facility: Room) -> Shares:
    """Return where the air that each place draws in comes from; of alpha, alpha(u, v) flow_u / flow_v."""
    rows = matrix_rows(facility.mixing.matrix)
    if facility.mixing.form == "inlet_mix":
        return rows
    flows = airflows(facility)
    turned: Shares = [([], []) for _ in rows]
    for u, (places, values) in enumerate(rows):
        for v, alpha in zip(places, values, strict=True):
            turned[v][0].append(u)
            turned[v][1].append(alpha * flows[u] / flows[v])
    return turned


def _every_node_gets_air_from_a_unit(facility: Room) -> Iterator[Fault]:
    """Check that I - M_NN can be inverted, with a non-negative inverse.

    Its rows sum to at most 1, so that is the case exactly when from every node one comes, against the
    stream, to a CRAC unit.
    """
    nodes, inlets = len(facility.nodes), inlet_shares(facility)[: len(facility.nodes)]
    if all(places and places[-1] >= nodes for places, _ in inlets):
        return  # straight from a unit, as in most rooms
    takers: list[list[int]] = [[] for _ in airflows(facility)]
    for v, (places, _) in enumerate(inlets):
        for u in places:
            takers[u].append(v)
    fed = set(range(nodes, len(takers)))
    waiting = list(fed)
    while waiting:
        reached = [v for v in takers[waiting.pop()] if v not in fed]
        fed.update(reached)
        waiting += reached
    lost = [v for v in range(nodes) if v not in fed]
    if lost:
        others = f" and {len(lost) - 1} other nodes" if len(lost) > 1 else ""
        found = f"{_place(facility, lost[0])}{others} with no air that ever was in a CRAC unit"
        needed = "a way for cooled air to every node; else heat never leaves (I - M_NN is singular)"
        yield Fault(("mixing", MIXING_KEYS[facility.mixing.form]), found, needed, "mend the matrix")


# What the parts of a facility must satisfy together: one small function per rule, named for the rule.
#
# Each rule returns every fault of its kind, as soon as the parts that it speaks of are sound. The rules about
# air and heat are above and in `cooling_rules.py`; they are asked last, when everything else is sound.
MOST_NODES: Final = 20_000  # the heat map is a dense matrix
MOST_UNITS: Final = 1_000
MOST_NODE_TYPES: Final = 1_000
MOST_TASK_TYPES: Final = 10_000
MOST_CLASSES: Final = 1_000
MOST_PATTERNS: Final = 200_000  # ways to divide a node's cores among memory classes
LONGEST_DESCRIPTION: Final = 10_000


@dataclass(frozen=True, slots=True)
class FacilityParts:
    """The parts of a facility that are sound by themselves; `None` where one is not, or is not given."""

    name: object
    node_types: tuple[NodeType, ...] | None
    nodes: tuple[int, ...] | None
    crac_units: tuple[CracUnit, ...] | None
    task_types: tuple[ArrivingType, ...] | None
    speeds: Table | None
    watts: Table | None
    mixing: Mixing | None
    power_cap_watts: float | None
    classes: tuple[str, ...] | None = ()
    degradation: Table | None = None
    air: Air | None = None
    description: object = ""


def broken_rules(parts: FacilityParts) -> tuple[Fault, ...]:
    """Return the faults of every rule, at most MOST_FAULTS of each."""
    faults = list(islice(_tables_fit_and_are_sound(parts), MOST_FAULTS))
    if faults:  # a table that is not sound itself says nothing about the rest
        parts = replace(parts, speeds=None, watts=None, degradation=None)
    for rule in RULES:
        faults += islice(rule(parts), MOST_FAULTS)
    return tuple(faults)


def _it_has_a_name(parts: FacilityParts) -> Iterator[Fault]:
    return unnamed(parts.name)


def _the_description_is_text(parts: FacilityParts) -> Iterator[Fault]:
    text = parts.description
    if not isinstance(text, str):
        yield Fault(("description",), describe(text), "text", "put it in quotes")
    elif len(text) > LONGEST_DESCRIPTION:
        found, needed = f"{len(text):,} characters", f"at most {LONGEST_DESCRIPTION:,}"
        yield Fault(("description",), found, needed, "shorten it")
    elif not all(line.isprintable() for line in text.split("\n")):
        yield Fault(("description",), "control or invisible characters", "plain text", "remove them")


def _the_cap_is_an_amount(parts: FacilityParts) -> Iterator[Fault]:
    try:
        if parts.power_cap_watts is not None:
            check_cap(parts.power_cap_watts)
    except PydanticCustomError as refused:
        yield Fault(("power_cap_watts",), **(refused.context or {}))


def _there_is_something_of_each(parts: FacilityParts) -> Iterator[Fault]:
    for key, word in (
        ("node_types", "node type"),
        ("nodes", "node"),
        ("crac_units", "CRAC unit"),
        ("task_types", "task type"),
    ):
        if getattr(parts, key) == ():
            yield Fault((key,), "an empty list", f"at least one {word}", f"add a {word}")
    for key, most in (
        ("node_types", MOST_NODE_TYPES),
        ("nodes", MOST_NODES),
        ("crac_units", MOST_UNITS),
        ("task_types", MOST_TASK_TYPES),
        ("classes", MOST_CLASSES),
    ):
        if len(getattr(parts, key) or ()) > most:
            yield too_many((key.replace("classes", "memory_classes"),), len(getattr(parts, key)), most)


def _names_are_unique(parts: FacilityParts) -> Iterator[Fault]:
    for j, kind in enumerate(parts.node_types or ()):
        yield from repeats(kind.p_states or (), ("node_types", j, "p_states"), ())
    for key in ("node_types", "crac_units", "task_types"):
        yield from repeats([each.name for each in getattr(parts, key) or ()], (key,), ("name",))
    yield from repeats(parts.classes or (), ("memory_classes",), ())
    labels = Counter(label for kind in parts.node_types or () for label in set(kind.columns))
    for j, kind in enumerate(parts.node_types or ()):
        for label in kind.columns:
            if kind.p_states is not None and labels[label] > 1:
                found = f"{quote(label)}, which names a P-state here and another node type"
                yield Fault(("node_types", j), found, "labels that differ", "rename one")


def _nodes_are_of_known_types(parts: FacilityParts) -> Iterator[Fault]:
    if parts.nodes is None or parts.node_types is None:
        return
    for place, j in enumerate(parts.nodes):
        if not 0 <= j < len(parts.node_types):
            needed = f"a number from 0 to {len(parts.node_types) - 1}, of a node type"
            yield Fault(("nodes", place), str(j), needed, "correct it")


def _tables_fit_and_are_sound(parts: FacilityParts) -> Iterator[Fault]:
    """Check the shape of every table, and the cells of those that no reader has checked."""
    if parts.node_types is not None and parts.task_types is not None:
        shape = (len(parts.task_types), sum(kind.modes for kind in parts.node_types))
        names = "task types x columns"
        yield from unsound("speeds", parts.speeds, shape, names, check_speed)
        yield from unsound("watts", parts.watts, shape, names, check_facility_watts)
    if parts.classes is None:
        return
    if bool(parts.classes) != (parts.degradation is not None) and parts.task_types is not None:
        found = "classes but no table" if parts.classes else "a table but no classes"
        yield Fault(("degradation",), found, "both or neither", "add the one, or drop the other")
        return
    shape = (len(parts.classes), len(parts.classes))
    yield from unsound("degradation", parts.degradation, shape, "classes x classes", check_degradation)
    for flat in parts.degradation.absent() if parts.degradation is not None else ():
        place = divmod(flat, len(parts.classes))
        yield Fault(("degradation", *place), "nothing", "a number", "write 0 where one does not slow the other")


def _speeds_and_powers_go_together(parts: FacilityParts) -> Iterator[Fault]:
    if parts.speeds is None or parts.watts is None or parts.node_types is None or parts.task_types is None:
        return
    columns = [(j, k) for j, kind in enumerate(parts.node_types) for k in range(kind.modes)]
    for flat in sorted(set(parts.speeds.absent()) ^ set(parts.watts.absent())):
        i, column = divmod(flat, len(columns))
        j, k = columns[column]
        kind, task = parts.node_types[j], parts.task_types[i]
        has, lacks, word = ("speed", "power", "watts")
        if parts.speeds[i, column] is None:
            has, lacks, word = ("power", "speed", "speeds")
        path: Place = (word, i, j) if kind.p_states is None else (word, i, j, k)
        found = f"a {has} but no {lacks} for {quote(task.name)} on {_mode(kind, k)}"
        yield Fault(path, found, "both or neither", f"give it {word}, or remove its {has}")


def _every_task_type_can_be_done_in_time(parts: FacilityParts) -> Iterator[Fault]:
    """Check that some P-state is quick enough; equation 3 forbids 1 / speed >= deadline."""
    if parts.speeds is None or parts.node_types is None or parts.task_types is None:
        return
    columns = [(kind, k) for kind in parts.node_types for k in range(kind.modes)]
    for i, task in enumerate(parts.task_types):
        speed, column = max(((x or 0.0, -c) for c, x in enumerate(parts.speeds.row(i))), default=(0.0, 0))
        if speed == 0.0:
            found = f"no node type that can run task type {quote(task.name)}"
            yield Fault(("speeds", i), found, "at least one speed", "give one a speed, or drop the task type")
        elif task.deadline_seconds is not None and 1.0 / speed >= task.deadline_seconds:
            quickest = f"{1.0 / speed:.6g} s where it is quickest, on {_mode(*columns[-column])}"
            found = f"{task.deadline_seconds:.6g} s, but {quote(task.name)} takes {quickest}"
            yield Fault(
                ("task_types", i, "deadline_seconds"),
                found,
                f"a deadline later than {1.0 / speed:.6g} s",
                "extend it, speed it up, or drop the task type",
            )


def _mode(kind: NodeType, k: int) -> str:
    return quote(kind.name) + (f" at {quote(kind.p_states[k])}" if kind.p_states is not None else "")


def _every_class_has_its_degradation(parts: FacilityParts) -> Iterator[Fault]:
    if not parts.classes or parts.task_types is None:
        return
    for i, task in enumerate(parts.task_types):
        if (task.memory_class or task.name) in parts.classes:
            continue
        if task.memory_class is None:
            path: Place = ("task_types", i)
            found = f"no memory class, and no degradation of {quote(task.name)} itself"
            yield Fault(path, found, "one of " + ", ".join(parts.classes[:20]), "give it a memory_class")
        else:
            path = ("task_types", i, "memory_class")
            advice = nearest(task.memory_class, parts.classes) or "correct it, or add it to degradation"
            yield Fault(path, quote(task.memory_class), "a class that degradation knows", advice)


def _patterns_can_be_counted(parts: FacilityParts) -> Iterator[Fault]:
    """Check that a node's cores can be divided among the classes in not too many ways."""
    if not parts.classes or parts.task_types is None:
        return
    used = len({task.memory_class or task.name for task in parts.task_types})
    for j, kind in enumerate(parts.node_types or ()):
        patterns = math.comb(kind.cores + used, used)
        if patterns > MOST_PATTERNS:
            ways = f"about 10^{len(str(patterns)) - 1}" if patterns > 10**12 else f"{patterns:,}"
            found = f"{kind.cores} cores and {used} classes: {ways} ways to divide the one among the other"
            yield Fault(
                ("node_types", j, "cores"),
                found,
                f"at most {MOST_PATTERNS:,}",
                "join memory classes, or split the node into sockets",
            )


def _the_inverse_of_cop_falls_and_is_convex(parts: FacilityParts) -> Iterator[Fault]:
    """Check that 1 / CoP is positive, falling and convex over the outlet range: the bound rests on that.

    With c = a + b T + q T^2 and c' = b + 2 q T: 1 / c falls where c' >= 0, and is convex where c'^2 >= q c,
    that is 3 q^2 T^2 + 3 b q T + b^2 - q a >= 0. For q > 0 that rises with T where c' >= 0, and
    for q <= 0 it holds wherever c > 0; so the ends of the range tell all.
    """
    for u, unit in enumerate(parts.crac_units or ()):
        low, high = unit.outlet_celsius
        a, b, q = (*unit.cop, 0.0, 0.0)[:3]
        path, do = ("crac_units", u, "cop"), "correct the coefficients, or outlet_celsius"
        worst = min((low, high), key=unit.performance)
        if unit.performance(worst) <= 0:
            found = f"a CoP of {unit.performance(worst):.6g} at {worst:g} C"
            yield Fault(path, found, "more than 0 over outlet_celsius", do)
        elif low == high:
            continue
        elif min(b + 2 * q * low, b + 2 * q * high) < 0:
            found = f"a CoP that falls with warmer outlets between {low:g} and {high:g} C"
            yield Fault(path, found, "one that rises: warm air is cheaper to make", do)
        elif q > 0 and 3 * q * q * low * low + 3 * b * q * low + b * b - q * a < 0:
            convex_from = (-3 * b * q + math.sqrt(12 * a * q**3 - 3 * b * b * q * q)) / (6 * q * q)
            found = f"1 / CoP that is not convex at {low:g} C, where outlet_celsius begins"
            needed = f"a range from {convex_from:.4g} C up, where it is"
            yield Fault(path, found, needed, "raise the lower end of outlet_celsius")


RULES: Final[tuple[Callable[[FacilityParts], Iterator[Fault]], ...]] = (
    _it_has_a_name,
    _the_description_is_text,
    _the_cap_is_an_amount,
    _there_is_something_of_each,
    _names_are_unique,
    _nodes_are_of_known_types,
    _speeds_and_powers_go_together,
    _every_task_type_can_be_done_in_time,
    _every_class_has_its_degradation,
    _patterns_can_be_counted,
    _the_inverse_of_cop_falls_and_is_convex,
)
