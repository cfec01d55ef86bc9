"""Small days to simulate, and what comes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lpsched.generate.day import essc_day
from lpsched.generate.options import EsscOptions
from lpsched.online.parts import Period
from tests.days import decaying, simple_day

if TYPE_CHECKING:
    from lpsched.online.day import Day
    from lpsched.online.result.simulation import Simulation

TIMED = ("milliseconds_per_event", "seconds", "bound_seconds")


def two_tasks(count: int = 2, **period: Any) -> Day:
    """One machine, 10 s and 100 W for a task; two or more come at 0, worth 8 if they end before 20 s."""
    worth = decaying(8.0, until=20.0)
    day = simple_day([[10.0]], [[100.0]], [1], [(0.0, 0, worth)] * count)
    return day.model_copy(update={"period": Period(**period)})


def drawn_day(tasks: int = 60, **options: Any) -> Day:
    """Half an hour on five machines of two types, made by the generator, so that there are more like it."""
    small: dict[str, Any] = {
        "hours": 0.5,
        "warm_up_hours": 0.1,
        "p_states": 2,
        "task_types": 8,
        "machines": (2, 2),
        "special_machines": (1,),
        "special_task_types": 4,
    }
    return essc_day("drawn", 3, EsscOptions(tasks=tasks, **(small | options)))


def untimed(result: Simulation) -> dict[str, Any]:
    """Return what must not depend on how long anything took."""
    return {key: _untimed(value) for key, value in result.to_dict().items()}


def _untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _untimed(each) for key, each in value.items() if not key.startswith(TIMED)}
    return [_untimed(each) for each in value] if isinstance(value, list) else value
