"""The first two stages: relax, and prove what the prices of the relaxation say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.certificate.bounds import Multipliers, Prover, Shortest
from lpsched.display import lower_text, number
from lpsched.errors import InfeasibleProgramError, NotFoundError
from lpsched.formulations.whole_tasks import least_makespan
from lpsched.pipeline.feasibility import require_power, require_time
from lpsched.pipeline.screening import screen_of
from lpsched.pipeline.timing import timed

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.objectives import Relaxed
    from lpsched.pipeline.questions import Question
    from lpsched.watch import Watch


@dataclass(frozen=True, slots=True)
class Proved:
    """A bound and the prices that prove it; no relaxation where the bag is better not run."""

    relaxed: Relaxed | None
    prices: Multipliers
    bound: float


def prover_of(bag: Bag) -> Prover:
    """Return a prover that knows what whole tasks imply, and is spared the pairs that cannot matter."""
    return Prover(bag, screen_of(bag), Shortest(*least_makespan(bag)))


def prove(
    question: Question,
    solver: Solver,
    *,
    watch: Watch | None = None,
    timings: dict[str, float] | None = None,
) -> Proved:
    """Relax the question, and prove its bound.

    Raises
    ------
    InfeasibleError
        If there is no schedule.
    NotFoundError
        If a deadline is too close to the least makespan for the solver to tell.
    SolverError
        If the solver fails.
    """
    timings = {} if timings is None else timings
    with timed(timings, "relax"):
        prover = prover_of(question.bag)
        relaxed = _relax(question, prover, solver, watch)
    with timed(timings, "prove"):
        # Where the bag is better not run, nothing is scarce: that alone proves that waiting is best.
        prices = Multipliers.zero(question.bag) if relaxed is None else relaxed.multipliers
        bound = question.objective.prove(prover, prices)
    return Proved(relaxed, prices, bound)


def _relax(question: Question, prover: Prover, solver: Solver, watch: Watch | None) -> Relaxed | None:
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
        least = lower_text(fastest.relaxation.makespan_seconds)
        raise NotFoundError(
            f"{bag.name}: the deadline is {number(bag.site.deadline_seconds)} s, the least makespan of the "
            f"relaxation {least} s; that is too close for the solver to tell; give it a little more time"
        ) from error
