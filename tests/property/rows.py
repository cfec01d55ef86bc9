"""What whole tasks imply, held against every schedule of tiny random bags.

Whole numbers, quarters and odd doubles for seconds and watts; absent pairs, P-states, watts below idle, caps and
deadlines at what some way takes or a little off. Each claim that was made comes back with whether it is true.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.bag.certificate.bounds import Multipliers, Prover, Shortest
from lpsched.bag.exact_front import front
from lpsched.bag.model import Bag, Terms
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.relaxation import least_makespan
from lpsched.bag.solve import solve
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.model.table import Table
from models.whole_tasks import shortest
from tests.property.tiny import BAGS, Case, Ledger, Way, all_ways

if TYPE_CHECKING:
    from collections.abc import Iterator

MACHINES = [(1,), (2,), (3,), (1, 1), (2, 1), (1, 2), (2, 2), (1, 1, 1)]
MOST_WAYS = 400
OBJECTIVES = ("makespan", "energy", "profit")
NEAR = (0.5, 0.9, 1 - 1e-9, 1.0, 1.0, 1 + 1e-9, 1.1, 1.5, 2.0)


def drawn_case(seed: int) -> Case:
    """Return the tiny bag of a seed, with all its ways."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    unit = rng.choice([1.0, 1.0, 0.25, 60.0, 0.1, None])

    def amount() -> float:
        return unit * rng.randint(1, 9) if unit else rng.uniform(0.125, 9.0)

    machines = tuple(
        MachineType(
            name=f"m{j}",
            count=count,
            idle_watts=rng.choice([0.0, amount(), 2.0 * amount()]),
            wear_per_busy_hour=rng.choice([0.0, 0.0, 360.0 * amount()]),
            p_states=rng.choice([None, None, ("P0", "P1")]),
        )
        for j, count in enumerate(rng.choice(MACHINES))
    )
    columns = sum(each.modes for each in machines)
    choices = sum(each.modes * each.count for each in machines)
    most = min(5, int(math.log(MOST_WAYS) / math.log(choices))) if choices > 1 else 5
    counts = rng.choice([each for each in BAGS if sum(each) <= max(most, 1)])
    present = [[rng.random() < 0.8 for _ in range(columns)] for _ in counts]
    for row in present:
        row[rng.randrange(columns)] = True

    def table() -> Table:
        return Table.of([[amount() if there else None for there in row] for row in present])

    tasks = tuple(TaskType(name=f"t{i}", count=count) for i, count in enumerate(counts))
    bag = Bag("drawn", machines, tasks, table(), table(), Prices(electricity_per_kwh=3.6e6))
    ways = all_ways(bag)
    return Case(_limited(bag, ways, rng), ways)


def _limited(bag: Bag, ways: tuple[Way, ...], rng: random.Random) -> Bag:
    """Return the bag sold near what a way costs, with a cap and a deadline near what one takes."""
    ledger, way = Ledger(bag), rng.choice(ways)
    income = float(ledger.per_joule * way.joules + way.worn + ledger.standing * way.load)
    cap, deadline = None, None
    if rng.random() < 0.3:
        way = rng.choice(ways)
        cap = max(1e-3, rng.choice(NEAR) * float(way.joules / way.load + ledger.idle))
    if rng.random() < 0.5:
        deadline = rng.choice(NEAR) * float(rng.choice(ways).load)
    price = max(0.0, income) * rng.choice(NEAR)
    return bag.model_copy(
        update={
            "prices": bag.prices.model_copy(update={"per_bag": price}),
            "site": Site(average_power_cap_watts=cap, deadline_seconds=deadline),
        }
    )


def drawn_prices(bag: Bag, seed: int) -> Multipliers:
    """Return any prices: mostly not those of an optimum."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    size = rng.choice([1e-3, 1.0, 30.0])
    machines = tuple(rng.choice([0.0, size, size * rng.random()]) for _ in bag.machine_types)
    return Multipliers(machines, rng.random() if bag.site.average_power_cap_watts is not None else 0.0)


def claims(case: Case, prices: Multipliers) -> Iterator[tuple[str, bool]]:
    """Yield what is claimed of a case, and whether it is true of all its schedules."""
    bag, limit = case.bag, case.bag.site.deadline_seconds
    seconds, types = least_makespan(bag)
    yield "least makespan", seconds <= min(way.load for way in case.ways)
    off = shortest(bag) - seconds  # of two sets that tie to the last digits of a double, either may be found
    yield "that of the definition", 0 <= off <= seconds / 2**50
    beyond = seconds * (1 + Fraction(1, 2**60))
    yield "nothing longer is accepted", not Shortest(beyond, types).holds(bag)
    prover = Prover(bag, None, Shortest(seconds, types))
    bests = {each: case.best(each) for each in OBJECTIVES}
    if limit is not None and prover.makespan(prices) > limit:
        yield "a deadline proved too short", bests["makespan"] is None
    if bests["makespan"] is not None:
        yield "makespan at any prices", prover.makespan(prices) <= bests["makespan"]
        yield "energy at any prices", prover.energy(prices) <= bests["energy"]
        cost = case.least_cost(Fraction(1, 3), Fraction(2))
        yield "weighted sum at any prices", prover.cost(prices, Fraction(1, 3), 2.0) <= cost
        yield "profit at any prices", prover.rate(prices) >= bests["profit"]


def solved_claims(case: Case, objective: str) -> Iterator[tuple[str, bool]]:
    """Yield what `solve` claims of a case, and whether that is true."""
    best = case.best(objective)
    try:
        result = solve(case.bag, objective=objective)
    except InfeasibleError:
        yield "no schedule at all", best is None
    except NotFoundError:
        return
    else:
        sign, hourly = (-1, 3600) if objective == "profit" else (1, 1)
        if best is not None:
            yield f"bound of the {objective}", sign * Fraction(result.bound) <= sign * hourly * best


def curve_claims(case: Case) -> Iterator[tuple[str, bool]]:
    """Yield what is claimed along the front of energy and makespan and along the price, and whether it is true."""
    if case.best("makespan") is None:
        return
    for proof in front(case.bag).proofs:
        weights = Fraction(proof.joules_weight), Fraction(proof.seconds_weight)
        yield "edge of the front", Fraction(proof.bound) <= case.least_cost(*weights)
    for piece in price_curve(case.bag).pieces:
        priced = Terms(price=piece.from_price).applied_to(case.bag)
        best = Case(priced, case.ways).best("profit")
        yield "bound along the price", 3600 * best <= Fraction(piece.bound_at_from)
