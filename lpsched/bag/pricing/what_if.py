"""What if a machine type had another number of machines, or there were other limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.pricing.marginals import changes_between
from lpsched.bag.questions import price_at_ratio
from lpsched.bag.solve import DEFAULT_GAP, solve
from lpsched.bag.terms import with_machines
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.units import gap_text, html_table, lower_text, number, upper_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.bag.model import Bag
    from lpsched.bag.result import Result
    from lpsched.lp.program import Solver


# What other machines would change: two answers, and how far apart the best possible ones are.

FORMAT: Final = "lpsched-whatif/1"
ROUNDING: Final = 1e-12  # relative: numbers this near are the same
HEADERS: Final = ("", "before", "after", "change")


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer for the machines there are, and the answer for others.

    Attributes
    ----------
    counts_before, counts_after
        Machines by type; a type that is no more has 0 after.
    before, after
        What `solve` says of either; the price of the bag is the same in both.
    """

    counts_before: FrozenDict[str, int]
    counts_after: FrozenDict[str, int]
    before: Result
    after: Result

    def best_changes_by(self) -> tuple[float, float]:
        """Return between which two numbers the change of the best possible lies: proved, rounded outwards."""
        before, after = self.before, self.after
        change = changes_between((before.value, before.bound), (after.value, after.bound))
        assert change.at_least is not None
        assert change.at_most is not None
        return change.at_least, change.at_most

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched whatif --json` prints; its keys are stable."""
        least, most = self.best_changes_by()
        return self.before.provenance.header(FORMAT) | {
            "objective": self.before.objective,
            "unit": self.before.unit,
            "machines": {
                name: {"before": count, "after": self.counts_after[name]}
                for name, count in self.counts_before.items()
            },
            "best_changes_by_at_least": least,
            "best_changes_by_at_most": most,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }

    def facts(self) -> list[tuple[str, str, str, str]]:
        """Return the two answers in rows."""
        before, after, unit = self.before, self.after, self.before.unit
        rows = [
            (
                f"bound (proved), {unit}",
                before.bound_text(),
                after.bound_text(),
                _signed(number(after.bound - before.bound)),
            ),
            _compared(f"value (verified), {unit}", before.value, after.value),
            ("gap", gap_text(before.gap), gap_text(after.gap), ""),
        ]
        if before.regime is not None and after.regime is not None:
            rows.append(("regime", before.regime.value, after.regime.value, ""))
        old, new = before.measured, after.measured
        if before.objective != "makespan":
            rows.append(_compared("makespan, seconds", old.makespan_seconds, new.makespan_seconds))
        if before.objective != "energy":
            rows.append(_compared("energy, joules", old.energy_joules, new.energy_joules))
        return rows

    def machines(self) -> list[tuple[str, ...]]:
        """Return one row for each machine type: how many, and the marginal value of one more."""
        rows = []
        for name, count in self.counts_before.items():
            other = self.counts_after[name]
            row: tuple[str, ...] = (name, f"{count:,}", f"{other:,}")
            rows.append((*row, *(_worth(result, name) for result in (self.before, self.after))))
        return rows

    def tasks(self) -> list[tuple[str, ...]]:
        """Return one row for each task type: the minimum price for one more."""
        if self.before.worth is None or self.after.worth is None:
            return []
        old, new = self.before.worth, self.after.worth
        rows: list[tuple[str, ...]] = []
        for name, price in old.task_types.items():
            change = _compared(name, price, new.task_types[name])[3]
            rows.append((name, old.task_text(name), new.task_text(name), change))
        return rows

    def sentence(self) -> str:
        """Say how much the best possible changes."""
        least, most = self.best_changes_by()
        unit = self.before.unit
        low, high = _signed(lower_text(least)), _signed(upper_text(most))
        return f"proved: the best possible changes by {low} to {high} {unit}"

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.facts())


def _worth(result: Result, name: str) -> str:
    if result.worth is None or name not in result.worth.machine_types:
        return "-"
    return result.worth.machine_text(name)


def _compared(label: str, before: float | None, after: float | None) -> tuple[str, str, str, str]:
    if before is None or after is None:
        return (label, number(before), number(after), "-")
    same = abs(after - before) <= ROUNDING * max(abs(after), abs(before))
    return (label, number(before), number(after), _signed(number(0.0 if same else after - before)))


def _signed(change: str) -> str:
    return change if change.startswith("-") or change == "0" else f"+{change}"


# What if there were other machines? The same question, asked of two bags.


def what_if(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
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
    >>> from lpsched.bag.model import Bag, MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=12)
    >>> found = what_if(Bag("b", (cpu,), (render,), Table.of([[3.0]])), {"cpu": 3})
    >>> found.before.value, found.after.value, found.best_changes_by()
    (18.0, 12.0, (-6.0, -6.0))
    """
    solver = solver if solver is not None else default_solver()
    other = with_machines(bag, machines)
    if price is None and profit_ratio is not None:
        price, profit_ratio = price_at_ratio(bag, profit_ratio, solver), None

    def solved(which: Bag, words: str) -> Result:
        try:
            return solve(
                which,
                objective=objective,
                price=price,
                profit_ratio=profit_ratio,
                power_cap=power_cap,
                deadline=deadline,
                effort=effort,
                gap=gap,
                time_limit=time_limit,
                seed=seed,
                solver=solver,
            )
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
