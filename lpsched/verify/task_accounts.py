"""What the verifier found for each task: when it really ran, what it took, what counts of what it earned."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from lpsched.verify.exact_times import seconds_of
from lpsched.verify.violation import UNIT, rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.verify.day_counting import AnyRun, Counted, Ran


class TaskAccount(NamedTuple):
    """One task that ran; joules of the whole run, utility as far as it counts, or minus a cost."""

    start_seconds: float
    end_seconds: float
    joules: float
    earned: float


def task_accounts(
    runs: Iterable[Ran], counted: Iterable[Counted[AnyRun]], earned: Iterable[float]
) -> dict[int, TaskAccount]:
    """Return the account of every task that ran, by its number."""
    counts = {each.run.task: amount for each, amount in zip(counted, earned, strict=True)}
    return {
        run.task: TaskAccount(
            seconds_of(run.start),
            seconds_of(run.end),
            rounded_up(Fraction(run.watts * (run.end - run.start), UNIT * UNIT)),
            counts.get(run.task, 0.0),
        )
        for run in runs
    }
