"""lpsched: proved bounds, verified schedules and prices for heterogeneous computing systems.

>>> import lpsched
>>> bag = lpsched.bag_from_dict({
...     "format": "lpsched-bag/1",
...     "name": "example",
...     "machine_types": [{"name": "cpu", "count": 2}],
...     "task_types": [{"name": "render", "count": 4}],
...     "seconds": {"render": {"cpu": 3.0}},
... })
>>> result = lpsched.solve(bag, objective="makespan")
>>> result.value, result.bound
(6.0, 6.0)

Names are loaded on use: importing lpsched does nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lpsched.errors import (
        Fault,
        InfeasibleError,
        InstanceError,
        InvalidScheduleError,
        LpschedError,
        LpschedWarning,
        MissingExtraError,
        OutputError,
        SolverError,
    )
    from lpsched.files.bags import read_bag as read
    from lpsched.files.bags import write_bag as write
    from lpsched.instance import Bag, MachineType, Prices, Site, Table, TaskType, bag_from_dict
    from lpsched.pipeline import solve
    from lpsched.result import Result, Status

_PLACES: Final = {
    "Bag": "instance",
    "Fault": "errors",
    "InfeasibleError": "errors",
    "InstanceError": "errors",
    "InvalidScheduleError": "errors",
    "LpschedError": "errors",
    "LpschedWarning": "errors",
    "MachineType": "instance",
    "MissingExtraError": "errors",
    "OutputError": "errors",
    "Prices": "instance",
    "Result": "result",
    "Site": "instance",
    "SolverError": "errors",
    "Status": "result",
    "Table": "instance",
    "TaskType": "instance",
    "bag_from_dict": "instance",
    "read": "files.bags:read_bag",
    "solve": "pipeline",
    "write": "files.bags:write_bag",
}

__all__ = [
    "Bag",
    "Fault",
    "InfeasibleError",
    "InstanceError",
    "InvalidScheduleError",
    "LpschedError",
    "LpschedWarning",
    "MachineType",
    "MissingExtraError",
    "OutputError",
    "Prices",
    "Result",
    "Site",
    "SolverError",
    "Status",
    "Table",
    "TaskType",
    "bag_from_dict",
    "read",
    "solve",
    "write",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Load a public name when it is first used."""
    if name not in _PLACES:
        raise AttributeError(f"module 'lpsched' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    value = getattr(importlib.import_module(f"lpsched.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
