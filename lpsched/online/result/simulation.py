"""What a simulation returns: policies, trials, bounds; also by priority."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.fixed_point import rounded_up
from lpsched.model.results import frame_of, json_of
from lpsched.online.result.policy import COLUMNS, OFFLINE, Judged, headers_of, mean_and_half, mean_of, shown
from lpsched.online.tasks import Levels
from lpsched.units import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lpsched.model.provenance import Estimate, Provenance
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.result.policy import PolicyEntry


# Kinds of tasks by what they are worth: those of each priority, and those of each own utility function.
#
# Where there are more priorities than anybody would read, those whose names differ only in a number at the
# end, as in critical-010 and critical-076, are one.
MOST_KINDS: Final = 8
NUMBERED: Final = re.compile(r"[-_ ]?\d+$")


def kinds_of(instance: Day | Clusters) -> tuple[str, ...]:
    """Return the kind of each way in which tasks tell their utility."""
    told = instance.arriving.told
    kinds = tuple(each.priority if isinstance(each, Levels) else f"own function {each}" for each in told)
    if len(set(kinds)) <= MOST_KINDS:
        return kinds
    return tuple(NUMBERED.sub("", kind) or kind for kind in kinds)


def kinds_by_worth(instance: Day | Clusters) -> tuple[str, ...]:
    """Return all kinds that tasks have, from the one of which some are worth the most."""
    worth: dict[str, float] = {}
    priorities, own = instance.levels.priorities, instance.utility_functions
    for kind, told in zip(kinds_of(instance), instance.arriving.told, strict=True):
        most = priorities[told.priority] if isinstance(told, Levels) else own[told].at(0.0)
        worth[kind] = max(worth.get(kind, 0.0), most)
    return tuple(sorted(worth, key=lambda kind: -worth[kind]))


# What a simulation returns: policies, each on the same days, beside the naive figure and the bound.
FORMAT: Final = "lpsched-simulate/1"
NAIVE: Final = "naive, nothing waits"
BOUND: Final = "bound, proved"
NO_COST_BELOW: Final = "no schedule below"


@dataclass(frozen=True, slots=True)
class TrialBounds:
    """What the tasks of one trial's day would earn if none waited, and what no schedule of it can pass."""

    trial: int
    naive: float
    bound: float | None = None
    bound_seconds: float | None = None  # that finding it took
    per_machine_hour: tuple[tuple[str, float], ...] = ()  # what an hour of a machine or node is worth
    per_kwh: float | None = None  # what a kilowatt-hour is worth; both in utility, at most
    tasks: int = 0

    @property
    def bound_of_naive(self) -> float | None:
        """The bound as a share of the naive figure; `None` where that is 0, or nobody asked."""
        return None if self.bound is None or not self.naive else self.bound / self.naive

    def to_dict(self, *, hour_of: str = "machine") -> dict[str, Any]:
        """Return the bounds as they appear in JSON."""
        keys = (
            "trial naive_bound=naive bound bound_seconds "
            f"utility_per_{hour_of}_hour=per_machine_hour utility_per_kwh=per_kwh"
        )
        return json_of(self, keys, **{f"utility_per_{hour_of}_hour": dict(self.per_machine_hour)})


