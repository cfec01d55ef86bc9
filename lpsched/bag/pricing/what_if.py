"""What if a machine type had another number of machines, or there were other limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.bag.model import Bag
from lpsched.bag.pricing.what_if_result import WhatIf
from lpsched.bag.problem import ask, with_price
from lpsched.bag.solve import DEFAULT_GAP, answer_in_time, effort_named
from lpsched.bag.terms import Terms, with_machines
from lpsched.cancellation import Watch
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lpsched.bag.result import Result
    from lpsched.lp.program import Solver


def what_if(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    machines: Mapping[str, int],
    *,
    objective: str | None = None,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
    gap: float = DEFAULT_GAP,
    time_limit: float | None = None,
    seed: int = 0,
    solver: Solver | None = None,
) -> WhatIf:
    """Solve a bag for the machines there are, and for others.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    machines
        How many machines of some types there would be; 0 drops the type, others stay as they are.
    objective, price, profit_ratio, power_cap, deadline, effort, gap, seed, solver
        As in `solve`. A profit ratio is turned into a price once, by the machines there are: customers do
        not pay more because the machines have changed.
    time_limit
        Seconds of each of the two.

    Raises
    ------
    ValueError, InstanceError, SolverError
        As `solve` does; also if there is no machine type of a name, or a task type could run nowhere.
    InfeasibleError, NotFoundError
        As `solve` does; the message tells with which machines.

    Examples
    --------
    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=12)
    >>> found = what_if(Bag("b", (cpu,), (render,), Table.of([[3.0]])), {"cpu": 3})
    >>> found.before.value, found.after.value, found.best_changes_by()
    (18.0, 12.0, (-6.0, -6.0))
    """
    bag = Bag.given(bag)
    solver = solver if solver is not None else default_solver()
    other = with_machines(bag, machines)
    terms = Terms(objective, price, profit_ratio, power_cap, deadline)
    terms = with_price(bag, terms, solver) if price is None else terms

    def solved(which: Bag, words: str) -> Result:
        watch, tried = Watch(time_limit), effort_named(effort)
        try:
            return answer_in_time(ask(which, terms, solver), solver, gap=gap, watch=watch, effort=tried, seed=seed)
        except (InfeasibleError, NotFoundError) as error:
            raise type(error)(f"{words}: {error}") from error

    changed = ", ".join(f"{name}={count}" for name, count in machines.items())
    before, after = solved(bag, "with the machines there are"), solved(other, f"with {changed}")
    left = {machine.name: machine.count for machine in other.machine_types}
    counts = {machine.name: machine.count for machine in bag.machine_types}
    return WhatIf(
        counts_before=FrozenDict(counts),
        counts_after=FrozenDict({name: left.get(name, 0) for name in counts}),
        before=before,
        after=after,
    )
