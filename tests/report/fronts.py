"""Small fronts to draw."""

from __future__ import annotations

from lpsched.bag.compare.result import FrontComparison
from lpsched.bag.result import FrontResult, Point
from lpsched.bag.schedule import Schedule
from lpsched.evolve.fronts import FrontEntry
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Provenance

EXACT = FrontResult(
    vertices=(Point(2e6, 600.0), Point(4e6, 240.0)),
    measured=(Point(2.1e6, 620.0), None),
    schedules=(Schedule(()), None),
    proofs=(),
    sample=(),
    solves=2,
    timings=FrozenDict({"relax": 0.25, "recover": 0.25}),
    provenance=Provenance("0", "highs", "small", "abc"),
)


def compared(*entries: FrontEntry[Point, Schedule]) -> FrontComparison:
    ours = FrontEntry("lp", (Point(2.1e6, 620.0),), (Schedule(()),), seconds=0.5)
    return FrontComparison(EXACT, Point(6e6, 900.0), 3, (ours, *entries))


EVOLVED = FrontEntry(
    "nsga2",
    (Point(3e6, 900.0), Point(6e6, 300.0)),
    (Schedule((), 1.0), Schedule((), 2.0)),
    hypervolume_ratio=0.25,
    mean_distance=0.5,
    largest_distance=1.25,
    seconds=50.0,
    generations=7,
    ended="generations",
)
