"""The parts of a bag as users write them: machine types, task types, prices and the site.

Units are in the names. Files may speak of hours and kWh, because people do; the properties give the
SI units that the maths uses.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema

from lpsched.instance.fields import (
    Count,
    Hours,
    Money,
    Name,
    PositiveWatts,
    Ratio,
    Seconds,
    Watts,
    describe,
    refusal,
)

SECONDS_PER_HOUR: Final = 3600


def _check_meter(value: object) -> str:
    if value not in ("facility", "it"):
        raise refusal(describe(value), "'facility' or 'it'", "say on which side of the PUE the cap is")
    return str(value)


def _check_p_states(value: object) -> object:
    if not isinstance(value, list | tuple) or not value:
        raise refusal(describe(value), "a list of P-state names", "name them, or drop the key")
    return tuple(value)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class MachineType(_Part):
    """Identical machines: how many, and what they cost when idle, worn and replaced."""

    name: Name
    count: Count
    idle_watts: Watts = 0.0
    wear_per_busy_hour: Money = 0.0
    purchase_price: Money = 0.0
    mean_hours_to_failure: Hours | None = None
    p_states: Annotated[tuple[Name, ...], BeforeValidator(_check_p_states)] | None = None

    @property
    def modes(self) -> int:
        """How many ways there are to run a task on it: the number of P-states, or 1."""
        return len(self.p_states) if self.p_states is not None else 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels of its columns in a table file: its name, or name:P-state for each P-state."""
        if self.p_states is None:
            return (self.name,)
        return tuple(f"{self.name}:{state}" for state in self.p_states)


class TaskType(_Part):
    """Identical tasks: how many."""

    name: Name
    count: Count


class Prices(_Part):
    """What a bag earns and what electricity costs. A missing price is unknown, not zero."""

    per_bag: Money | None = None
    per_task: dict[str, Money] = {}
    electricity_per_kwh: Money | None = None
    overhead_per_bag: Money = 0.0
    currency: Name = "USD"


class Site(_Part):
    """The building: its power usage effectiveness, its average-power cap, its service agreement."""

    pue: Ratio = 1.0
    average_power_cap_watts: PositiveWatts | None = None
    cap_measured_at: Annotated[
        Literal["facility", "it"], PlainValidator(_check_meter), WithJsonSchema({"enum": ["facility", "it"]})
    ] = "facility"
    deadline_seconds: Seconds | None = None
