"""What may electricity cost? Pieces of the relaxation become pieces of the answer, each bound proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from lpsched.certificate.bounds import JOULES_PER_KWH, SECONDS_PER_HOUR, Multipliers
from lpsched.certificate.fixed_point import rounded_up
from lpsched.pipeline.nearby import nearby
from lpsched.pipeline.objectives import Profit
from lpsched.pipeline.proving import prover_of
from lpsched.pipeline.recovering import choices
from lpsched.relaxation import Regime
from lpsched.result.sensitivity import ElectricityNeed, ElectricityPiece
from lpsched.schedule.bag import NOTHING
from lpsched.search.electricity import ElectricitySearch, with_electricity
from lpsched.verify.bag import examine

if TYPE_CHECKING:
    from lpsched.certificate.bounds import Prover
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.relaxation import Relaxation
    from lpsched.schedule.bag import Schedule
    from lpsched.search.electricity import PowerPiece

ROUNDING: Final = 1e-12  # relative: breakpoints this near are one
HIGHEST: Final = 1e30  # money per kWh that a bag can say


def electricity_need(bag: Bag, present: Schedule | None, solver: Solver) -> ElectricityNeed:
    """Return what electricity may cost; `present` is the schedule that was found at its price now.

    Raises
    ------
    SolverError
        If the solver fails.
    InvalidScheduleError
        If a schedule found does not pass verification, which is a bug of ours.
    """
    answer = _Answer(bag, ElectricitySearch(bag, solver), prover_of(bag))
    for piece in answer.search.pieces():
        if piece.from_per_kwh < HIGHEST:
            answer.add(piece)
    tried = [] if present is None else [present]
    if answer.last_to_earn is not None and answer.even is not None:
        at = with_electricity(bag, answer.even)
        found = choices(at, Profit(), answer.last_to_earn, solver)
        tried += [] if isinstance(found, str) else [each.schedule for each in found]
    waits_from, waits_to = answer.do_not_run()
    return ElectricityNeed(
        price_per_kwh=bag.prices.electricity_per_kwh or 0.0,
        earns_up_to=_earns_up_to(bag, [each for each in tried if each != NOTHING]),
        no_profit_from=answer.no_profit_from(),
        do_not_run_from=waits_from,
        pieces=tuple(answer.pieces),
        do_not_run_to=waits_to,
    )


@dataclass(slots=True)
class _Answer:
    """The pieces so far; `even` is the price at which the best way breaks even, `last_to_earn` that way."""

    bag: Bag
    search: ElectricitySearch
    prover: Prover
    pieces: list[ElectricityPiece] = field(default_factory=list)
    even: float | None = None
    last_to_earn: Relaxation | None = None

    def add(self, piece: PowerPiece) -> None:
        """Add a piece, cut in two where it passes from profit to loss."""
        start, stop = piece.from_per_kwh, piece.to_per_kwh
        if piece.relaxation is None:
            self.even = start if self.even is None else self.even
            self._add(start, stop, Regime.DO_NOT_RUN, None)
            return
        even = self._breaks_even_at(piece)
        if self.even is not None or even <= start or (start and math.isclose(even, start, rel_tol=ROUNDING)):
            self.even = start if self.even is None else self.even
            self._add(start, stop, Regime.LOSS, piece.at_from)
            return
        self.last_to_earn = piece.relaxation
        if stop is not None and (stop <= even or math.isclose(even, stop, rel_tol=ROUNDING)):
            self._add(start, stop, Regime.PROFIT, piece.at_from)
        elif even >= HIGHEST:
            self._add(start, None, Regime.PROFIT, piece.at_from)
        else:
            self.even = even
            self._add(start, even, Regime.PROFIT, piece.at_from)
            self._add(even, stop, Regime.LOSS, self.search.at(even))

    def no_profit_from(self) -> float | None:
        """Return a price hardly above the one where the best way breaks even: there, none earns (proved).

        Nor does any at a price above: no schedule uses less than no energy, so that none earns more.
        """
        if self.even is None:
            return None
        return nearby(self.even, lambda price: min(self._bounds(price)) <= 0)

    def do_not_run(self) -> tuple[float | None, float | None]:
        """Return the first and the last price at which waiting is proved best; no last one: it has no end.

        The least running cost, sum_i n_i min_jk kappa_ijk, is a sum of least lines in the price of a joule:
        concave, so that it covers the income between any two prices at which it does. It never falls again if
        the least joules above idle are not negative; that is its slope at the highest prices.
        """
        for piece in self.pieces:
            if piece.regime is Regime.DO_NOT_RUN:
                first = nearby(piece.from_price_per_kwh, self._waits)
                if first is None or self.prover.least_joules_above_idle() >= 0:
                    return first, None
                last = piece.to_price_per_kwh
                end = None if last is None else nearby(last, self._waits, upwards=False)
                return first, first if end is None else max(first, end)
        return None, None

    def _breaks_even_at(self, piece: PowerPiece) -> float:
        """Return the price of a kilowatt-hour at which a way earns nothing; infinite if it draws nothing."""
        watts = piece.watts_above_idle + float(self.prover.idle_watts)
        money = piece.money_per_second - float(self.prover.at_electricity(0.0).standing())
        if watts <= 0:
            return math.inf if money > 0 else 0.0
        return money / watts * JOULES_PER_KWH / self.bag.site.pue

    def _add(self, start: float, stop: float | None, regime: Regime, at_start: Relaxation | None) -> None:
        if stop is not None and stop <= start:  # no wider than rounding
            return
        bound = self._bound(start, at_start)
        if self.pieces:
            before = self.pieces.pop()
            self.pieces.append(
                ElectricityPiece(before.from_price_per_kwh, start, before.regime, before.bound_at_from, bound)
            )
        self.pieces.append(ElectricityPiece(start, None, regime, bound, None))

    def _bound(self, per_kwh: float, best: Relaxation | None) -> float:
        """Return what is proved at a price, by the prices of the relaxation there, if anything runs."""
        prices = Multipliers.zero(self.bag)
        if best is not None:
            prices = Multipliers(best.machine_prices, best.cap_price)
        return rounded_up(SECONDS_PER_HOUR * self.prover.at_electricity(per_kwh).rate(prices))

    def _bounds(self, per_kwh: float) -> tuple[float, float]:
        return self._bound(per_kwh, None), self._bound(per_kwh, self.search.at(per_kwh))

    def _waits(self, per_kwh: float) -> bool:
        """Tell whether it is proved that waiting is best."""
        prover = self.prover.at_electricity(per_kwh)
        return prover.income() <= prover.least_running_cost()


def _earns_up_to(bag: Bag, schedules: list[Schedule]) -> float | None:
    """Return the highest price of a kilowatt-hour at which one of these schedules loses nothing: verified."""
    highest: float | None = None
    free = with_electricity(bag, 0.0)
    for schedule in schedules:
        measured = examine(free, schedule).measured
        if measured is None or not (measured.profit_per_hour or 0.0) > 0 or not measured.energy_joules:
            continue
        assert measured.makespan_seconds is not None
        assert measured.profit_per_hour is not None
        earned = measured.profit_per_hour * measured.makespan_seconds / SECONDS_PER_HOUR
        price = earned / (measured.energy_joules / JOULES_PER_KWH * bag.site.pue)
        near = nearby(price, partial(_loses_nothing, bag, schedule), upwards=False)
        highest = max((each for each in (near, highest) if each is not None), default=None)
    return highest


def _loses_nothing(bag: Bag, schedule: Schedule, per_kwh: float) -> bool:
    """Tell whether the verifier finds that a schedule loses nothing at a price of electricity."""
    measured = examine(with_electricity(bag, per_kwh), schedule).measured
    return measured is not None and (measured.profit_per_hour or 0.0) >= 0
