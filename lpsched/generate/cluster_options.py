"""Options of the Jobs paper's clusters, and their checks.

The paper leaves some of it out; these defaults are ours:

    nodes, cores_per_node   1,900 nodes with 48 or 64 cores, 100,000 cores in all. The paper's energy
                            constraints are 70 % of 17.1 and 21.4 GJ a day: at 133 W these are 1,490 and 1,860
                            nodes that are always busy, so there are some more
    parallelism_share       of a task type (Downey's A): log-evenly from 0.5 to 2 % of its cores, at least 1.
                            A task then takes about as much as it would on one core, times 100, whatever its
                            cores: those that run long, and are worth much, take much, as the paper says. With
                            as much parallelism as cores, 5,000 tasks a day would keep 2 % of them busy
    wave_amplitude          of the sine: drawn for each task type from 0.25 to 0.9, as cycles a day and phase
                            are, all as in Friese's thesis of 2015; a number here holds for all types
    begins_at_hour          the period begins at midnight
    single_core             `home`: the Gaussian single-core time is that of a home cluster, drawn evenly
                            among those of the type, and others vary around it; `mean`: all vary around it
    core_steps              where the rows of table II end; tasks above the last one arrive in work hours
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError
from lpsched.model.fields import MOST, numbered
from lpsched.online.day_rules import MOST_TASKS
from lpsched.online.parts import Cluster, Period
from lpsched.units import GIGA, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterator

CHANGE: Final = "change the option"
HOURS_PER_DAY: Final = 24.0
POWER_SCALING: Final = (1.0, 0.75, 0.5)  # of each P-state
HOME: Final = "home"
MEAN: Final = "mean"
SINGLE_CORE: Final = (HOME, MEAN)
STEPS: Final = 3  # of table II, below the size of a cluster
MOST_CELLS: Final = 100_000  # of a table: task types times clusters times P-states
FEWEST_TASKS: Final = 0.1  # on average: with fewer, draws without a task would be drawn again for ever
MOST_CLUSTERS: Final = 1_000  # of each kind: more do not fit into the note of what made them
RANGES: Final = {
    "tasks": (1, MOST_TASKS),
    "hours": (0.01, 24 * 366),
    "warm_up_hours": (1e-6, 24 * 366),
    "begins_at_hour": (0, 24),
    "energy_gigajoules": (1e-12, 1e12),
    "p_states": (1, len(POWER_SCALING)),
    "nodes": (1, 10_000_000),
    "cores_per_node": (1, 10_000),
    "special_nodes": (1, 10_000_000),
    "special_cores_per_node": (1, 10_000),
    "general_task_types": (1, 10_000),
    "special_task_types": (1, 10_000),
    "core_steps": (1, MOST),
    "shortest_hours": (1e-6, 1e6),
    "longest_hours": (1e-6, 1e6),
    "time_cov": (0, 0.3),
    "cluster_cov": (0, 2),
    "node_watts": (1e-6, 1e12),
    "watts_cov": (0, 2),
    "parallelism_share_least": (1e-9, 1),
    "parallelism_share_most": (1e-9, 1),
    "sigma_least": (0, 1_000),
    "sigma_most": (0, 1_000),
    "wave_amplitude": (0, 1),
}
MAY_BE_ZERO: Final = ("warm_up_hours", "energy_gigajoules", "general_task_types", "special_task_types")


@dataclass(frozen=True, slots=True)
class MachovecOptions:
    """What to generate; the defaults are the paper's with 5,000 tasks a day."""

    tasks: int = 5_000  # that arrive in 24 hours on average
    hours: float = 24.0  # of the period that counts
    warm_up_hours: float = 4.0
    begins_at_hour: float = 0.0  # the time of day when the period begins
    energy_gigajoules: float | None = None  # that the period may take
    p_states: int = 3
    nodes: tuple[int, ...] = (350, 225, 300, 300)  # of each general-purpose cluster
    cores_per_node: tuple[int, ...] = (48, 64, 48, 48)
    special_nodes: tuple[int, ...] = (325, 400)  # of each special-purpose cluster
    special_cores_per_node: tuple[int, ...] = (64, 48)
    general_task_types: int = 60
    special_task_types: int = 20  # of each special-purpose cluster
    core_steps: tuple[int, ...] = (4, 256, 4_096)
    shortest_hours: float = 1.0  # on one core, for a utility of 1
    longest_hours: float = 18.0  # for a utility of 8
    time_cov: float = 0.15
    cluster_cov: float = 0.3
    single_core: str = HOME
    node_watts: float = 133.0
    watts_cov: float = 0.2
    parallelism_share_least: float = 0.005  # of the cores of a task type
    parallelism_share_most: float = 0.02
    sigma_least: float = 4.0
    sigma_most: float = 10.0
    wave_amplitude: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be generated."""
        faults = [*self._range_faults(), *self._pair_faults()]
        if not faults:
            faults += self._size_faults()
        if faults:
            raise InstanceError("options of the generator", tuple(faults))

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, general-purpose ones first."""
        names = numbered("general", len(self.nodes)) + numbered("special", len(self.special_nodes))
        sizes = zip(
            names, (*self.nodes, *self.special_nodes), (*self.cores_per_node, *self.special_cores_per_node), strict=True
        )
        states = tuple(f"P{k}" for k in range(self.p_states)) if self.p_states > 1 else None
        return tuple(Cluster(name, nodes, cores, states) for name, nodes, cores in sizes)

    @property
    def task_types(self) -> int:
        """How many task types there are in all."""
        return self.general_task_types + self.special_task_types * len(self.special_nodes)

    @property
    def period(self) -> Period:
        """The period that counts."""
        energy = self.energy_gigajoules
        return Period(
            warm_up_seconds=SECONDS_PER_HOUR * self.warm_up_hours,
            length_seconds=SECONDS_PER_HOUR * self.hours,
            energy_constraint_joules=None if energy is None else GIGA * energy,
        )

    def _range_faults(self) -> Iterator[Fault]:
        for key, (least, most) in RANGES.items():
            given = getattr(self, key)
            needed = f"{'0, or ' * (key in MAY_BE_ZERO)}{least:g} to {most:g}"
            for value in given if isinstance(given, tuple) else (given,):
                if value is not None and not (least <= value <= most or (value == 0 and key in MAY_BE_ZERO)):
                    yield Fault((key,), repr(value), needed, CHANGE)
        if self.single_core not in SINGLE_CORE:
            yield Fault(("single_core",), repr(self.single_core), f"one of {', '.join(SINGLE_CORE)}", CHANGE)
        if len(self.core_steps) != STEPS or any(b <= a for a, b in pairwise(self.core_steps)):
            yield Fault(("core_steps",), repr(self.core_steps), "three rising numbers", CHANGE)

    def _pair_faults(self) -> Iterator[Fault]:
        """Return the faults of options that do not go together."""
        for nodes, cores in (("nodes", "cores_per_node"), ("special_nodes", "special_cores_per_node")):
            clusters = len(getattr(self, nodes))
            if clusters != len(getattr(self, cores)):
                found = f"{len(getattr(self, cores))} numbers"
                yield Fault((cores,), found, f"{clusters}, one for each of {nodes}", CHANGE)
            if clusters > MOST_CLUSTERS:
                yield Fault((nodes,), f"{clusters:,} clusters", f"at most {MOST_CLUSTERS:,}", "ask for fewer")
        for least, most in (
            ("shortest_hours", "longest_hours"),
            ("parallelism_share_least", "parallelism_share_most"),
            ("sigma_least", "sigma_most"),
        ):
            below, above = getattr(self, least), getattr(self, most)
            if above is not None and below > above:
                yield Fault((least,), repr(below), f"at most {most}, {above!r}", "lower it")
        if self.general_task_types and not self.nodes:
            yield Fault(("nodes",), "none", "a general-purpose cluster for its task types", "add one")

    def _size_faults(self) -> Iterator[Fault]:
        """Return the faults of options that together are too much, or nothing."""
        if not self.task_types:
            yield Fault(("general_task_types",), "no task type at all", "at least one", "ask for one")
        cells = self.task_types * len(self.clusters) * self.p_states
        if cells > MOST_CELLS:
            found = f"{cells:,} cells of a table"
            yield Fault(("general_task_types",), found, f"at most {MOST_CELLS:,}", "ask for fewer")
        tasks = self.tasks * (self.hours + self.warm_up_hours) / HOURS_PER_DAY
        found = f"{self.tasks:,} a day, {tasks:,.4g} in all"
        if tasks > MOST_TASKS:
            yield Fault(("tasks",), found, f"at most {MOST_TASKS:,} in all", "ask for fewer")
        if tasks < FEWEST_TASKS:
            yield Fault(("tasks",), found, f"at least {FEWEST_TASKS:g} on average", "ask for more, or longer")
