"""What the air of a facility must satisfy: the matrix fits, air is conserved, and all of it is cooled.

This module and `cooling_rules.py` are plain Python: the verifier reads facilities without NumPy.
"""

from __future__ import annotations

import math
from itertools import islice, pairwise
from operator import lt
from typing import TYPE_CHECKING, Final, cast

from lpsched.errors import MOST_FAULTS, Fault, quote
from lpsched.instance.fields import SMALLEST
from lpsched.instance.mixing import MIXING_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.errors import Place
    from lpsched.instance.facility import Facility
    from lpsched.instance.sparse import SparseMatrix

OFF_BALANCE: Final = 1e-6  # of the air of a place; printed matrices have six digits or so
WORD: Final = 8  # bytes

Shares = list[tuple[list[int], list[float]]]  # of each place: from where, and how much of its inlet air


def broken_air_rules(facility: Facility) -> tuple[Fault, ...]:
    """Return the faults of a mixing matrix, in a facility whose other parts are sound."""
    faults = list(islice(_the_matrix_fits_and_is_sound(facility), MOST_FAULTS))
    if not faults and facility.mixing.form != "recirculation":
        faults += islice(_air_is_conserved(facility), MOST_FAULTS)
        faults += _every_node_gets_air_from_a_unit(facility)
    return tuple(faults)


def _the_matrix_fits_and_is_sound(facility: Facility) -> Iterator[Fault]:
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
        yield Fault(
            path, "a matrix whose bytes do not fit", "rows, columns and values", "use SparseMatrix.of"
        )
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


def airflows(facility: Facility) -> list[float]:
    """Return the airflow of each place, in cubic metres per second."""
    flows = [facility.node_types[j].airflow_m3_per_second for j in facility.nodes]
    return flows + [unit.airflow_m3_per_second for unit in facility.crac_units]


def _place(facility: Facility, place: int) -> str:
    if place < len(facility.nodes):
        return f"node {place} ({quote(facility.node_types[facility.nodes[place]].name)})"
    return f"CRAC unit {quote(facility.crac_units[place - len(facility.nodes)].name)}"


def _air_is_conserved(facility: Facility) -> Iterator[Fault]:
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


def inlet_shares(facility: Facility) -> Shares:
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


def _every_node_gets_air_from_a_unit(facility: Facility) -> Iterator[Fault]:
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
