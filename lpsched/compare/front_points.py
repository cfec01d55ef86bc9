"""Schedules of a method, verified one by one: what each takes, and that none is below what is proved.

A schedule that breaks a rule is no point; it is counted, and the rules that the first such one breaks are
told. A schedule that is valid and still below the exact front would refute a proof of ours, so it is raised.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compare.distances import Chain
from lpsched.errors import InvalidScheduleError
from lpsched.evolve.rank_one import rank_one
from lpsched.result.front import HalfPlane, Point
from lpsched.result.front_entry import FrontEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.compare.distances import Pair
    from lpsched.compare.schedulers import Ran
    from lpsched.result.front import FrontResult
    from lpsched.schedule.bag import Schedule
    from lpsched.verify.violation import Violation


def chain_of(front: FrontResult) -> Chain:
    """Return the corners of the exact front."""
    return Chain(tuple(pair_of(vertex) for vertex in front.vertices))


def pair_of(point: Point) -> Pair:
    """Return energy and makespan."""
    return point.energy_joules, point.makespan_seconds


def entry_of(front: FrontResult, name: str, brought: Iterable[Ran]) -> FrontEntry[Point, Schedule]:
    """Return a method's undominated points and their distances; areas come when all methods are there.

    Raises
    ------
    InvalidScheduleError
        If a valid schedule is below the exact front, which is a bug of ours.
    """
    points: list[Point] = []
    schedules: list[Schedule] = []
    broken: list[tuple[Violation, ...]] = []
    for each in brought:
        measured = each.examined.measured
        if measured is None or each.schedule is None:
            broken.append(each.examined.violations)
            continue
        assert measured.energy_joules is not None, "a front needs watts"
        assert measured.makespan_seconds is not None
        point = Point(measured.energy_joules, measured.makespan_seconds)
        require_above(front.proofs, point, f"{name} on {front.provenance.instance_name}")
        points.append(point)
        schedules.append(each.schedule)
    best = rank_one(np.array([pair_of(point) for point in points]).reshape(-1, 2)).tolist()
    mean, largest = distances(chain_of(front), [pair_of(points[place]) for place in best])
    return FrontEntry(
        name,
        tuple(points[place] for place in best),
        tuple(schedules[place] for place in best),
        mean_distance=mean,
        largest_distance=largest,
        refused=len(broken),
        violations=broken[0] if broken else (),
    )


def distances(chain: Chain, pairs: Sequence[Pair]) -> tuple[float | None, float | None]:
    """Return the mean and the largest distance of points from the front at the same energy."""
    above = [max(0.0, y / chain.at(x) - 1.0) for x, y in pairs]  # what is below is the rounding of the front
    return (sum(above) / len(above), max(above)) if above else (None, None)


def require_above(proofs: Sequence[HalfPlane], point: Point, what: str) -> None:
    """Hold a measured point against all proofs, in exact numbers: both are rounded to the side that is true.

    Raises
    ------
    InvalidScheduleError
        If it is below one of them.
    """
    joules, seconds = Fraction(point.energy_joules), Fraction(point.makespan_seconds)
    for proof in proofs:
        cost = Fraction(proof.joules_weight) * joules + Fraction(proof.seconds_weight) * seconds
        if cost < Fraction(proof.bound):
            raise InvalidScheduleError(
                f"{what}: {point.energy_joules!r} J and {point.makespan_seconds!r} s are below a proof: "
                f"{proof.joules_weight!r} J + {proof.seconds_weight!r} s >= {proof.bound!r}"
            )
