"""Rules that go step by step may take as many steps as there are tasks: they are not let go on for ever.

A rule that has handed out x of n tasks in s steps is expected to take s n / x. Now and then that is looked
at, so that hopeless work ends within a second or two; work that is not hopeless may go on to the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from lpsched.instance import Bag

MOST_STEPS: Final = 500_000  # half a minute
BETWEEN_LOOKS: Final = 20_000
HOPELESS: Final = 2 * MOST_STEPS  # an expectation may be wrong


@dataclass(slots=True)
class Steps:
    """Counts the steps of a rule, and the tasks that they handed out."""

    bag: Bag
    rule: str
    steps: int = 0
    tasks: int = 0

    def expect(self, at_least: int) -> None:
        """Refuse to begin if so many steps are needed at least.

        Raises
        ------
        InstanceError
            If that is more than `MOST_STEPS`.
        """
        if at_least > MOST_STEPS:
            raise self._refusal(f"at least {at_least:,}")

    def step(self, tasks: int) -> None:
        """Count a step that handed out so many tasks.

        Raises
        ------
        InstanceError
            If it takes too many, or surely will.
        """
        self.steps += 1
        self.tasks += tasks
        if self.steps % BETWEEN_LOOKS:
            return
        expected = self.steps * self.bag.tasks // self.tasks
        if self.steps >= MOST_STEPS or expected > HOPELESS:
            raise self._refusal(f"about {expected:,}")

    def _refusal(self, needed: str) -> InstanceError:
        found = f"{self.bag.tasks:,} tasks, for which {self.rule} takes {needed} steps"
        do = "take min-min or mct, which hand out any number of equal tasks at once"
        return InstanceError(self.bag.name, (Fault(("task_types",), found, f"at most {MOST_STEPS:,}", do),))
