"""What answers claim about one more machine or task, held against every schedule of tiny bags.

Each check returns the claims that are false, in words; `scripts/check_claims.py` makes thousands of them.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.bag.model import Bag, with_machines
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.one_more import with_one_more
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.sensitivity import sensitivity
from lpsched.bag.solve import solve
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.model.table import Table
from tests.property.tiny import Case, Ledger, case_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.bag.pricing.result import ElectricityBreakEven, PriceCurveSegment
    from lpsched.bag.result import Between

HOUR = 3600
ROUNDING = 1e-6  # of money an hour: pieces are cut in doubles


def drawn_bag(seed: int) -> Bag:
    """Return up to 4 tasks on up to 3 machines: absent pairs, P-states, watts below idle, caps, deadlines."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    counts = rng.choice([(1,), (2,), (3,), (1, 1), (2, 1), (1, 2)])
    machines = []
    for j, count in enumerate(counts):
        life = rng.choice([None, None, 1.0, 4.0])
        machines.append(
            MachineType(
                name=f"m{j}",
                count=count,
                idle_watts=rng.choice([0.0, 1.0, 3.0, 8.0]),
                wear_per_busy_hour=rng.choice([0.0, 0.0, 360.0]),
                purchase_price=0.0 if life is None else rng.choice([0.0, 1000.0, 20_000.0]),
                mean_hours_to_failure=life,
                p_states=rng.choice([None, None, ("P0", "P1")]) if j == 0 else None,
            )
        )
    columns = sum(each.modes for each in machines)
    tasks = rng.choice([(1,), (2,), (3,), (4,), (1, 1), (2, 1), (1, 3), (2, 2)])
    present = [[rng.random() < 0.85 for _ in range(columns)] for _ in tasks]
    for row in present:
        row[rng.randrange(columns)] = True
    amounts = [1.0, 2.0, 3.0, 1.5, 7.0, rng.uniform(0.5, 9.0)]

    def cells(choices: list[float]) -> Table:
        return Table.of([[rng.choice(choices) if there else None for there in row] for row in present])

    bag = Bag(
        "drawn",
        tuple(machines),
        tuple(TaskType(name=f"t{i}", count=count) for i, count in enumerate(tasks)),
        cells(amounts),
        cells([0.0, 1.0, 2.0, 5.0, 9.0, 20.0]),
        Prices(per_bag=0.0, electricity_per_kwh=rng.choice([0.0, 3.6e5, 3.6e6]), overhead_per_bag=rng.choice([0.0, 2.0])),
        Site(pue=rng.choice([1.0, 1.5]), cap_measured_at=rng.choice(["it", "facility"])),
    )  # fmt: skip
    ways = case_of(bag).ways
    ledger, way = Ledger(bag), rng.choice(ways)
    site: dict[str, float] = {}
    if rng.random() < 0.3:
        meter = Fraction(bag.site.pue) if bag.site.cap_measured_at == "facility" else 1
        average = meter * (way.joules / way.load + ledger.idle)
        site["average_power_cap_watts"] = max(0.1, float(average) * rng.choice([1.0, 1.1, 2.0]))
    if rng.random() < 0.3:
        site["deadline_seconds"] = float(way.load) * rng.choice([1.0, 1.2, 2.0])
    running = ledger.per_joule * way.joules + way.worn
    even = running + ledger.standing * way.load
    at = rng.choice([running, even, even, 2 * even, even + 10, even + 100])
    price = max(0.0, float(at) * rng.choice([0.9, 1.0, 1.1]) + bag.prices.overhead_per_bag)
    prices = bag.prices.model_copy(update={"per_bag": price})
    return bag.model_copy(update={"prices": prices, "site": bag.site.model_copy(update=site)})


def best_of(case: Case, objective: str = "profit", income: Fraction | None = None) -> Fraction | None:
    """Return the best; where no schedule of all tasks keeps the cap, doing nothing does, without a deadline."""
    best, ledger = case.best(objective, income), Ledger(case.bag)
    waits = objective == "profit" and ledger.deadline is None
    return -ledger.standing if best is None and waits else best


