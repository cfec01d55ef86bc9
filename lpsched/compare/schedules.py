"""Other schedulers against the bound: check what they wrote, measure it, tell how far from the best it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lpsched.auditing import examined
from lpsched.pipeline.proving import prove
from lpsched.pipeline.questions import Question, ask
from lpsched.pipeline.solvers import default_solver
from lpsched.result.provenance import provenance_of
from lpsched.result.solve import relative_gap
from lpsched.result.validation import Entry, Validation
from lpsched.verify.bag import Examined, examine

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.schedule.bag import Schedule


def validate(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    schedules: Mapping[str, Schedule] | Sequence[Path | str],
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    solver: Solver | None = None,
) -> Validation:
    """Check schedules of a bag, measure them, and tell their distance from the bound.

    Parameters
    ----------
    schedules
        Schedules by name, or files: compact (`.json`, `.yaml`) or one row per task (`.csv`, `.parquet`).
        A file that cannot be read is an entry with a violation, not an error.
    objective, price, profit_ratio, power_cap, deadline, solver
        As in `solve`.

    Raises
    ------
    ValueError, InstanceError, InfeasibleError, SolverError
        As `solve` does.
    """
    solver = solver if solver is not None else default_solver()
    question = ask(
        bag,
        solver=solver,
        objective=objective,
        price=price,
        profit_ratio=profit_ratio,
        power_cap=power_cap,
        deadline=deadline,
    )
    bound = prove(question, solver).bound
    waits = question.objective.maximise and question.bag.site.deadline_seconds is None
    if isinstance(schedules, Mapping):
        found = {name: examine(question.bag, each, may_wait=waits) for name, each in schedules.items()}
    else:
        found = {str(file): examined(question.bag, Path(file), may_wait=waits) for file in schedules}
    return Validation(
        objective=question.objective.name,
        unit=question.objective.unit(bag),
        bound=bound,
        entries=tuple(_entry(question, name, each, bound) for name, each in found.items()),
        provenance=provenance_of(bag, solver.name),
    )


def _entry(question: Question, name: str, found: Examined, bound: float) -> Entry:
    if found.measured is None:
        return Entry(name, None, None, None, found.violations)
    value = question.objective.value(found.measured)
    return Entry(name, value, relative_gap(value, bound), found.measured, ())
