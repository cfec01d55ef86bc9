"""Tiny bags over tiny horizons, drawn at random: money per joule and seconds of the size of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lpsched.bag.horizon.slots import SiteSlots, Slots, Weights
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.model.table import Table

if TYPE_CHECKING:
    import random

PER_JOULE = 3.6e6  # a tariff at which a joule costs 1
WEIGHTS = (Weights(), Weights(0.0, 1.0), Weights(1.0, 0.5), Weights(optional=True), Weights(1.0, 0.25, optional=True))


def drawn(
    rng: random.Random,
    *,
    types: int = 2,
    machines: int = 2,
    most_tasks: int = 3,
    most_seconds: int = 4,
    slot_count: int = 3,
    sites: int = 2,
) -> tuple[Bag, Slots]:
    """Return a bag and its slots, with caps, demand charges, switching and all else at random."""
    kinds = tuple(
        MachineType(
            f"m{j}",
            rng.randint(1, 2) if machines > 2 else 1,
            float(rng.randint(0, 3)),
            wear_per_busy_hour=3600.0 * rng.choice([0, 0, 1]),
            may_be_off=(may_be_off := rng.random() < 0.6),
            switch_on_cost=float(rng.choice([0, 0, 3, 8])) * may_be_off,
            p_states=("high", "low") if rng.random() < 0.2 else None,
        )
        for j in range(machines)
    )
    tasks = tuple(TaskType(f"t{i}", rng.randint(1, most_tasks)) for i in range(types))
    columns = sum(len(kind.p_states or "1") for kind in kinds)
    cells = [[rng.random() < 0.85 or c == 0 for c in range(columns)] for _ in tasks]
    seconds = Table.of([[float(rng.randint(1, most_seconds)) if there else None for there in row] for row in cells])
    watts = Table.of([[float(rng.randint(0, 6)) if there else None for there in row] for row in cells])
    per_task = {task.name: float(rng.randint(0, 30)) for task in tasks if rng.random() < 0.9}
    bag = Bag("tiny", kinds, tasks, seconds, watts, prices=Prices(per_task=per_task))
    lengths = [rng.randint(1, 4) for _ in range(slot_count)]
    edges = tuple(float(sum(lengths[:h])) for h in range(slot_count + 1))
    made = tuple(site(rng, name, slot_count, types) for name in ("here", "there")[: rng.randint(1, sites)])
    return bag, Slots(edges, made, tuple(rng.randrange(len(made)) for _ in kinds))


def with_fee(slots: Slots, fee: float) -> Slots:
    """Return slots with a fee for each joule at the meter, at all sites."""
    return replace(slots, sites=tuple(replace(each, fee=PER_JOULE * fee) for each in slots.sites))


def site(rng: random.Random, name: str, count: int, types: int) -> SiteSlots:
    cap = tuple(float(rng.randint(3, 9)) for _ in range(count)) if rng.random() < 0.5 else None
    return SiteSlots(
        name,
        tuple(PER_JOULE * rng.randint(-2, 4) for _ in range(count)),
        tuple(PER_JOULE * rng.randint(0, 4) for _ in range(count)),
        cap,
        pue=rng.choice([1.0, 1.25]),
        cap_pue=rng.choice([1.0, 1.25]),
        demand_charge=rng.choice([0.0, 0.0, 2000.0]),  # 2 per watt
        moving_costs=tuple(float(rng.randint(0, 3)) for _ in range(types)) if rng.random() < 0.5 else (),
    )
