"""The answer to a what-if question about clusters: two systems, each policy in both, and the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.model.results import JsonObject, brief, json_of
from lpsched.online.result.groups import UNIT_WORDS
from lpsched.online.result.policy import Judged
from lpsched.units import bound_text, counted, duration, number, percent

if TYPE_CHECKING:
    from lpsched.model.provenance import Provenance

FORMAT: Final = "lpsched-whatif-clusters/1"
TIMES: Final = ("mean wait", "95 % wait")
SHARES: Final = ("busy",)


@dataclass(frozen=True, slots=True)
class SystemChange(JsonObject):
    """The nodes of a cluster, or how many times as fast they are."""

    name: str
    unit: str  # node, core or gpu; or times, of a speed
    before: float
    after: float

    def __str__(self) -> str:
        """Return the change in words: gpu from 4 to 8 GPUs."""
        unit = UNIT_WORDS.get(self.unit)
        after = f"{number(self.after)} times" if unit is None else counted(int(self.after), unit)
        return f"{self.name} from {number(self.before)} to {after}"


@dataclass(frozen=True, slots=True)
class Quantity(JsonObject):
    """What was measured before and after; the change with the half width of its 95 % confidence interval."""

    name: str
    before: float
    after: float
    change: float
    half_width: float | None = None  # `None`: not known

    def row(self) -> tuple[str, str, str, str]:
        """Return it as a row of a table."""
        write = duration if self.name in TIMES else percent if self.name in SHARES else number
        differ = points if self.name in SHARES else write
        sign = "+" if self.change > 0.0 else "-" if self.change < 0.0 else ""
        half = "" if self.half_width is None else f" ± {differ(self.half_width)}"
        return self.name, write(self.before), write(self.after), f"{sign}{differ(abs(self.change))}{half}"


def points(share: float) -> str:
    """Return a difference of shares in percentage points.

    >>> points(0.0125)
    '1.25 points'
    """
    return f"{number(100.0 * share)} points"


@dataclass(frozen=True, slots=True)
class PolicyChange(JsonObject):
    """One policy before, and the one that runs the changed system: mostly the same."""

    before: str
    after: str
    quantities: tuple[Quantity, ...]
    reason: str | None = None  # why there is no result

    _KEYS: ClassVar = "before after reason quantities"

    @property
    def name(self) -> str:
        """The policy, or both."""
        return self.before if self.before == self.after else f"{self.before}, then {self.after}"

    def quantity(self, name: str) -> Quantity:
        """Return what was measured, by its name."""
        return next(each for each in self.quantities if each.name == name)


@dataclass(frozen=True, slots=True)
class ClustersWhatIf:
    """Clusters as they are, and with some changes.

    Attributes
    ----------
    changes
        What was changed of the system.
    policies
        The policies, before and after.
    bound
        The proved bound on the cost, or on the utility, of any schedule: before, after, and the difference.
    best_changes_by
        Between these two lies the change of the best possible cost or utility: proved. `None` without a bound, or of
        several trials.
    trials
        How many draws of tasks there were.
    tasks
        How many tasks arrive.
    same_costs
        Whether a wait costs the same before and after, which slowdowns and core-seconds of faster runs do not.
    """

    changes: tuple[SystemChange, ...]
    policies: tuple[PolicyChange, ...]
    bound: Quantity | None
    best_changes_by: tuple[float, float] | None
    trials: int
    tasks: int
    judged: Judged
    same_costs: bool  # a wait costs the same before and after: no task runs faster than it could
    provenance: Provenance
    __repr__ = brief

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched whatif --json` prints of clusters; its keys are stable."""
        least, most = self.best_changes_by or (None, None)
        return self.provenance.header(FORMAT) | json_of(
            self,
            "judged_by changes policies bound best_changes_by_at_least best_changes_by_at_most trials tasks same_costs",
            judged_by="waiting" if self.judged is Judged.WAITING else "utility",
            best_changes_by_at_least=least,
            best_changes_by_at_most=most,
        )

    def headline(self) -> str:
        """Return the changes, and what becomes of the mean wait under the first policy."""
        first = next((each for each in self.policies if each.quantities), None)
        made = [*map(str, self.changes)]
        made += [f"{each.after} in place of {each.before}" for each in self.policies if each.before != each.after]
        words = ", ".join(made) or "no change"
        if first is None:
            return f"With {words}: no scheduler has a result."
        name, before, after, change = first.quantity("mean wait").row()
        under = f" under {first.after}" if first.before == first.after else ""
        return f"With {words}, the {name}{under} changes by {change}, from {before} to {after}."

    def bound_row(self) -> tuple[str, str, str, str]:
        """Return the bounds as a row of a table, rounded to the side on which they stay true; a cost by task."""
        assert self.bound is not None, "bounds were proved"
        costs = self.judged is Judged.WAITING
        name = "cost per task, at least (proved)" if costs else "utility, at most (proved)"
        share = self.tasks if costs else 1
        before, after = self.bound.before / share, self.bound.after / share
        change = Quantity("bound", before, after, after - before).row()[-1]
        return name, bound_text(before, upper=not costs), bound_text(after, upper=not costs), change

    def notes(self) -> list[str]:
        """Return what the numbers mean."""
        words = []
        if any(each.half_width is not None for policy in self.policies for each in policy.quantities):
            of = f"the differences of {self.trials} trials" if self.trials > 1 else "batch means of 20 batches of tasks"
            words.append(f"±: 95 % confidence interval of the change, by {of}; the same tasks and seeds in both.")
        if self.best_changes_by is not None:
            costs = self.judged is Judged.WAITING
            what, share = ("least possible cost per task", self.tasks) if costs else ("most possible utility", 1)
            low, high = (Fraction(each) / share for each in self.best_changes_by)
            ends = f"changes by {bound_text(low, upper=False)} to {bound_text(high, upper=True)} (proved)"
            words.append(f"The {what} {ends if self.changes else 'is the same: so is the system'}.")
        if not self.same_costs:
            words.append("The same wait has another cost after the change: it depends on how long tasks run.")
        return words
