"""The parts of a bag as users write them: machine types, task types, prices and the site.

Units are in the names. Files speak of hours and kWh, because people do; the maths turns them into SI units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS
from lpsched.instance.fields import (
    LARGEST,
    Count,
    Hours,
    Money,
    Name,
    PositiveWatts,
    Ratio,
    Seconds,
    Watts,
    check_money,
    describe,
    refusal,
)
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.p_states import WithPStates, check_p_states

MONEY_SCHEMA: Final = {"type": "number", "minimum": 0, "maximum": LARGEST}


def _check_meter(value: object) -> str:
    if value not in ("facility", "it"):
        raise refusal(describe(value), "'facility' or 'it'", "say on which side of the PUE the cap is")
    return str(value)


def _check_per_task(value: object) -> FrozenDict[str, float]:
    """Check every price; the faults of all of them come in one error, each with its place."""
    if not isinstance(value, Mapping):
        raise refusal(describe(value), "a mapping from task types to money", "see 'lpsched schema bag'")
    sound, refused = {}, []
    for name, price in value.items():
        try:
            sound[name] = check_money(price)
        except PydanticCustomError as error:
            refused.append(((name,), dict(error.context or {})))
            if len(refused) == MOST_FAULTS:
                break
    if refused:
        context = {"count": len(refused), "inner": refused}
        raise PydanticCustomError("faults", "{count} prices are refused", context)
    return FrozenDict(sound)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class MachineType(WithPStates, _Part):
    """Identical machines: how many, and what they cost when idle, worn and replaced."""

    name: Name
    count: Count
    idle_watts: Watts = 0.0
    wear_per_busy_hour: Money = 0.0
    purchase_price: Money = 0.0
    mean_hours_to_failure: Hours | None = None
    p_states: Annotated[tuple[Name, ...], BeforeValidator(check_p_states)] | None = None


class TaskType(_Part):
    """Identical tasks: how many."""

    name: Name
    count: Count


class Prices(_Part):
    """What a bag earns and what electricity costs. A missing price is unknown, not zero."""

    per_bag: Money | None = None
    per_task: Annotated[
        Mapping[str, float],
        PlainValidator(_check_per_task),
        PlainSerializer(dict),
        WithJsonSchema({"type": "object", "additionalProperties": MONEY_SCHEMA}),
    ] = Field(default_factory=FrozenDict)
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
