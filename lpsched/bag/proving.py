"""From a problem to a proved bound: screening, the relaxation, and whether anything is feasible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import BagArrays, usable_arrays, usable_bag
from lpsched.bag.certificate.bounds import Multipliers, Prover, Shortest
from lpsched.bag.problem import MAKESPAN, Question
from lpsched.bag.relaxation import Relaxation, least_makespan
from lpsched.cancellation import Watch, timed
from lpsched.errors import InfeasibleError, InfeasibleProgramError, NotFoundError
from lpsched.model.fixed_point import rounded_down
from lpsched.units import lower_text, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from lpsched.bag.model import Bag
    from lpsched.lp.program import Solver


# Which pairs can matter in a proof: found in doubles, with their rounding accounted for.
#
# A term e (alpha a + beta_j), worked out in doubles from alpha and beta as doubles, is off by less than
#
#     8 u e (|alpha| a + |beta_j|) + 1e-300,        u = 2^-53,
#
# since each of its five roundings is off by at most u, relative. A pair whose term, less that, is above some
# other term, plus that, is not the cheapest of its task type: exact arithmetic need not look at it. One or
# two pairs of each task type are left. Where a double overflows, all pairs are.
MANY: Final = 100_000  # pairs: up to here a proof looks at every one of them
CELLS: Final = 1 << 18  # pairs at a time
ROUNDING: Final = 8 * 2.0**-53
LEAST: Final = 1e-300


@dataclass(frozen=True, slots=True)
class PairScreen:
    """Lets through the pairs of a bag that can be cheapest."""

    arrays: BagArrays

    def cheapest(self, alpha: Fraction, beta: Sequence[Fraction]) -> list[list[int]]:
        """Return, for each task type, columns that surely hold the least e (alpha a + beta_j)."""
        arrays = self.arrays
        types, width = arrays.can_run.shape
        a = _double(alpha)
        b = np.array([_double(each) for each in beta])[arrays.machine_of]
        found: list[list[int]] = []
        height = max(1, CELLS // width)
        for start in range(0, types, height):
            rows = slice(start, start + height)
            e, can_run = arrays.seconds[rows], arrays.can_run[rows]
            watts = arrays.watts[rows] if arrays.watts is not None and a else 0.0
            with np.errstate(over="ignore", invalid="ignore"):
                terms = e * (a * watts + b)
                off = ROUNDING * e * (abs(a) * watts + np.abs(b)) + LEAST
                most = np.where(can_run, terms + off, np.inf).min(axis=1)
                keep = can_run & ~(terms - off > most[:, np.newaxis])
            sure = np.isfinite(np.where(can_run, terms + off, 0.0)).all(axis=1)
            keep[~sure] = True
            row, column = np.nonzero(keep)
            splits = np.cumsum(np.bincount(row, minlength=len(keep)))[:-1]
            found += [each.tolist() for each in np.split(column, splits)]
        return found

    def scarcest(self) -> int:
        """Return the task type that all machines together finish slowest."""
        arrays = self.arrays
        speeds = np.where(arrays.can_run, 1.0 / np.where(arrays.can_run, arrays.seconds, 1.0), 0.0)
        rates = np.maximum.reduceat(speeds, arrays.firsts, axis=1) @ arrays.machine_counts / arrays.task_counts
        return int(rates.argmin())


def screen_of(bag: Bag) -> PairScreen | None:
    """Return a screen for a bag of very many pairs, `None` for any other."""
    return PairScreen(usable_arrays(bag)) if len(bag.task_types) * len(bag.modes) > MANY else None


def _double(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return np.inf


# The first two stages: relax, and prove what the prices of the relaxation say.
@dataclass(frozen=True, slots=True)
class Proved:
    """A bound and the prices that prove it; no relaxation where the bag is better not run."""

    relaxed: Relaxation | None
    prices: Multipliers
    bound: float


def prover_of(bag: Bag) -> Prover:
    """Return a prover that knows what whole tasks imply, and is spared the pairs that cannot matter."""
    return Prover(bag, screen_of(bag), Shortest(*least_makespan(bag)))


def proved_makespan(bag: Bag, solver: Solver, watch: Watch | None = None) -> float:
    """Return a makespan that no schedule of a bag undercuts, whatever its deadline is."""
    free = bag.without_deadline()
    return MAKESPAN.prove(prover_of(free), MAKESPAN.relax(free, solver, watch).multipliers)


def prove(
    question: Question, solver: Solver, *, watch: Watch | None = None, timings: dict[str, float] | None = None
) -> Proved:
    """Relax the question, and prove its bound."""
    timings = {} if timings is None else timings
    with timed(timings, "relax"):
        prover = prover_of(question.bag)
        relaxed = _relax(question, prover, solver, watch)
    with timed(timings, "prove"):
        # Where the bag is better not run, nothing is scarce: that alone proves that waiting is best.
        prices = Multipliers.zero(question.bag) if relaxed is None else relaxed.multipliers
        bound = question.objective.prove(prover, prices)
    return Proved(relaxed, prices, bound)


def _relax(question: Question, prover: Prover, solver: Solver, watch: Watch | None) -> Relaxation | None:
    """Return the relaxation; `None` if the bag is better not run, which needs no linear program."""
    bag, asked = question.bag, question.objective
    require_power(prover)
    may_wait = asked.maximise and bag.site.deadline_seconds is None
    if may_wait and prover.income() <= prover.least_running_cost():
        return None
    fastest = require_time(prover, solver, watch)
    if fastest is not None and asked.name == "makespan":
        return fastest
    try:
        return asked.relax(bag, solver, watch)
    except InfeasibleProgramError as error:
        if fastest is None:
            raise
        least = lower_text(fastest.makespan_seconds)
        raise NotFoundError(
            f"{bag.name}: the deadline is {number(bag.site.deadline_seconds)} s, the least makespan of the "
            f"relaxation {least} s; that is too close for the solver to tell; give it a little more time"
        ) from error


# Is there any schedule at all? A cap below the idle floor, a deadline too short: refused with a proof.
def require_power(prover: Prover) -> None:
    """Refuse a cap that leaves nothing above the idle floor, unless tasks draw less than idle.

    With H = P - I: if H < 0, some D(x) must be negative; if H = 0, none may be positive.
    """
    headroom = prover.headroom
    if headroom is None or headroom > 0:
        return
    least = prover.least_joules_above_idle()
    if least < 0 or (least == 0 and headroom == 0):
        return
    site = prover.bag.site
    allowed = f"{number(site.average_power_cap_watts)} W"
    if site.cap_measured_at == "facility" and site.pue != 1:
        allowed += f" at the facility, which leaves {number(float(headroom + prover.idle_watts))} W for the machines"
    short = "nothing" if headroom == 0 else f"{number(-rounded_down(headroom))} W too little"
    raise InfeasibleError(
        f"{prover.bag.name}: the power cap is {allowed}, but idle machines alone draw "
        f"{number(float(prover.idle_watts))} W: that leaves {short}; raise the cap, or switch machines off"
    )


def require_time(prover: Prover, solver: Solver, watch: Watch | None = None) -> Relaxation | None:
    """Refuse a deadline that no schedule meets; return the relaxation that shows one might be met."""
    deadline = prover.bag.site.deadline_seconds
    if deadline is None and (prover.headroom is None or prover.headroom > 0):
        return None
    usable = usable_bag(prover.bag)
    try:
        relaxed = MAKESPAN.relax(usable, solver, watch)
    except InfeasibleProgramError as error:
        if prover.headroom is None or prover.headroom > 0:
            raise
        floor, left = float(prover.idle_watts), float(prover.headroom + prover.idle_watts)
        raise InfeasibleError(
            f"{prover.bag.name}: the power cap leaves {number(left)} W for the machines, which draw "
            f"{number(floor)} W idle, and no tasks draw so much less; raise the cap"
        ) from error
    if deadline is not None and prover.makespan(relaxed.multipliers) > deadline:
        under = " under the power cap" if prover.headroom is not None else ""
        # That proof is about schedules without a task beyond the deadline; what is told, about all schedules.
        least = proved_makespan(prover.bag, solver, watch)
        why = f"no schedule takes less than {lower_text(least)} s"
        if least <= deadline:
            least = rounded_down(prover.makespan(relaxed.multipliers))
            why = f"on machines that finish a task by then, no schedule takes less than {lower_text(least)} s"
        raise InfeasibleError(
            f"{prover.bag.name}: the deadline is {number(deadline)} s, but {why}{under}; "
            "give it more time, more machines or fewer tasks"
        )
    return relaxed
