"""What of the thesis's day may be chosen, and what of that is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lpsched.errors import Fault, InstanceError
from lpsched.generate.affinity import Affinity
from lpsched.generate.arrival_rates import SECONDS_PER_HOUR
from lpsched.generate.cov import CovOptions
from lpsched.instance.arrival_rules import MOST_TASKS
from lpsched.instance.period import COMPLETED, PRORATED, Period

CHANGE: Final = "change the option"
JOULES_PER_GIGAJOULE: Final = 1e9
SPECIAL_TASK_TYPES: Final = 17 / 4  # for each special-purpose machine type
RANGES: Final = {
    "tasks": (1, MOST_TASKS),
    "hours": (0.01, 24 * 366),
    "warm_up_hours": (1e-6, 24 * 366),
    "energy_gigajoules": (1e-12, 1e12),
    "task_types": (1, 10_000),
}
MAY_BE_ZERO: Final = ("warm_up_hours", "energy_gigajoules")
MOST_MACHINE_TYPES: Final = 1_000  # of each kind: more do not fit into the note of what made the day
WORDS: Final = {"affinity": tuple(each.value for each in Affinity), "edge": (COMPLETED, PRORATED)}


@dataclass(frozen=True, slots=True)
class EsscOptions:
    """What to generate; the defaults are the day of chapter 2 with 33,000 tasks.

    Raises
    ------
    InstanceError
        If an option is out of its range; the error lists every one that is.
    """

    tasks: int = 33_000  # that arrive in the period on average; those of the warm-up come on top
    hours: float = 24.0  # of the period that counts
    warm_up_hours: float = 2.0
    p_states: int = 1
    affinity: str = Affinity.EXAMPLE.value
    edge: str | None = None  # None: completed with one P-state, prorated with more
    energy_gigajoules: float | None = None
    task_types: int = 100
    machines: tuple[int, ...] = (5, 5, 5, 10, 10, 10, 10, 15, 20)  # of each general-purpose type
    special_machines: tuple[int, ...] = (2, 2, 3, 3)  # of each special-purpose type
    special_task_types: int | None = None  # in all; None: 17 for four machine types, and so on

    def __post_init__(self) -> None:
        """Refuse what cannot be generated."""
        faults = [*self._range_faults(), *self._word_faults()]
        try:
            _ = self.tables
        except InstanceError as refused:
            faults += refused.faults
        if faults:
            raise InstanceError("options of the generator", tuple(faults))

    @property
    def tables(self) -> CovOptions:
        """How the tables are drawn."""
        special = self.special_task_types
        return CovOptions(
            task_types=self.task_types,
            machines=self.machines,
            special_machines=self.special_machines,
            special_task_types=round(SPECIAL_TASK_TYPES * len(self.special_machines))
            if special is None
            else special,
            tasks=max(1, self.task_types),
            p_states=self.p_states,
        )

    @property
    def period(self) -> Period:
        """The period that counts."""
        energy = self.energy_gigajoules
        edge = self.edge if self.edge is not None else (COMPLETED if self.p_states == 1 else PRORATED)
        return Period(
            warm_up_seconds=SECONDS_PER_HOUR * self.warm_up_hours,
            length_seconds=SECONDS_PER_HOUR * self.hours,
            edge=COMPLETED if edge == COMPLETED else PRORATED,
            energy_constraint_joules=None if energy is None else JOULES_PER_GIGAJOULE * energy,
        )

    def _range_faults(self) -> list[Fault]:
        faults = [
            Fault((key,), repr(value), f"{'0, or ' * (key in MAY_BE_ZERO)}{least:g} to {most:g}", CHANGE)
            for key, (least, most) in RANGES.items()
            if (value := getattr(self, key)) is not None
            and not (least <= value <= most or (value == 0 and key in MAY_BE_ZERO))
        ]
        faults += [
            Fault((key,), f"{types:,} types", f"at most {MOST_MACHINE_TYPES:,}", "ask for fewer")
            for key in ("machines", "special_machines")
            if (types := len(getattr(self, key))) > MOST_MACHINE_TYPES
        ]
        if not faults and self.tasks * (1.0 + self.warm_up_hours / self.hours) > MOST_TASKS:
            found = f"{self.tasks:,} and {self.warm_up_hours / self.hours:g} times as many in the warm-up"
            faults.append(Fault(("tasks",), found, f"at most {MOST_TASKS:,} in all", "ask for fewer"))
        return faults

    def _word_faults(self) -> list[Fault]:
        return [
            Fault((key,), repr(value), f"one of {', '.join(words)}", CHANGE)
            for key, words in WORDS.items()
            if (value := getattr(self, key)) is not None and value not in words
        ]
