"""What types with P-states have in common: ways to run a task, and the columns of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from lpsched.instance.fields import describe, refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_P_STATES: Final = 100


class _HasStates(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def p_states(self) -> tuple[str, ...] | None: ...


class WithPStates:
    """A machine or node type that may have P-states."""

    __slots__ = ()

    @property
    def modes(self: _HasStates) -> int:
        """How many ways there are to run a task on it: the number of P-states, or 1."""
        return len(self.p_states) if self.p_states is not None else 1

    @property
    def columns(self: _HasStates) -> tuple[str, ...]:
        """The labels of its columns in a table file: its name, or name:P-state for each P-state."""
        if self.p_states is None:
            return (self.name,)
        return tuple(f"{self.name}:{state}" for state in self.p_states)


def column_numbers(types: Iterable[_HasStates]) -> dict[tuple[str, str | None], int]:
    """Return the column of each type's name and P-state; the P-state is `None` where a type has none."""
    modes = ((each.name, state) for each in types for state in each.p_states or (None,))
    return {mode: column for column, mode in enumerate(modes)}


def check_p_states(value: object) -> object:
    """Return the names of P-states as a tuple."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_P_STATES:
        needed = f"a list of 1 to {MOST_P_STATES} P-state names"
        raise refusal(describe(value), needed, "name them, or drop the key")
    return tuple(value)
