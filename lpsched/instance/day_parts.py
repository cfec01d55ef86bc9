"""The parts of a day as users write them: machine types and task types."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass as checked

from lpsched.instance.fields import Count, Name
from lpsched.instance.p_states import WithPStates, check_p_states

CONFIG: Final = ConfigDict(extra="forbid")  # every field has a strict check of its own


@checked(frozen=True, slots=True, config=CONFIG)
class DayMachineType(WithPStates):
    """Identical machines, each running one task at a time; idle ones cost nothing.

    >>> DayMachineType("gpu", 2, ("fast", "saving")).columns
    ('gpu:fast', 'gpu:saving')
    """

    name: Name
    count: Count
    p_states: Annotated[tuple[Name, ...], BeforeValidator(check_p_states)] | None = None


@checked(frozen=True, slots=True, config=CONFIG)
class DayTaskType:
    """Tasks that take equally long; how many there are, the list of tasks says."""

    name: Name
