"""The result of a simulation: policies, trials, bounds; and kinds of tasks by priority."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.fixed_point import rounded_up
from lpsched.model.results import best_of, brief, frame_of, json_of, without_empty
from lpsched.online.parts import Levels
from lpsched.online.result.groups import CLUSTER, UNIT_WORDS
from lpsched.online.result.policy import (
    COLUMNS,
    LOG,
    NO_POLICY,
    Judged,
    mean_and_half,
    mean_of,
    shown,
    shown_share,
    shown_time,
)
from lpsched.units import are_equal, beside_limit, duration, finer_by, html_table, number, paired, plain_text

if TYPE_CHECKING:
    from lpsched.model.provenance import Estimate, Provenance
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.result.policy import PolicyEntry


# Kinds of tasks: those of each priority, and those of each own utility function.
#
# Where there are more than `MOST_KINDS` priorities, those whose names differ only in a number at the end, as in
# critical-010 and critical-076, are one.
MOST_KINDS: Final = 8
NUMBER: Final = re.compile(r"\d+[-_ ]?")  # at the end of a name, read backwards: so it is looked for at one place


def kinds_of(instance: Day | Clusters) -> tuple[str, ...]:
    """Return the kind of each utility specification of tasks."""
    declared = instance.arriving.declared
    kinds = tuple(each.priority if isinstance(each, Levels) else f"own function {each}" for each in declared)
    if len(set(kinds)) <= MOST_KINDS:
        return kinds
    return tuple(kind[: len(kind) - _digits_at_end(kind)] or kind for kind in kinds)


def _digits_at_end(name: str) -> int:
    """Return the length of a number at the end of a name, with what divides it from the rest."""
    found = NUMBER.match(name[::-1])
    return 0 if found is None else found.end()


def kinds_by_worth(instance: Day | Clusters) -> tuple[str, ...]:
    """Return the kinds of tasks by falling utility on arrival."""
    worth: dict[str, float] = {}
    priorities, own = instance.levels.priorities, instance.utility_functions
    for kind, declared in zip(kinds_of(instance), instance.arriving.declared, strict=True):
        most = priorities[declared.priority] if isinstance(declared, Levels) else own[declared].at(0.0)
        worth[kind] = max(worth.get(kind, 0.0), most)
    return tuple(sorted(worth, key=lambda kind: -worth[kind]))


# The result of a simulation: policies on the same trials, the no-wait reference, and the bound.
FORMAT: Final = "lpsched-simulate/1"
NO_WAIT: Final = "no-wait reference"
BOUND: Final = "bound (proved)"


@dataclass(frozen=True, slots=True)
class TrialBounds:
    """The no-wait reference and the bound of one trial; minus the cost where waiting has one."""

    trial: int
    naive: float
    bound: float | None = None
    bound_seconds: float | None = None  # run time of the bound
    per_machine_hour: tuple[tuple[str, float], ...] = ()  # marginal value of an hour of a machine or node
    per_kwh: float | None = None  # marginal value of a kilowatt-hour
    tasks: int = 0
    by_cluster: tuple[tuple[str, float], ...] = ()  # the bound of each, where each task can run on one cluster only

    @property
    def bound_of_naive(self) -> float | None:
        """The bound as a share of the no-wait reference; `None` where that is 0, or no bound was requested."""
        return None if self.bound is None or not self.naive else self.bound / self.naive

    def to_dict(self, *, hour_of: str = "machine") -> dict[str, Any]:
        """Return the bounds as they appear in JSON."""
        keys = (
            "trial naive_bound=naive bound bound_seconds "
            f"utility_per_{hour_of}_hour=per_machine_hour utility_per_kwh=per_kwh bound_by_cluster=by_cluster?"
        )
        by_cluster = dict(self.by_cluster) if self.by_cluster else None
        hours = {f"utility_per_{hour_of}_hour": dict(self.per_machine_hour)}
        return json_of(self, keys, bound_by_cluster=by_cluster, **hours)


@dataclass(frozen=True, slots=True)
class Simulation:
    """Policies on one day, or on several drawn by the same generator; of machines, or of clusters.

    Attributes
    ----------
    trials
        The first is of the day itself, the others of new draws; fewer than requested if the run was stopped.
    options
        How the days were run: the fields of `SimulationOptions` or `ClusterOptions`.
    energy_constraint_joules
        Upper limit on the energy in the period; `None` where there is none.
    judged
        What was simulated, and what its tasks are judged by. Utility is minus the cost where waiting has one.
    waiting
        The cost of waiting then: the fields of `WaitingCost`.
    unit
        What the nodes of clusters are: nodes, cores or GPUs.
    epoch
        The date and time of second 0, if the log has one.
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
    unit: str = "machine"
    epoch: str | None = None
    __repr__ = brief

    @property
    def naive_bound(self) -> Estimate | None:
        """The no-wait reference: the utility if each task started on arrival where it is fastest.

        Of utilities it is not a bound; where waiting has a cost, minus that cost, it is one.
        """
        return mean_of(trial.naive for trial in self.trials)

    @property
    def bound(self) -> Estimate | None:
        """The proved bound on the utility, if it was requested; the mean of several is rounded up."""
        known = [trial.bound for trial in self.trials if trial.bound is not None]
        estimate = mean_of(known)
        return estimate and replace(estimate, mean=rounded_up(sum(map(Fraction, known), Fraction()) / len(known)))

    @property
    def answered(self) -> bool:
        """Whether any policy has a result."""
        return any(entry.answers for entry in self.policies)

    @property
    def best(self) -> PolicyEntry | None:
        """The policy with the highest mean utility, or the lowest mean cost; an offline schedule is none."""
        first = next((entry for entry in self.ranked().policies if entry.kind not in NO_POLICY), None)
        return first if first is not None and first.answers else None

    def ranked(self) -> Simulation:
        """Return the same simulation with the log first, then the best policy; those without a result last."""

        def place(entry: PolicyEntry) -> tuple[bool, bool, float]:
            mean = entry.mean("utility")
            return entry.kind != LOG, mean is None, 0.0 if mean is None else -mean.mean

        return replace(self, policies=tuple(sorted(self.policies, key=place)))

    @property
    def logged(self) -> PolicyEntry | None:
        """What really happened, if the log's own schedule is known."""
        return next((entry for entry in self.policies if entry.kind == LOG and entry.answers), None)

    def headline(self) -> str:
        """Return what happened, if a log says it, the best policy, its value, the bound and the gap."""
        logged, best = self.logged, self._best_words()
        if logged is None:
            return best
        what = "cost" if self.judged is Judged.WAITING else "utility"
        words = [f"{what} {shown(logged.mean(what), digits=4)}"]
        words += [f"gap {shown_share(gap, upper=True)}" for gap in [logged.mean("gap")] if gap is not None]
        whence = "As logged" if logged.note is None else "As logged, with starts moved to fit"
        return f"{whence}: mean wait {shown_time(logged.mean('wait_seconds.mean'))}, {', '.join(words)}. {best}"

    def _best_words(self) -> str:
        best = self.best
        if best is None:
            return "No scheduler has a result."
        costs = self.judged is Judged.WAITING
        means = [(each.name, each.mean("utility")) for each in self.ranked().policies if each.kind not in NO_POLICY]
        text = best_of([(name, mean.mean) for name, mean in means if mean is not None], "scheduler")
        what = "cost" if costs else "utility"
        value, limit = shown(best.mean(what), digits=4), ""
        bound, gap, share = self.bound, best.mean("gap"), best.mean("share_of_naive")
        if bound is not None:
            most = replace(bound, mean=self._limit or 0.0)
            limit = shown(most, digits=4, upper=not costs)
            if (mean := self._only(best)) is not None:
                value, limit = paired(mean, most.mean, upper=not costs)
        text += f"{'mean ' if len(self.trials) > 1 else ''}{what} {value}"
        if bound is None:
            of = "" if costs or share is None else f", {shown_share(share)} of the no-wait reference"
            return f"{text}{of}. No bound was computed (--bound)."
        limit = f"at least {limit} in any schedule" if costs else f"at most {limit} possible"
        near = "" if gap is None else f"gap {shown_share(gap, upper=True)}, "
        return f"{text}; {limit} ({near}proved)."

    @property
    def _limit(self) -> float | None:
        """The bound on the utility, or that on the cost; the mean of several."""
        if self.bound is None:
            return None
        return 0.0 - self.bound.mean if self.judged is Judged.WAITING else self.bound.mean

    def _only(self, entry: PolicyEntry) -> float | None:
        """Return utility or cost of a policy in the only trial; `None` where it is a mean, or missing."""
        mean = entry.mean("cost" if self.judged is Judged.WAITING else "utility")
        return mean.mean if mean is not None and len(self.trials) == 1 else None

    def _beside_bound(self, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Return the rows of reference, bound and policies with the digits that the gaps of one trial need."""
        bound, upper, values = self._limit, self.judged is not Judged.WAITING, list(map(self._only, self.policies))
        if bound is None or all(value is None for value in values):
            return rows
        finer = [0 if value is None else finer_by(value, bound, upper=upper) for value in values]
        limit = plain_text(bound, upper=upper, finer=max(finer))
        texts = [row[1] for row in rows[2:]]
        for at, (value, own) in enumerate(zip(values, finer, strict=True)):
            if value is not None:
                beside = beside_limit(value, limit, upper=upper, finer=(own, max(finer)))
                texts[at] = limit if are_equal(value, bound) else beside
        cells = [rows[0][1], limit, *texts]
        return [(row[0], cell, *row[2:]) for row, cell in zip(rows, cells, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched simulate --json` prints; its keys are stable."""
        made = self.provenance.header(FORMAT)
        made |= json_of(self, "seed options energy_constraint_joules asked_trials")
        for name, estimate in (("naive_bound", self.naive_bound), ("bound", self.bound)):
            made[name], made[f"{name}_half_width"] = mean_and_half(estimate)
        if self.judged is not Judged.DAY:
            costs = self.judged is Judged.WAITING
            made |= {"judged_by": "waiting" if costs else "utility"} | json_of(self, "waiting unit epoch")
            for name, estimate in (("naive_cost", self.naive_bound), ("cost_bound", self.bound)):
                made[name] = 0.0 - estimate.mean if costs and estimate is not None else None
        hour_of = "machine" if self.judged is Judged.DAY else "node"
        trials = [trial.to_dict(hour_of=hour_of) for trial in self.trials]
        return made | {"trials": trials, "policies": [entry.to_dict() for entry in self.policies]}

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each policy: the means of what its table shows, in SI units."""
        quantities = [*(column.quantity for column in COLUMNS[self.judged]), "share_of_bound"]
        rows = [
            (entry.name, *(getattr(entry.mean(each), "mean", None) for each in quantities)) for entry in self.policies
        ]
        return frame_of(("name", *quantities), rows)

    def worth_rows(self) -> list[tuple[str, str]]:
        """Return marginal values: of an hour of each machine type, or node, and of a kWh where energy is limited."""
        known = [trial for trial in self.trials if trial.per_machine_hour]
        of = "" if self.judged is Judged.DAY else f"a {UNIT_WORDS[self.unit]} of "
        hours = [
            (f"an hour of {of}{name}", mean_of(dict(trial.per_machine_hour).get(name) for trial in known))
            for name, _ in (known[0].per_machine_hour if known else ())
        ]
        if self.energy_constraint_joules is not None:
            hours.append(("a kWh", mean_of(trial.per_kwh for trial in known)))
        return [(name, shown(each, digits=4)) for name, each in hours if each is not None]

    def group_tables(self) -> dict[str, tuple[tuple[str, ...], list[tuple[str, ...]]]]:
        """Return the mean waits by cluster, task type and size: headers, and a row for each group."""
        entries = [entry for entry in self.policies if entry.groups]
        found = {entry.name: {(each.by, each.name): each for each in entry.groups} for entry in entries}
        ways = dict.fromkeys(each.by for entry in entries for each in entry.groups)
        made = {}
        for by in ways:
            names = dict.fromkeys(each.name for entry in entries for each in entry.groups if each.by == by)
            rows = []
            for name in names:
                own = [found[entry.name].get((by, name)) for entry in entries]
                tasks = max(each.tasks for each in own if each is not None)
                waits = ("-" if each is None else duration(each.mean_wait_seconds) for each in own)
                rows.append((name, f"{tasks:,}", *waits))
            made[by] = (f"mean wait by {by}", "tasks", *(entry.name for entry in entries)), rows
        return made

    def cluster_costs(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
        """Return the cost per task of each cluster, with its proved bound: headers and rows; `None` without bounds."""
        entries = [entry for entry in self.policies if any(each.by == CLUSTER for each in entry.groups)]
        if len(self.trials) != 1 or not self.trials[0].by_cluster or not entries:
            return None
        rows = []
        for name, bound in self.trials[0].by_cluster:
            own = [
                next((each for each in entry.groups if (each.by, each.name) == (CLUSTER, name)), None)
                for entry in entries
            ]
            costs = [None if each is None or each.cost is None else each.cost / each.tasks for each in own]
            known = [cost for cost in costs if cost is not None]
            if known:
                tasks = max(each.tasks for each in own if each is not None)
                least = paired(min(known), (0.0 - bound) / tasks, upper=False)[1]
                rows.append((name, f"{tasks:,}", least, *("-" if cost is None else number(cost) for cost in costs)))
        return ("cost per task by cluster", "tasks", BOUND, *(entry.name for entry in entries)), rows

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of `rows`."""
        return self._table()[0]

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for the no-wait reference, one for the bound, and one for each policy, as in `headers`."""
        return self._table()[1]

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return headers and rows without empty columns; `none_notes` says of which counts all are 0."""
        rows = [self._row(NO_WAIT, [(trial.naive, None, trial.tasks) for trial in self.trials], upper=None)]
        if self.bound is not None:
            bounds = [(trial.bound, trial.bound_of_naive, trial.tasks) for trial in self.trials]
            rows.append(self._row(BOUND, bounds, upper=self.judged is not Judged.WAITING))  # on a cost, from below
        rows += [entry.row() for entry in self.policies]
        rows = self._beside_bound(rows)
        hidden = self.none_notes()
        for at, column in enumerate(COLUMNS[self.judged], start=1):
            if column.none in hidden:
                rows = [(*row[:at], "", *row[at + 1 :]) for row in rows]
        return without_empty(("scheduler", *(column.header for column in COLUMNS[self.judged])), rows)

    def none_notes(self) -> list[str]:
        """Return a sentence for each column that is left out because all its counts are 0."""
        columns = [column for column in COLUMNS[self.judged] if column.none]
        means = {column.none: [entry.mean(column.quantity) for entry in self.policies] for column in columns}
        return [none for none, each in means.items() if any(each) and not any(mean and mean.mean for mean in each)]

    def _row(
        self, name: str, trials: Sequence[tuple[float | None, float | None, int]], *, upper: bool | None
    ) -> tuple[str, ...]:
        """Return a row of a reference or bound: the figure, its share, the tasks of each trial."""
        found: dict[str, Iterable[float | None]] = {
            "utility": (figure for figure, _, _ in trials),
            "share_of_naive": (share for _, share, _ in trials),
            "cost": (None if figure is None else 0.0 - figure for figure, _, _ in trials),
            "cost_per_task": ((0.0 - figure) / n if figure is not None and n else None for figure, _, n in trials),
        }
        means = ((column, mean_of(found.get(column.quantity, ()))) for column in COLUMNS[self.judged])
        return (name, *("" if mean is None else column.shown(mean, upper=upper) for column, mean in means))

    def _repr_html_(self) -> str:
        return html_table(self.headers, self.rows())