def with_tasks(bag: Bag, i: int) -> Bag:
    """Return a bag with one more task of a type."""
    tasks = list(bag.task_types)
    tasks[i] = tasks[i].model_copy(update={"count": tasks[i].count + 1})
    return bag.model_copy(update={"task_types": tuple(tasks)})


def false_steps(
    bag: Bag, *, objective: str = "profit", effort: str = "fast", marginals: str = "proved"
) -> list[str] | None:
    """Return what is false about one more machine or task; `None` if there is no answer."""
    try:
        result = solve(bag, objective=objective, effort=effort, time_limit=0.3 if effort == "tight" else None)
    except (InfeasibleError, NotFoundError):
        return None
    found = with_one_more(bag, result, marginals=marginals).one_more
    if found is None:
        return None
    times = HOUR if objective == "profit" else 1
    now = best_of(case_of(bag), objective)
    assert now is not None
    false = []
    for name, step in found.machine_types.items():
        count = {machine.name: machine.count for machine in bag.machine_types}[name]
        best = best_of(case_of(with_machines(bag, {name: count + 1})), objective)
        change = None if best is None else times * (best - now)
        false += _outside(f"machine {name}", step.at_least, step.at_most, change)
    for i, task in enumerate(bag.task_types):
        price = found.task_types.get(task.name)
        if price is None:
            continue
        case, what = case_of(with_tasks(bag, i)), f"task {task.name}"
        if objective == "profit":
            false += _false_price(what, bag, case, price, now)
            continue
        best = case.best(objective)
        false += _outside(what, price.at_least, price.at_most, None if best is None else best - now)
    return false


def _false_price(what: str, bag: Bag, more: Case, step: Between, now: Fraction) -> list[str]:
    """Return what is false about the break-even price of one more task; `now` is the best without it."""
    income, false = Ledger(bag).income, []
    if step.at_least is not None:
        best = best_of(more, "profit", income + Fraction(step.at_least))
        if best is not None and best > now:
            false.append(f"{what} pays below {step.at_least}")
    if step.at_most is not None:
        best = best_of(more, "profit", income + Fraction(step.at_most))
        if best is None or best < now:
            false.append(f"{what} does not pay at {step.at_most}")
    return false


def _outside(what: str, least: float | None, most: float | None, change: Fraction | None) -> list[str]:
    if change is None:
        return [f"{what}: no schedule, but {least} to {most}"] if (least, most) != (None, None) else []
    if (least is None or least <= change) and (most is None or change <= most):
        return []
    return [f"{what}: {float(change)} is not in {least} to {most}"]


def false_counts(bag: Bag) -> list[str] | None:
    """Return what is false about how many more machines are worthwhile; `None` if there is no answer."""
    try:
        found = sensitivity(bag, effort="balanced", marginals="proved")
    except (InfeasibleError, NotFoundError):
        return None
    false = []
    for need in found.machines:
        most = bag.tasks - need.count + 1 if need.most_more is None else max(need.most_more, bag.tasks - need.count) + 1
        cases = [case_of(with_machines(bag, {need.name: need.count + more})) for more in range(min(most, 5) + 1)]
        bests = [best_of(case) for case in cases]
        known = [best for best in bests if best is not None]
        if any(HOUR * best > Fraction(need.bound_at_most) for best in known):
            false.append(f"{need.name}: some number passes {need.bound_at_most}")
        if need.most_more is not None:
            few = [best for best in bests[: need.most_more + 1] if best is not None]
            many = [best for best in bests[need.most_more + 1 :] if best is not None]
            if many and (not few or max(many) > max(few)):
                false.append(f"{need.name}: more than {need.most_more} are worthwhile")
        if need.sure_more and need.sure_more < len(bests) and need.sure_adds_at_least is not None:
            best, now = bests[need.sure_more], bests[0]
            change = None if best is None or now is None else HOUR * (best - now)
            if now is not None:
                words = f"{need.sure_more} {need.name}"
                false += _outside(words, need.sure_adds_at_least, need.sure_adds_at_most, change)
        if len(bests) > 1 and bests[0] is not None:
            change = None if bests[1] is None else HOUR * (bests[1] - bests[0])
            false += _outside(f"one more {need.name}", need.step_at_least, need.step_at_most, change)
    return false


