"""Bags for tests: small ones by hand, random ones by Hypothesis."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.lp.program import LpBuilder
from lpsched.model.table import Table

if TYPE_CHECKING:
    from lpsched.lp.program import LinearProgram

SOUND: dict[str, Any] = {
    "format": "lpsched-bag/1",
    "name": "sound",
    "machine_types": [
        {"name": "cpu", "count": 2, "idle_watts": 5},
        {"name": "gpu", "count": 1, "p_states": ["P0", "P1"]},
    ],
    "task_types": [{"name": "render", "count": 40}, {"name": "zip", "count": 5}],
    "seconds": {"render": {"cpu": 8.0, "gpu": [1.0, 2.0]}, "zip": {"cpu": 3.0}},
    "watts": {"render": {"cpu": 50.0, "gpu": [200.0, 90.0]}, "zip": {"cpu": 40.0}},
    "prices": {"per_bag": 2.0, "per_task": {"zip": 0.5}, "electricity_per_kwh": 0.1},
    "site": {"pue": 1.5},
}


def sound(**changes: Any) -> dict[str, Any]:
    """Return the sound bag's mapping with some keys replaced; a value of `...` removes the key."""
    raw = copy.deepcopy(SOUND) | changes
    return {key: value for key, value in raw.items() if value is not ...}


def simple_bag(seconds, tasks, machines, watts=None, idle=None) -> Bag:
    """Return a bag of plain rows of seconds, with counts."""
    idle = idle or [0.0] * len(machines)
    return Bag(
        "simple",
        tuple(
            MachineType(name=f"m{j}", count=count, idle_watts=b)
            for j, (count, b) in enumerate(zip(machines, idle, strict=True))
        ),
        tuple(TaskType(name=f"t{i}", count=count) for i, count in enumerate(tasks)),
        Table.of(seconds),
        None if watts is None else Table.of(watts),
    )


def half_full(unit=1.0, watts=None, idle=0.0) -> Bag:
    """Return two machines that have 2 tasks of 1 s each, and a task of 4 s that either of them can run.

    Split, it ends at (4 + 2 + 2) / 2 = 4 s; whole, at 4 + 2 = 6 s. Counting proves no more than 4 s either:
    that is the longest task, and 5 tasks of 1 s or more need 3 s on two machines.
    """
    seconds = [[4.0 * unit, 4.0 * unit], [unit, None], [None, unit]]
    powers = None if watts is None else [[None if cell is None else watts for cell in row] for row in seconds]
    return simple_bag(seconds, [1, 2, 2], [1, 1], powers, [idle, idle])


def hard_program() -> LinearProgram:
    """Return a dense program that keeps HiGHS busy for some seconds."""
    rng = np.random.default_rng(0)
    lp = LpBuilder("hard")
    x = lp.variables("x", upper=np.full(1500, 10.0))
    lp.objective([(x, -rng.random(1500))])
    for row in range(1200):
        lp.at_most(f"r{row}", [(x, rng.random(1500))], 1.0 + rng.random())
    return lp.build()


NAMES = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable() and text == text.strip())
AWKWARD = st.sampled_from(["1e9", "no", "null", "[red]x", "<b>", "a,b", 'say "hi"', "a: b", "#x", "file", "-", "12:30"])
AMOUNTS = st.floats(1e-6, 1e9) | st.integers(1, 1000).map(float)


@st.composite
def bags(draw, *, names=NAMES | AWKWARD, most_types=4, most_tasks=10**6, most_machines=1000, amounts=AMOUNTS) -> Bag:
    """Draw bags with absent pairs, P-states, idle power, prices and a site."""
    task_names = draw(st.lists(names, min_size=1, max_size=most_types, unique=True))
    machine_names = draw(st.lists(names, min_size=1, max_size=most_types, unique=True))
    machines = []
    for number, name in enumerate(machine_names):
        states = draw(st.none() | st.integers(1, 3))
        p_states = None if states is None else tuple(f"P{number}{k}" for k in range(states))
        machines.append(
            MachineType(
                name=name,
                count=draw(st.integers(1, most_machines)),
                idle_watts=draw(st.just(0.0) | amounts),
                wear_per_busy_hour=draw(st.just(0.0) | amounts),
                purchase_price=draw(st.just(0.0) | amounts),
                mean_hours_to_failure=draw(amounts),
                p_states=p_states,
            )
        )
    columns = sum(machine.modes for machine in machines)
    present = []
    for _ in task_names:
        row = draw(st.lists(st.booleans(), min_size=columns, max_size=columns))
        row[draw(st.integers(0, columns - 1))] = True
        present.append(row)

    def cells(values=amounts) -> Table:
        return Table.of([[draw(values) if there else None for there in row] for row in present])

    tasks = tuple(TaskType(name=name, count=draw(st.integers(1, most_tasks))) for name in task_names)
    per_task = {name: draw(amounts) for name in task_names if draw(st.booleans())}
    prices = Prices(per_bag=draw(st.none() | amounts), per_task=per_task, currency=draw(st.sampled_from(["USD", "no"])))
    site = Site(
        pue=draw(st.floats(1.0, 3.0)),
        average_power_cap_watts=draw(st.none() | amounts),
        cap_measured_at=draw(st.sampled_from(["it", "facility"])),
        deadline_seconds=draw(st.none() | amounts),
    )
    name = draw(names)
    seconds = cells()
    watts = cells() if draw(st.booleans()) else None
    keys = ["seconds_cov", "watts_cov"][: 1 if watts is None else 2]
    covs = {key: cells(st.just(0.0) | st.floats(1e-30, 5.0)) for key in keys if draw(st.booleans())}
    return Bag(name, tuple(machines), tasks, seconds, watts, prices, site, **covs)
