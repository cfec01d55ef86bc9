"""What if: a bag is solved as it is, and again with other machines, tasks, prices or limits.

A change is a name and a value:

    gpu, machines.gpu       number of machines of a type; 0 drops the type
    render, tasks.render    number of tasks of a type; 0 drops the type
    price                   price of the whole bag; in percent, also all prices per task. A bag without a price is
                            compared as one that sells for 0; then only a new price can be given, no change
    price.render            price of one task of a type
    electricity             price of a kilowatt-hour
    power-cap               average power in watts, or with a unit (30kW); none for no cap
    deadline                seconds, or with a unit (90min, 5h); none for no deadline

A value is a number, or a text: an amount (8, 30kW), or a change of the current one (+4, -2, +10%). A name without a
prefix is a machine type if there is one of that name, else one of the last five, else a task type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from lpsched.bag.cost import cost_model, has_price
from lpsched.bag.model import Bag, Terms, sites_of, with_machines
from lpsched.bag.pricing.result import Change, WhatIf
from lpsched.bag.problem import build_problem, with_price
from lpsched.bag.solve import DEFAULT_GAP, effort_named, solve_problem
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, NotFoundError, nearest
from lpsched.lp.solvers import default_solver
from lpsched.model.changes import NO_UNIT, Amount, change_error, read_amount
from lpsched.model.fields import FrozenDict, check_money, check_power, check_seconds
from lpsched.model.problems import checked
from lpsched.units import TYPED

if TYPE_CHECKING:
    from lpsched.bag.result import Result
    from lpsched.lp.program import Solver

MOST_NAMED: Final = 20  # names in a message
UNITS: Final = {"power-cap": {**NO_UNIT, **TYPED["power"]}, "deadline": {**NO_UNIT, **TYPED["time"]}}
TERMS: Final = {"price": "price", "power-cap": "power_cap_watts", "deadline": "deadline_seconds"}
FIELDS: Final = {  # the part of a bag, its field, and the check of that
    "electricity": ("prices", "electricity_per_kwh", check_money),
    "power-cap": ("site", "average_power_cap_watts", check_power),
    "deadline": ("site", "deadline_seconds", check_seconds),
}
SETTINGS: Final = ("price", *FIELDS)


def what_if(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    changes: Mapping[str, float | str | None] | None = None,
    *,
    machines: Mapping[str, int] | None = None,
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
    """Solve a bag as it is, and with some changes.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    changes
        New values by name, as above; `None` removes a limit.
    machines
        The same for machine types only (the former name of `changes`).
    objective, price, profit_ratio, power_cap, deadline, effort, gap, seed, solver
        As in `solve`, for both. A profit ratio becomes a price once, by the bag as it is.
    time_limit
        Seconds of each of the two solves.

    Raises
    ------
    ValueError, InstanceError, SolverError
        As `solve` does; also for a name or a value that cannot be, or if a task type could run nowhere.
    InfeasibleError, NotFoundError
        As `solve` does; the message names the changes.

    Examples
    --------
    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=12)
    >>> found = what_if(Bag("b", (cpu,), (render,), Table.of([[3.0]])), {"cpu": "+1"})
    >>> found.before.value, found.after.value, found.best_changes_by()
    (18.0, 12.0, (-6.0, -6.0))
    """
    bag = Bag.given(bag)
    solver = solver if solver is not None else default_solver()
    specified = {**(machines or {}), **(changes or {})}
    terms = Terms(objective, price, profit_ratio, power_cap, deadline)
    terms = with_price(bag, terms, solver) if price is None else terms
    other, other_terms, made = _changed(bag, terms, specified)
    if other_terms.objective == "profit" and not has_price(terms.applied_to(bag)) and has_price(other):
        terms = replace(terms, price=0.0)  # the bag as it is earns nothing

    def solved(which: Bag, terms: Terms, words: str) -> Result:
        cancel, tried = CancelToken(time_limit), effort_named(effort)
        try:
            return solve_problem(
                build_problem(which, terms, solver), solver, gap=gap, cancel=cancel, effort=tried, seed=seed
            )
        except (InfeasibleError, NotFoundError) as error:
            why = str(error).removeprefix(f"{which.name}: ")
            raise type(error)(f"{which.name}, {words}: {why}") from error

    words = ", ".join(f"{name}={value}" for name, value in specified.items())
    before, after = solved(bag, terms, "without the changes"), solved(other, other_terms, f"with {words}")
    counts = {machine.name: machine.count for machine in bag.machine_types}
    left = dict.fromkeys(counts, 0) | {machine.name: machine.count for machine in other.machine_types}
    return WhatIf(FrozenDict(counts), FrozenDict(left), before, after, made)


@dataclass(frozen=True, slots=True)
class _Target:
    """What a name stands for; `item` is a machine type or task type."""

    kind: str
    item: str = ""

    @property
    def name(self) -> str:
        return f"{self.kind}.{self.item}" if self.item else self.kind

    def unit(self, bag: Bag) -> str:
        money = bag.prices.currency
        units = {"electricity": f"{money}/kWh", "power-cap": "W", "deadline": "s", "price": money}
        return units.get(self.kind, self.kind)

    def of(self, bag: Bag) -> float | None:
        """Return the value in a bag."""
        if self.kind in FIELDS:
            part, field, _ = FIELDS[self.kind]
            return cast("float | None", getattr(getattr(bag, part), field))
        if self.kind == "price":
            own = bag.prices.per_task.get(self.item)
            return own if self.item else cost_model(bag).revenue if has_price(bag) else None
        counts = {each.name: each.count for each in bag.task_types}
        if self.kind == "machines":
            counts = {each.name: each.count for each in bag.machine_types}
        return counts.get(self.item, 0)


def _changed(bag: Bag, terms: Terms, changes: Mapping[str, Any]) -> tuple[Bag, Terms, tuple[Change, ...]]:
    """Return the bag with the changes, the terms that still apply to it, and what was changed."""
    issues: list[InputIssue] = []
    counts: dict[str, dict[str, int]] = {"machines": {}, "tasks": {}}  # changed together: one alone may be invalid
    targets: list[_Target] = []
    before, other = terms.applied_to(bag), bag
    for name, value in changes.items():
        try:
            target = _target(bag, name)
            targets.append(target)
            amount = read_amount(target.name, value, UNITS.get(target.kind, NO_UNIT), may_be_none=target.kind in UNITS)
            if target.kind in counts:
                counts[target.kind][target.item] = amount.count(target.name, target.of(bag))
                continue
            term = TERMS.get(target.kind)
            if term is not None:  # an option becomes part of the bag before it is changed
                other = Terms(**{term: getattr(terms, term)}).applied_to(other)
                terms = replace(terms, **{term: None})
            other = _with_setting(other, target, amount)
        except InstanceError as error:
            for each in error.issues:  # of all prices that a percentage changes, name the one
                one = str(each.path[0])
                issues.append(replace(each, path=("changes", one if one.startswith("price.") else name)))
    if issues:
        raise InstanceError("", tuple(issues))
    try:
        other = with_machines(_with_tasks(other, counts["tasks"]), counts["machines"])
    except InstanceError as error:
        raise InstanceError("", tuple(replace(each, path=("changes",)) for each in error.issues)) from error
    is_priced = any(has_price(each) for each in (before, other))
    objective = terms.objective or ("profit" if is_priced else "makespan")  # the same for both
    terms, after = replace(terms, objective=objective), terms.applied_to(other)
    return other, terms, tuple(Change(each.name, each.unit(bag), each.of(before), each.of(after)) for each in targets)


def _target(bag: Bag, name: str) -> _Target:
    """Return what a name stands for."""
    machines, tasks = [each.name for each in bag.machine_types], [each.name for each in bag.task_types]
    if name in machines:
        return _Target("machines", name)
    if name in SETTINGS:
        return _Target(name)
    if name in tasks:
        return _Target("tasks", name)
    kind, _, item = name.partition(".")
    items = {"machines": machines, "tasks": tasks, "price": tasks}.get(kind, [])
    if item in items:
        return _Target(kind, item)
    advice = nearest(item, items) if items else nearest(name, [*machines, *SETTINGS, *tasks])
    known = items or [*machines, *SETTINGS, *tasks]
    expected = f"one of {', '.join(known[:MOST_NAMED])}{', ...' if len(known) > MOST_NAMED else ''}"
    raise change_error(name, "an unknown name", expected, advice or "correct it")


def _with_tasks(bag: Bag, counts: dict[str, int]) -> Bag:
    """Return the bag with other counts of some task types; a type of which there are none is dropped."""
    if not counts:
        return bag
    new = [counts.get(task.name, task.count) for task in bag.task_types]
    kept = [i for i, count in enumerate(new) if count]
    if not kept:
        raise InstanceError(bag.name, (InputIssue(("task_types",), "no tasks", "at least one", "leave some"),))
    tasks = tuple(bag.task_types[i].model_copy(update={"count": new[i]}) for i in kept)
    names, columns = {task.name for task in tasks}, list(range(len(bag.modes)))
    per_task = {name: price for name, price in bag.prices.per_task.items() if name in names}
    prices = bag.prices.model_copy(update={"per_task": FrozenDict(per_task)})
    update = {"task_types": tasks, "prices": prices, "sites": sites_of(bag, kept)}
    return bag.model_copy(update=update | bag.tables_of(kept, columns))


def _with_setting(bag: Bag, target: _Target, amount: Amount) -> Bag:
    """Return the bag with another price or limit, checked as in a file."""
    current = target.of(bag)
    if amount.how and current is None:
        raise change_error(
            target.name, "no current value", "a value to change", "give the new value itself, without a sign"
        )
    part, field, check = FIELDS.get(target.kind, ("prices", "per_bag", check_money))
    old, per_task = getattr(bag, part), dict(bag.prices.per_task)
    if target.item:
        field = "per_task"
    elif target.kind == "price" and amount.how:
        current = bag.prices.per_bag
        for name, each in per_task.items() if amount.how == "%" else ():
            per_task[name] = checked(f"price.{name}", amount.applied_to(each), check_money) or 0.0
    elif target.kind == "price":
        per_task = {}
    new: Any = checked(target.name, amount.applied_to(current), check)
    if target.item:
        per_task[target.item] = new
    update = {field: None if amount.how == "%" and current is None else new}
    if target.kind == "price":
        update |= {"per_task": FrozenDict(per_task)}
    return bag.model_copy(update={part: old.model_copy(update=update)})
