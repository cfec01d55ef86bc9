"""A bag that can be done by hand, a schedule of it, and its price curve."""

from __future__ import annotations

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.pricing.result import PriceCurve, PriceCurveSegment, PricePoint
from lpsched.bag.relaxation import Regime
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Provenance
from lpsched.model.table import Table

PROVENANCE = Provenance("0", "highs", "small", "abc")
BAG = Bag(
    "by hand",
    (
        MachineType(name="cpu", count=3, idle_watts=10.0),
        MachineType(name="$gpu$", count=1, idle_watts=50.0, p_states=("P0", "P1")),
    ),
    (TaskType(name="render", count=8), TaskType(name="<zip>", count=2)),
    Table.of([[100.0, 50.0, 80.0], [300.0, None, None]]),
    Table.of([[40.0, 200.0, 100.0], [30.0, None, None]]),
)
# Two CPUs zip for 300 s each, the third renders twice: 200 s. The GPU renders 2 * 50 + 4 * 80 = 420 s.
SCHEDULE = Schedule(
    (
        MachineGroup("cpu", 2, (Run("<zip>", 1),)),
        MachineGroup("cpu", 1, (Run("render", 2),)),
        MachineGroup("$gpu$", 1, (Run("render", 2, "P0"), Run("render", 4, "P1"))),
    )
)


def piece(start, stop, regime, bound, value, *, gamma=2.0) -> PriceCurveSegment:
    """Return a piece between two prices, with bounds and values at both ends."""
    return PriceCurveSegment(
        from_ratio=None if gamma is None else start / gamma,
        to_ratio=None if gamma is None or stop is None else stop / gamma,
        from_price=start,
        to_price=stop,
        regime=regime,
        bound_at_from=bound[0],
        bound_at_to=bound[1],
        value_at_from=value[0],
        value_at_to=value[1],
        schedule=None,
    )


def curve(*pieces: PriceCurveSegment, points=(), least=1.0, even=2.0) -> PriceCurve:
    """Return a curve of some pieces."""
    return PriceCurve(
        unit="USD/hour",
        pieces=pieces,
        points=tuple(PricePoint(*each) for each in points),
        least_price_to_run=least,
        break_even_price=even,
        timings=FrozenDict({}),
        provenance=PROVENANCE,
    )


def usual(end: float | None, *, gamma: float | None = 2.0) -> PriceCurve:
    """Return a curve that waits up to a price of 1, loses up to 2, then earns; it bends once more, at 3."""
    last = (20.0, None if end is None else 20.0 + 20.0 * (end - 3.0))
    return curve(
        piece(0.0, 1.0, Regime.DO_NOT_RUN, (-5.0, -5.0), (-5.0, -5.0), gamma=gamma),
        piece(1.0, 2.0, Regime.LOSS, (-5.0, 0.0), (-5.0, -1.0), gamma=gamma),
        piece(2.0, 3.0, Regime.PROFIT, (0.0, 20.0), (-1.0, 15.0), gamma=gamma),
        piece(3.0, end, Regime.PROFIT, last, (18.0, None if end is None else last[1]), gamma=gamma),
    )
