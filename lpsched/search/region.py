"""Everything that a bag can take: all pairs of energy and makespan that some way to run it has, exactly.

With x and t as in `formulations/front.py`, and tasks that may be split, the feasible region is a polyhedron
projected on the plane:

    R  =  { (E, t) :  E = D(x) + I t,  x meets the demand,  load_j(x) <= t for each machine type j }

D(x) are the joules above idle and I the watts of all machines when idle. For a given x, t may be as long as
one likes, and nothing else is unbounded; so R goes on for ever in the direction (I, 1) alone: upwards without
idle power. Seen in the coordinates (D, t) it is what lies above a convex function,

    R  =  { (D, t) :  D_min <= D <= D_max,  t >= f(D) },     f(D) = min { max_j load_j(x) : D(x) = D },

so all its corners are on the chain of f. Each is best for some direction (a, b), min a D + b t with b >= 0:

    a >= 0   from D_min down to the least makespan: the front of the bag if idling took nothing
    a <= 0   from there up to D_max: the same search, with the joules of each task type turned upside down

Every task of type i may be given joules of its own, wherever it runs: that moves all of R and changes no
corner. So both searches are fronts of bags without idle power, whose tasks take d_ij - min_j d_ij and
max_j d_ij - d_ij joules, in a unit that makes the largest power 1 W. What a corner takes is told by its x.

A power cap E <= P t and a deadline t <= T are half-planes of the plane itself: the region under limits is
what they leave of R, so R is told without them. The largest profit (N - c E) / t, being a ratio of lines, is
at a corner of R or, if nothing pays, at the far end, where waiting costs c I.

Source: Tarplee, Maciejewski and Siegel, 2014, section V-C, who find the projection by hulls of points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.scales import scales_of
from lpsched.instance import Table
from lpsched.instance.arrays import arrays_of
from lpsched.instance.fields import SMALLEST
from lpsched.relaxation import Point
from lpsched.search.frontier import frontier

if TYPE_CHECKING:
    from lpsched.formulations.scales import Scales
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver

SAME: Final = 1e-9  # relative: corners this near are one
THRIFTY: Final = 1.0
WASTEFUL: Final = -1.0


@dataclass(frozen=True, slots=True)
class Region:
    """The corners, and where the region goes on for ever.

    Attributes
    ----------
    corners
        From the fewest joules above idle to the most, each with shares of tasks that take it there.
    idle_watts
        I: from its first and from its last corner the border goes on in the direction (I, 1).
    """

    corners: tuple[Point, ...]
    idle_watts: float


def region(bag: Bag, solver: Solver) -> Region:
    """Return the feasible region of a bag with watts; its cap and its deadline play no part.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    free = bag.without_limits()
    scales = scales_of(free, whole=False)
    down = _chain(scales, THRIFTY, solver)
    up = _chain(scales, WASTEFUL, solver)
    return Region(tuple(_once([*down, *reversed(up)])), scales.idle_floor_watts)


def _chain(scales: Scales, sign: float, solver: Solver) -> list[Point]:
    """Return the corners from the least makespan to one end, with the energy that the bag takes there."""
    found = frontier(_without_idling(scales.bag, sign), solver, whole=False)
    return [_point(scales, each) for each in found.corners]


def _without_idling(bag: Bag, sign: float) -> Bag:
    """Return a bag whose tasks take what they take above idle, or its negative, and as little as may be."""
    arrays = arrays_of(bag)
    assert arrays.watts is not None, "a region needs watts"
    joules = sign * arrays.seconds * (arrays.watts - arrays.idle_watts[arrays.machine_of])
    least = np.where(arrays.can_run, joules, np.inf).min(axis=1, keepdims=True)
    watts = np.where(arrays.can_run, (joules - least) / np.where(arrays.can_run, arrays.seconds, 1.0), 0.0)
    watts /= watts.max() or 1.0
    told = np.where(arrays.can_run, np.where(watts < SMALLEST, 0.0, watts), np.nan)
    machines = (each.model_copy(update={"idle_watts": 0.0}) for each in bag.machine_types)
    return replace(bag, machine_types=tuple(machines), watts=Table.of(told.tolist()))


def _point(scales: Scales, corner: Point) -> Point:
    """Return the corner with the energy that the bag itself takes there."""
    makespan = scales.makespan_of(corner.shares)
    return Point(corner.shares, makespan, scales.energy_of(corner.shares, makespan))


def _once(corners: list[Point]) -> list[Point]:
    """Return the corners without repetitions: where both searches meet."""
    kept = corners[:1]
    for each in corners[1:]:
        if not all(_near(each, kept[-1])):
            kept.append(each)
    return kept


def _near(one: Point, other: Point) -> tuple[bool, bool]:
    assert one.energy_joules is not None
    assert other.energy_joules is not None
    return (
        bool(np.isclose(one.energy_joules, other.energy_joules, rtol=SAME, atol=0.0)),
        bool(np.isclose(one.makespan_seconds, other.makespan_seconds, rtol=SAME, atol=0.0)),
    )
