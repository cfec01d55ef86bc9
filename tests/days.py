"""Days for tests, made by hand."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from lpsched.model.table import Table
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.parts import DayMachineType, DayTaskType
from lpsched.online.utility import Interval, UtilityFunction

if TYPE_CHECKING:
    from collections.abc import Sequence

SOUND: dict[str, Any] = {
    "format": "lpsched-day/1",
    "name": "sound",
    "machine_types": [{"name": "cpu", "count": 2}, {"name": "gpu", "count": 1, "p_states": ["P0", "P1"]}],
    "task_types": [{"name": "render"}, {"name": "zip"}],
    "seconds": {"render": {"cpu": 80.0, "gpu": [10.0, 20.0]}, "zip": {"cpu": 30.0}},
    "watts": {"render": {"cpu": 50.0, "gpu": [200.0, 90.0]}, "zip": {"cpu": 40.0}},
    "priorities": {"high": 4, "low": 1},
    "urgencies": {"soon": {"decay_per_minute": 0.6, "steady_share": 0.8}},
    "utility_classes": {"A": [{"after_minutes": 0, "share": 1.0, "rate": 1.1}, {"after_minutes": 5, "share": 0.6}]},
    "utility_functions": {
        "deadline": [{"after_seconds": 0, "starts_at": 8}, {"after_seconds": 60, "starts_at": 0}],
        "slow": [{"after_seconds": 0, "starts_at": 3, "falls_to": 1, "rate_per_second": 0.01}],
    },
    "tasks": [
        {"arrival_seconds": 0, "task_type": "render", "priority": "high", "urgency": "soon", "utility_class": "A"},
        {"arrival_seconds": 2.5, "task_type": "zip", "utility": "deadline"},
        {"arrival_seconds": 2.5, "task_type": "zip", "priority": "low", "urgency": "soon", "utility_class": "A"},
        {"arrival_seconds": 100, "task_type": "render", "utility": "slow"},
    ],
}  # fmt: skip


def sound_day(**changes: Any) -> dict[str, Any]:
    """Return the sound day's mapping with some keys replaced; a value of `...` removes the key."""
    raw = copy.deepcopy(SOUND) | changes
    return {key: value for key, value in raw.items() if value is not ...}


def decaying(most: float, rate_per_second: float = 0.0, *, until: float | None = None) -> UtilityFunction:
    """Return a function that falls from its most towards 0 at one rate, and is 0 from a deadline on."""
    first = Interval(0.0, most, 0.0 if rate_per_second else most, rate_per_second)
    return UtilityFunction((first,) if until is None else (first, Interval(until, 0.0, 0.0, 0.0)))


def simple_day(
    seconds: Sequence[Sequence[float | None]],
    watts: Sequence[Sequence[float | None]],
    machines: Sequence[int],
    tasks: Sequence[tuple[float, int, UtilityFunction]],
) -> Day:
    """Return a day of plain rows, without P-states: its tasks are (arrival, type, utility function)."""
    functions = list(dict.fromkeys(function for _, _, function in tasks))
    return Day(
        name="simple",
        machine_types=tuple(DayMachineType(f"m{j}", count) for j, count in enumerate(machines)),
        task_types=tuple(DayTaskType(f"t{i}") for i in range(len(seconds))),
        seconds=Table.of(seconds),
        watts=Table.of(watts),
        tasks=ArrivingTasks.of(
            [arrival for arrival, _, _ in tasks],
            [i for _, i, _ in tasks],
            [f"u{functions.index(function)}" for _, _, function in tasks],
        ),
        utility_functions={f"u{f}": function for f, function in enumerate(functions)},
    )
