"""Bags of a few hundred task types: small enough for the whole program, large enough for prices to matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions
from lpsched.model.table import Table

if TYPE_CHECKING:
    from lpsched.bag.model import Bag


def middling(
    seed: int, *, types: int = 150, machines: int = 8, p_states: int = 1, cap: float | None = None, gaps: bool = False
) -> Bag:
    """Return a bag with prices; `cap` is a multiple of the idle floor, `gaps` leaves pairs out."""
    rng = np.random.default_rng(seed)
    counts = tuple(int(each) for each in rng.integers(2, 30, machines))
    options = CovOptions(
        task_types=types, machines=counts, tasks=types * 40, task_cov=0.5, machine_cov=0.35, p_states=p_states
    )
    bag = cov_bag("middling", rng, options)
    prices = bag.prices.model_copy(update={"electricity_per_kwh": 0.1, "per_bag": _price(bag)})
    bag = bag.model_copy(update={"prices": prices})
    if cap is not None:
        floor = sum(each.count * each.idle_watts for each in bag.machine_types)
        bag = bag.model_copy(update={"site": bag.site.model_copy(update={"average_power_cap_watts": cap * floor})})
    return _with_gaps(bag, rng) if gaps else bag


def _price(bag: Bag) -> float:
    """Return some one and a half times what the energy costs where it is least."""
    watts = bag.watts
    assert watts is not None
    joules = 0.0
    for i, task in enumerate(bag.task_types):
        cells = zip(bag.seconds.row(i), watts.row(i), strict=True)
        joules += task.count * min(e * a for e, a in cells if e is not None and a is not None)
    return 2.0 * 0.1 * joules / 3.6e6


def _with_gaps(bag: Bag, rng: np.random.Generator) -> Bag:
    assert bag.watts is not None
    keep = rng.random((bag.seconds.rows, bag.seconds.columns)) < 0.6
    keep[np.arange(len(keep)), rng.integers(0, keep.shape[1], len(keep))] = True

    def thinned(table: Table) -> Table:
        rows = [table.row(i) for i in range(table.rows)]
        return Table.of(
            [
                [cell if there else None for cell, there in zip(row, own, strict=True)]
                for row, own in zip(rows, keep.tolist(), strict=True)
            ]
        )

    return bag.model_copy(update={"seconds": thinned(bag.seconds), "watts": thinned(bag.watts)})