def false_prices(bag: Bag) -> list[str] | None:
    """Return what is false about prices of electricity; `None` if there is no answer."""
    try:
        need = sensitivity(bag, effort="fast", marginals="lp").electricity
    except (InfeasibleError, NotFoundError):
        return None
    if need is None:
        return None
    ways, false = case_of(bag).ways, []

    def at(price: float) -> tuple[Fraction | None, Fraction]:
        prices = bag.prices.model_copy(update={"electricity_per_kwh": price})
        case = Case(bag.model_copy(update={"prices": prices}), ways)
        return case.best("profit"), -Ledger(case.bag).standing

    for price in _waiting_prices(need):
        best, waiting = at(price)
        if best is not None and best > waiting:
            false.append(
                f"running is better than waiting at {price}, not from {need.do_not_run_from} to {need.do_not_run_to}"
            )
    if need.no_profit_from is not None:
        for factor in (1.0, 1.001, 2.0, 100.0, 1e6):
            best, _ = at(factor * need.no_profit_from + (factor > 1.0))
            if best is not None and best > 0:
                false.append(f"some schedule earns above {need.no_profit_from}")
    return false


def false_curve(bag: Bag, *, effort: str = "auto") -> list[str] | None:
    """Return what is false about bounds and regimes over the price; `None` if there is no answer."""
    try:
        curve = price_curve(bag, effort=effort)
    except (InfeasibleError, NotFoundError):
        return None
    case, overhead, false = case_of(bag), Fraction(bag.prices.overhead_per_bag), []
    waiting = -Ledger(bag).standing

    def at(price: float) -> Fraction | None:
        return best_of(case, "profit", Fraction(price) - overhead)

    if curve.break_even_price is not None:
        best = at(curve.break_even_price)
        if best is not None and best > 0:
            false.append(f"some schedule earns at {curve.break_even_price}")
    for piece in curve.pieces:
        for price, bound in _on(piece):
            best = at(price)
            if best is not None:
                false += _false_regime(piece.regime, price, bound, HOUR * best, HOUR * waiting)
    return false


def _false_regime(regime: str, price: float, bound: Fraction, best: Fraction, waiting: Fraction) -> Iterator[str]:
    """Yield what is false about a price on a piece of the curve; money an hour."""
    if best > bound:
        yield f"{float(best)} at {price} passes {float(bound)}"
    if regime == "loss" and best > ROUNDING:
        yield f"some schedule earns at {price}, which is called a loss"
    if regime == "do-not-run" and best - waiting > ROUNDING:
        yield f"running is better than waiting at {price}"
    if regime == "profit" and bound < -ROUNDING:
        yield f"at {price} no schedule earns, by the bound, and it is called profit"


def _on(piece: PriceCurveSegment) -> list[tuple[float, Fraction]]:
    """Return prices on a piece, and what is proved there: at both ends, and on the line between."""
    low, least = piece.from_price, Fraction(piece.bound_at_from)
    if piece.to_price is None or piece.bound_at_to is None:
        return [(low, least)]
    middle = low + (piece.to_price - low) / 2
    share = (Fraction(middle) - Fraction(low)) / (Fraction(piece.to_price) - Fraction(low))
    most = Fraction(piece.bound_at_to)
    return [(low, least), (middle, least + share * (most - least)), (piece.to_price, most)]


def _waiting_prices(need: ElectricityBreakEven) -> list[float]:
    """Return prices at which waiting is claimed to be best."""
    first, last = need.do_not_run_from, need.do_not_run_to
    if first is None:
        return []
    if last is None:
        return [first, 2.0 * first, *(first + 10.0**power for power in range(-6, 13, 2))]
    return [(1.0 - share) * first + share * last for share in (0.0, 0.25, 0.5, 0.9)] + [last]
