"""What can be asked of a bag: each objective relaxes, proves and reads its own value.

    makespan   least seconds        energy   least joules        profit   most money per hour

Where several points are equally good, the relaxation of the first two takes the one that is best in the
other: of all ways to be done as soon, the thriftiest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from lpsched.certificate.bounds import SECONDS_PER_HOUR, Multipliers, Prover
from lpsched.certificate.fixed_point import rounded_down, rounded_up
from lpsched.formulations import front
from lpsched.lp.hot import is_sound
from lpsched.lp.program import LpStatus, Solver
from lpsched.search.choosing import is_huge, least_by_columns, rate_by_columns
from lpsched.search.profit_rate import best_rate
from lpsched.search.weighted_cost import least_cost

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.relaxation import Relaxation
    from lpsched.verify.bag import Measurement
    from lpsched.watch import Watch

TIE: Final = 1e-7  # what the other criterion counts where the first one ties


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A relaxation, and whether its linear program was solved to the end."""

    relaxation: Relaxation
    optimal: bool = True

    @property
    def multipliers(self) -> Multipliers:
        """The prices, for the certificate."""
        return Multipliers(self.relaxation.machine_prices, self.relaxation.cap_price)


class Objective(Protocol):
    """One question; the answers are doubles in its unit, rounded to the side that stays true."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def maximise(self) -> bool:
        """Whether more is better."""

    def unit(self, bag: Bag) -> str:
        """Return what value and bound are told in."""

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:
        """Solve the linear program.

        Raises
        ------
        SolverError
            If the solver fails.
        """

    def prove(self, prover: Prover, prices: Multipliers) -> float:
        """Return the bound that these prices prove."""

    def value(self, measured: Measurement) -> float:
        """Return what a verified schedule achieves."""


@dataclass(frozen=True, slots=True)
class Makespan:
    """The least seconds."""

    name: str = "makespan"
    maximise: bool = False

    def unit(self, bag: Bag) -> str:  # noqa: ARG002, D102
        return "seconds"

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:  # noqa: D102
        return relaxed_front(bag, front.MAKESPAN, solver, watch)

    def prove(self, prover: Prover, prices: Multipliers) -> float:  # noqa: D102
        return rounded_down(prover.makespan(prices))

    def value(self, measured: Measurement) -> float:  # noqa: D102
        assert measured.makespan_seconds is not None
        return measured.makespan_seconds


@dataclass(frozen=True, slots=True)
class Energy:
    """The least joules."""

    name: str = "energy"
    maximise: bool = False

    def unit(self, bag: Bag) -> str:  # noqa: ARG002, D102
        return "joules"

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:  # noqa: D102
        return relaxed_front(bag, front.ENERGY, solver, watch)

    def prove(self, prover: Prover, prices: Multipliers) -> float:  # noqa: D102
        return rounded_down(prover.energy(prices))

    def value(self, measured: Measurement) -> float:  # noqa: D102
        assert measured.energy_joules is not None
        return measured.energy_joules


@dataclass(frozen=True, slots=True)
class Profit:
    """The most money per hour."""

    name: str = "profit"
    maximise: bool = True

    def unit(self, bag: Bag) -> str:  # noqa: D102
        return f"{bag.prices.currency}/hour"

    def relax(self, bag: Bag, solver: Solver, watch: Watch | None = None) -> Relaxed:  # noqa: D102
        chosen = rate_by_columns(bag, solver, watch) if is_huge(bag) else None
        if chosen is not None:
            return Relaxed(chosen.relaxation, chosen.optimal)
        rated = best_rate(bag, solver, watch=watch)
        return Relaxed(rated.relaxation, rated.optimal)

    def prove(self, prover: Prover, prices: Multipliers) -> float:  # noqa: D102
        return rounded_up(SECONDS_PER_HOUR * prover.rate(prices))

    def value(self, measured: Measurement) -> float:  # noqa: D102
        assert measured.profit_per_hour is not None
        return measured.profit_per_hour


OBJECTIVES: Final[dict[str, Objective]] = {
    objective.name: objective for objective in (Profit(), Makespan(), Energy())
}


def relaxed_front(
    bag: Bag, weights: front.Weights, solver: Solver, watch: Watch | None = None, *, whole: bool = True
) -> Relaxed:
    """Relax a weighted sum of energy and makespan, for `whole` tasks or split ones.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    chosen = least_by_columns(bag, weights, solver, watch, whole=whole) if is_huge(bag) else None
    if chosen is not None:
        return Relaxed(chosen.relaxation, chosen.optimal)
    scales, solution = least_cost(bag, weights, solver, watch=watch, whole=whole)
    best = front.read_solution(scales, weights, solution)
    if solution.status is LpStatus.LIMIT:
        return Relaxed(best, optimal=False)
    if scales.joules is None:
        return Relaxed(best)
    tied = front.Weights(
        weights.joules or TIE * scales.seconds / (scales.least_joules or 1.0),
        weights.seconds or TIE * scales.least_joules / scales.seconds,
    )
    again = solver.solve(solution.program.with_costs(front.all_costs(scales, tied)), watch=watch)
    if not is_sound(again):
        return Relaxed(best)
    among = front.point_of(scales, again)
    return Relaxed(
        replace(
            best,
            shares=among.shares,
            makespan_seconds=among.makespan_seconds,
            energy_joules=among.energy_joules,
        )
    )