@dataclass(frozen=True, slots=True)
class Simulation:
    """Policies on one day, or on several that are drawn alike; a day of machines, or of clusters.

    Attributes
    ----------
    trials
        The first is of the day itself, the others of new draws; fewer than asked for if somebody said stop.
    options
        How the days were run: the fields of `SimulationOptions` or `ClusterOptions`.
    energy_constraint_joules
        What may be taken in the period; `None` where as much as anybody likes.
    judged
        What was simulated, and by what its tasks are judged. Utility is minus the cost where that is waiting.
    waiting
        What waiting costs then: the fields of `WaitingCost`.
    """

    policies: tuple[PolicyEntry, ...]
    trials: tuple[TrialBounds, ...]
    asked_trials: int
    seed: int
    options: Mapping[str, Any]
    energy_constraint_joules: float | None
    provenance: Provenance
    judged: Judged = Judged.DAY
    waiting: Mapping[str, Any] | None = None

    @property
    def naive_bound(self) -> Estimate | None:
        """The tasks' utility if each began at once where it is quickest: the thesis's figure, no proof."""
        return mean_of(trial.naive for trial in self.trials)

    @property
    def bound(self) -> Estimate | None:
        """What no schedule can pass, if it was asked for: proved; the mean of several is rounded up."""
        known = [trial.bound for trial in self.trials if trial.bound is not None]
        estimate = mean_of(known)
        return estimate and replace(estimate, mean=rounded_up(sum(map(Fraction, known), Fraction()) / len(known)))

    @property
    def answered(self) -> bool:
        """Whether any policy has an answer."""
        return any(entry.answers for entry in self.policies)

    @property
    def best(self) -> PolicyEntry | None:
        """The policy that earns the most on average; an offline schedule is none."""
        earned = {
            place: estimate.mean
            for place, entry in enumerate(self.policies)
            if entry.kind != OFFLINE and (estimate := entry.mean("utility")) is not None
        }
        return self.policies[max(earned, key=lambda place: earned[place])] if earned else None

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched simulate --json` prints; its keys are stable."""
        told = self.provenance.header(FORMAT)
        told |= json_of(self, "seed options energy_constraint_joules asked_trials")
        for name, estimate in (("naive_bound", self.naive_bound), ("bound", self.bound)):
            told[name], told[f"{name}_half_width"] = mean_and_half(estimate)
        if self.judged is not Judged.DAY:
            costs = self.judged is Judged.WAITING
            told |= {"judged_by": "waiting" if costs else "utility"} | json_of(self, "waiting")
            for name, estimate in (("naive_cost", self.naive_bound), ("cost_bound", self.bound)):
                told[name] = 0.0 - estimate.mean if costs and estimate is not None else None
        hour_of = "machine" if self.judged is Judged.DAY else "node"
        trials = [trial.to_dict(hour_of=hour_of) for trial in self.trials]
        return told | {"trials": trials, "policies": [entry.to_dict() for entry in self.policies]}

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each policy: the means of what its table shows, in SI units."""
        quantities = [column.quantity for column in COLUMNS[self.judged]]
        rows = [
            (entry.name, *(getattr(entry.mean(each), "mean", None) for each in quantities)) for entry in self.policies
        ]
        return frame_of(("name", *quantities), rows)

    def worth_rows(self) -> list[tuple[str, str]]:
        """Return what one more hour of each machine type and one more kWh are worth at most, in utility.

        Of clusters: an hour of one more node.
        """
        known = [trial for trial in self.trials if trial.per_machine_hour]
        names = [name for name, _ in known[0].per_machine_hour] if known else []
        of = "" if self.judged is Judged.DAY else "a node of "
        hours = [
            (
                f"an hour of {of}{name}",
                shown(mean_of(dict(trial.per_machine_hour).get(name) for trial in known), digits=4),
            )
            for name in names
        ]
        joules = mean_of(trial.per_kwh for trial in known)
        return [*hours, *([("a kWh", shown(joules, digits=4))] if joules is not None else [])]

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of `rows`."""
        return headers_of(self.judged)

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for the naive figure, one for the bound, and one for each policy, as in `headers`."""
        rows = [self._row(NAIVE, [(trial.naive, None, trial.tasks) for trial in self.trials])]
        if self.bound is not None:
            known = [(trial.bound, trial.bound_of_naive, trial.tasks) for trial in self.trials]
            rows.append(self._row(NO_COST_BELOW if self.judged is Judged.WAITING else BOUND, known))
        return rows + [entry.row() for entry in self.policies]

    def _row(self, name: str, trials: Sequence[tuple[float | None, float | None, int]]) -> tuple[str, ...]:
        """Return a row of what the trials' tasks earn or cost at best: the figure, its share, the tasks."""
        found: dict[str, Iterable[float | None]] = {
            "utility": (figure for figure, _, _ in trials),
            "share_of_naive": (share for _, share, _ in trials),
            "cost": (None if figure is None else 0.0 - figure for figure, _, _ in trials),
            "cost_per_task": ((0.0 - figure) / n if figure is not None and n else None for figure, _, n in trials),
        }
        cells, is_upper = [], self.judged is not Judged.WAITING  # a bound on utility is from above, on cost from below
        for column in COLUMNS[self.judged]:
            estimate = mean_of(found.get(column.quantity, ()))
            of_no_interest = estimate is None and column.quantity not in {"utility", "cost"}
            cells.append("" if of_no_interest else column.shown(estimate, upper=is_upper))
        return (name, *cells)

    def _repr_html_(self) -> str:
        return html_table(self.headers, self.rows())
