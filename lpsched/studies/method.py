"""What a method of a study is: a name, what it takes, and a function from an instance to plain numbers.

An outcome has the keys of the command's own JSON, and always `value`, `bound` and `gap` where there are such
numbers; times and where it was made are not part of it, so that it is the same wherever it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias

from lpsched.instance.fields import Amount, describe, refusal

Check: TypeAlias = Callable[[object], object]  # raises a `refusal`
HEADER: Final = ("format", "lpsched", "solver", "instance", "timings")


@dataclass(frozen=True, slots=True)
class Order:
    """What a method is asked for, beside the instance."""

    parameters: Mapping[str, Any]
    seed: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out: the same everywhere, but for the timings."""

    outcome: Mapping[str, Any]
    solver: str
    timings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Method:
    """One way to answer an instance.

    Attributes
    ----------
    kind
        Of the instances that it is for.
    takes
        Its parameters, each with the check of a value.
    seeded
        Whether it leaves something to chance; else every seed gives the same, and one run is made.
    limited
        Whether it heeds a limit of seconds. Its outcome then depends on the machine, if it is reached.
    apart
        Parameters of which a run can have one only.
    """

    name: str
    kind: str
    run: Callable[[Any, Order], Answer]
    takes: Mapping[str, Check]
    seeded: bool = False
    limited: bool = False
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OneOf:
    """The check of a word."""

    words: tuple[str, ...]

    def __call__(self, value: object) -> str:
        """Return the word, if it is one of these."""
        if isinstance(value, str) and value in self.words:
            return value
        raise refusal(describe(value), f"one of {', '.join(self.words)}", "choose one")


@dataclass(frozen=True, slots=True)
class Whole:
    """The check of a whole number."""

    least: int = 0
    most: int = 10**9

    def __call__(self, value: object) -> int:
        """Return the number, if it is one."""
        if isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most:
            return value
        raise refusal(describe(value), f"a whole number from {self.least} to {self.most:,}", "correct it")


def yes_or_no(value: object) -> bool:
    """Return a truth, if it is one."""
    if isinstance(value, bool):
        return value
    raise refusal(describe(value), "true or false", "correct it")


check_gap: Final = Amount("a relative gap", most=1.0)


def without_header(told: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Return what a command's JSON says, without where it comes from, and without times."""
    return {key: plain(value) for key, value in told.items() if key not in (*HEADER, *others)}


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Return a value as it is read back from JSON: no tuples, no words of an enumeration."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.value if isinstance(value, Enum) else value
