"""Days of the Jobs paper: policies on clusters, tasks on many nodes, with and without an energy constraint.

Policies that know utility have permanent reservations or place-holders, drop tasks that can earn less than
0.5, and, Max UPE apart, may have an energy filter; the others, from the literature, have none of it (the
paper's backfilling reserves particular nodes). The share of the maximum is what a
policy earns of what all tasks would earn if none waited.

The paper's constraints are 70 % of what Max Util (5,000 tasks a day) and Max UPR (10,000) take with
place-holders and no constraint, which it rounds to 12 and 15 GJ: so much is used here. `tell_constraint`
prints what these take on our clusters.

The paper prints neither the cores of a node nor the parallelism of its task types. Two settings of both bring
the constraint at 5,000 tasks near 12 GJ (`SETTINGS`); they differ in what comes out of the filters.

Source: Machovec et al. (2016), sections IV.C and V.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lpsched.generate.options import MachovecOptions
from lpsched.model.provenance import estimate_of
from lpsched.online.simulate.options import PER_RESOURCE, PER_TASK, ClusterOptions
from lpsched.units import GIGA
from scripts.figures.shared.arriving_days import BOUND, OF_ENERGY, Case, of, scaled, tell

if TYPE_CHECKING:
    from lpsched.model.provenance import Estimate
    from scripts.figures.shared.arriving_days import Runs

DROP_BELOW: Final = 0.5
PLACEHOLDERS: Final = ":placeholders"
COMPARED: Final = {
    "random": "Random",
    "conservative-nodes": "Conservative Backfilling",
    "easy-nodes": "EASY Backfilling",
    "multiple-queues": "FCFS, Multiple Queues",
}
ENERGY_AWARE: Final = "max-upe"
UTILITY_AWARE: Final = {"max-util": "Max Util", "max-upt": "Max UPT", "max-upr": "Max UPR", ENERGY_AWARE: "Max UPE"}
CONSTRAINT: Final = {5_000: 12.0, 10_000: 15.0}  # GJ
SETS_IT: Final = {5_000: "max-util", 10_000: "max-upr"}
LARGE_NODES: Final = "large-nodes"
SMALL_NODES: Final = "small-nodes"
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    LARGE_NODES: {},  # the generator's own: 48 or 64 cores a node, parallelism 0.5 to 2 % of a type's cores
    SMALL_NODES: {
        "nodes": (700, 600, 600, 600),
        "cores_per_node": (24, 24, 24, 24),
        "special_nodes": (867, 800),
        "special_cores_per_node": (24, 24),
        "parallelism_share_least": 0.0125,
        "parallelism_share_most": 0.05,
    },
}
Kind = Literal["per-task", "per-resource"]
Filter = tuple[Kind, float] | None
PRINTED: Final[dict[Kind, Filter]] = {PER_TASK: (PER_TASK, 2.0), PER_RESOURCE: (PER_RESOURCE, 4.0)}
OWN: Final[Filter] = (PER_RESOURCE, 2.0)  # the best here: figure 8


def case(
    tasks: int, policy: str, chosen: Filter = None, *, constrained: bool = True, setting: str = LARGE_NODES
) -> Case:
    """Return a policy on a day of so many tasks, under the paper's constraint."""
    energy = CONSTRAINT[tasks] if constrained else None
    day = MachovecOptions(tasks=tasks, energy_gigajoules=energy, **SETTINGS[setting])
    options: dict[str, Any] = {}
    if chosen is not None:
        options = {"energy_filter": chosen[0], "leniency": chosen[1]}
    return Case(day, policy, ClusterOptions(drop_below=DROP_BELOW, **options))


def titles() -> dict[str, str]:
    """Return what each policy is called: those from the literature first."""
    aware = {
        f"{name}{suffix}": f"{title}, {way}"
        for name, title in UTILITY_AWARE.items()
        for suffix, way in (("", "reservations"), (PLACEHOLDERS, "place-holders"))
    }
    return COMPARED | aware


def is_filtered(policy: str) -> bool:
    """Return whether a policy may have an energy filter."""
    return policy not in COMPARED and not policy.startswith(ENERGY_AWARE)


def percent(runs: Runs, given: Case) -> Estimate:
    """Return the share of the maximum that a policy earns, in percent."""
    return scaled(runs.mean(given, "share_of_naive"), 100.0)


def gigajoules(runs: Runs, given: Case) -> Estimate:
    """Return the energy that a policy takes."""
    return scaled(runs.mean(given, "energy_joules"), 1.0 / GIGA)


def bound_percent(runs: Runs, tasks: int) -> Estimate:
    """Return the share of the maximum that no schedule passes, in percent."""
    lines = runs.lines(case(tasks, BOUND, setting=runs.asked.setting))
    return estimate_of([100.0 * line["utility"] / line["naive"] for line in lines])


def free_cases(tasks: int, setting: str) -> dict[str, Case]:
    """Return policies with place-holders and no constraint, by their names."""
    return {name: case(tasks, f"{name}{PLACEHOLDERS}", constrained=False, setting=setting) for name in UTILITY_AWARE}


def tell_constraint(runs: Runs, tasks: int) -> None:
    """Print 70 % of what the paper's policy takes without a constraint, beside the printed constraint."""
    free = free_cases(tasks, runs.asked.setting)
    runs.run(free.values())
    rows = []
    for name, each in free.items():
        taken = scaled(gigajoules(runs, each), 1.0 / runs.asked.part)
        printed = f"{CONSTRAINT[tasks]:g}" if name == SETS_IT[tasks] else ""
        rows.append((UTILITY_AWARE[name], of(percent(runs, each)), of(taken), of(scaled(taken, OF_ENERGY)), printed))
    print(f"Without a constraint, {tasks:,} tasks a day, place-holders.")
    tell(("policy", "% of the maximum", "GJ", "70 % of it", "printed"), rows)
