"""What if: clusters are simulated as they are, and with other nodes, faster ones, or another scheduler.

A change is a name and a value:

    gpu, nodes.gpu     number of nodes of a cluster
    speed              how many times as fast as now the nodes of all clusters are: 1.2, or +20%
    speed.gpu          the same of one cluster
    scheduler          the policy with which the system runs then; by default that of now

A value is a number, or a text: an amount (8), or a change of the current one (+4, -2, +10%); of `scheduler`, a name.
Both systems get the same tasks and the same random numbers. Watts stay what they are.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import InputIssue, InstanceError, nearest
from lpsched.model.changes import change_error, read_amount
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import estimate_of, provenance_of
from lpsched.online.clusters import Clusters
from lpsched.online.compare.backend import DRAW
from lpsched.online.compare.simulations import simulate
from lpsched.online.curves import NodeCurves
from lpsched.online.result.policy import Judged, PolicyEntry
from lpsched.online.result.what_if import ClustersWhatIf, PolicyChange, Quantity, SystemChange
from lpsched.online.schedule import ClustersSchedule

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.simulate.options import ClusterOptions

# The change of a mean over tasks has a confidence interval: of several trials, by Student's distribution over the
# differences of the trials; of one trial, such as a log, by batch means: the tasks in the order of arrival are cut into
# twenty batches of equal size, and the means of the differences in each count as independent. The waits of neighbours
# are not, but those of whole batches nearly are, as long as a batch is longer than a queue lasts.
# Source: Law, Simulation Modeling and Analysis (5th edition, 2015), 9.5.3.
BATCHES: Final = 20
LEAST_BATCH: Final = 10  # tasks
NODES, SPEED, SCHEDULER = "nodes", "speed", "scheduler"
MOST_NAMED: Final = 20  # names in a message
LARGEST_SPEED: Final = 1e6


def what_if_clusters(  # noqa: PLR0913 - options are keyword-only
    clusters: Clusters | Path | str,
    changes: Mapping[str, float | str],
    *,
    policies: Sequence[str] = ("easy",),
    bound: bool = True,
    options: ClusterOptions | None = None,
    trials: int = 1,
    jobs: int = 1,
    seed: int = 0,
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
) -> ClustersWhatIf:
    """Simulate clusters as they are, and with some changes.

    Parameters
    ----------
    clusters
        Clusters, or the path of their file.
    changes
        New values by name, as above.
    policies
        Names of the policies; each runs on both systems, unless `scheduler` is changed.
    bound
        Whether to prove how good any schedule can be, before and after.
    options, jobs, seed, time_limit, cancel
        As in `simulate`, for both; `time_limit` of each bound.
    trials
        How many draws of tasks: the first is the file's own, others are made by the generator that made it.

    Raises
    ------
    InstanceError
        If a name or a value cannot be, or some task could no longer run.

    Examples
    --------
    >>> from lpsched.online.clusters import clusters_from_dict
    >>> tasks = [{"arrival_seconds": 0, "task_type": "job", "cores": 2, "work": 60} for _ in range(3)]
    >>> found = what_if_clusters(clusters_from_dict({"format": "lpsched-clusters/1", "name": "c",
    ...     "waiting": {"measure": "seconds"}, "clusters": [{"name": "all", "nodes": 2}],
    ...     "task_types": [{"name": "job"}], "seconds": {"job": {"all": 1.0}}, "tasks": tasks}), {"all": "+2"})
    >>> wait = found.policies[0].quantity("mean wait")
    >>> wait.before, wait.after, wait.change
    (60.0, 20.0, -40.0)
    """
    clusters = Clusters.given(clusters)
    then_policies = _then_policies(changes, policies)
    systems: tuple[Clusters, Clusters] | None = None
    befores, afters = [], []
    for trial in range(trials):
        now = clusters if trial == 0 else pkgutil.resolve_name(DRAW)(clusters, trial)
        now = now.model_copy(update={"arriving": replace(now.arriving, logged_starts=None)})  # no answer to this
        then, made = _changed(now, changes)
        systems = systems or (now, then)
        own: dict[str, Any] = {"options": options, "bound": bound, "jobs": jobs, "seed": seed + trial}
        own |= {"time_limit": time_limit, "cancel": cancel}
        befores.append(simulate(now, policies, **own))
        after = simulate(then, then_policies, **own | {"bound": bound and bool(made)})
        afters.append(after if made else replace(after, trials=befores[-1].trials))  # the same bound
    assert systems is not None, "there is a trial"
    both = list(zip(befores, afters, strict=True))
    entries = len(befores[0].policies)
    return ClustersWhatIf(
        changes=made,
        policies=tuple(_compared(systems, [(a.policies[n], b.policies[n]) for a, b in both]) for n in range(entries)),
        bound=_bound_change(both),
        best_changes_by=_best_changes_by(systems, both) if trials == 1 and bound else None,
        trials=trials,
        tasks=clusters.tasks,
        judged=befores[0].judged,
        same_costs=_same_costs(*systems),
        provenance=provenance_of(clusters, "simulation"),
    )


def _then_policies(changes: Mapping[str, float | str], policies: Sequence[str]) -> tuple[str, ...]:
    """Return the policies of the changed system, one for each of now."""
    then = changes.get(SCHEDULER)
    if then is None:
        return tuple(policies)
    if not isinstance(then, str):
        raise change_error(SCHEDULER, repr(then), "the name of a policy, such as conservative", "give a name")
    if len(policies) != 1:
        found, expected = f"{len(policies)} policies before the change", "one, which the other replaces"
        raise change_error(SCHEDULER, found, expected, "name one")
    return (then,)


def _changed(clusters: Clusters, changes: Mapping[str, float | str]) -> tuple[Clusters, tuple[SystemChange, ...]]:
    """Return the clusters with other nodes and speeds, and what was changed."""
    names = [each.name for each in clusters.clusters]
    nodes, speeds = [each.nodes for each in clusters.clusters], [1.0] * len(names)
    made, issues = [], []
    for name, value in changes.items():
        if name == SCHEDULER:
            continue
        try:
            kind, places = _target(name, names)
            amount = read_amount(name, value)
            for place in places:
                if kind == NODES:
                    nodes[place] = amount.count(name, nodes[place])
                    made.append(SystemChange(names[place], clusters.unit, clusters.clusters[place].nodes, nodes[place]))
                else:
                    speeds[place] = _speed(name, amount.applied_to(1.0))
                    made.append(SystemChange(f"speed of {names[place]}", "times", 1.0, speeds[place]))
        except InstanceError as error:
            issues += [replace(each, path=("changes", name)) for each in error.issues]
    if issues:
        raise InstanceError("", tuple(issues))
    update: dict[str, Any] = {
        "clusters": tuple(
            each.model_copy(update={"nodes": n}) for each, n in zip(clusters.clusters, nodes, strict=True)
        )
    }
    if any(speed != 1.0 for speed in speeds):
        update["seconds"] = _faster(clusters, speeds)
    try:
        return clusters.model_copy(update=update), tuple(made)
    except InstanceError as error:
        found, names = error.issues[0].got, [name for name in changes if name != SCHEDULER]
        issue = InputIssue(
            ("changes", ", ".join(names)),
            f"a system with {found}",
            "one on which every task can run",
            "keep more of it",
        )
        raise InstanceError("", (issue,)) from None


def _target(name: str, clusters: Sequence[str]) -> tuple[str, list[int]]:
    """Return what a name stands for: nodes or speed, and of which clusters."""
    kind, _, item = name.partition(".")
    if name in clusters:
        return NODES, [clusters.index(name)]
    if name == SPEED:
        return SPEED, list(range(len(clusters)))
    if kind in {NODES, SPEED} and item in clusters:
        return kind, [clusters.index(item)]
    known = [*clusters, SPEED, SCHEDULER]
    expected = f"one of {', '.join(known[:MOST_NAMED])}{', ...' if len(known) > MOST_NAMED else ''}"
    raise change_error(name, "an unknown name", expected, nearest(name, known) or "correct it")


def _speed(name: str, value: object) -> float:
    valid = isinstance(value, int | float) and not isinstance(value, bool)
    if not valid or not 1.0 / LARGEST_SPEED <= value <= LARGEST_SPEED:  # type: ignore[operator]
        expected = f"a factor from {1.0 / LARGEST_SPEED:g} to {LARGEST_SPEED:g}, such as 1.2 or +20%"
        raise change_error(name, repr(value), expected, "correct it")
    return float(value)  # type: ignore[arg-type]


def _faster(clusters: Clusters, speeds: Sequence[float]) -> NodeCurves:
    """Return the curves of seconds on faster or slower nodes."""
    of_column = [speeds[j] for j, _ in clusters.modes]
    return NodeCurves(
        tuple(
            tuple(
                None if cell is None else tuple((nodes, seconds / speed) for nodes, seconds in cell)
                for cell, speed in zip(row, of_column, strict=True)
            )
            for row in clusters.seconds.cells
        )
    )


def _compared(systems: tuple[Clusters, Clusters], trials: Sequence[tuple[PolicyEntry, PolicyEntry]]) -> PolicyChange:
    """Return what one policy, and that which replaces it, achieved in all trials."""
    (first, second), clusters = trials[0], systems[0]
    value = "cost per task" if clusters.waiting is not None else "utility"
    quantities = {"mean wait": "wait_seconds.mean", "95 % wait": "wait_seconds.p95"}
    quantities |= {value: "cost_per_task" if clusters.waiting is not None else "utility", "busy": "utilisation"}
    reasons = tuple(why for pair in trials for entry in pair for _, why in entry.reasons)
    if reasons:
        return PolicyChange(first.name, second.name, (), reasons[0])
    made = []
    for name, quantity in quantities.items():
        befores, afters = ([_of(entry, quantity) for entry in entries] for entries in zip(*trials, strict=True))
        both = [(a, b) for a, b in zip(befores, afters, strict=True) if a is not None and b is not None]
        if not both:
            continue
        half = estimate_of([b - a for a, b in both]).half_width
        if len(trials) == 1 and name in {"mean wait", "cost per task"}:
            of_task = _waits if name == "mean wait" else _costs
            half = _batch_half_width(of_task(clusters, first), of_task(systems[1], second))
        before, after = (sum(each) / len(both) for each in zip(*both, strict=True))
        made.append(Quantity(name, before, after, after - before, half))
    return PolicyChange(first.name, second.name, tuple(made))


def _of(entry: PolicyEntry, quantity: str) -> float | None:
    mean = entry.mean(quantity)
    return None if mean is None else mean.mean


def _batch_half_width(before: Floats, after: Floats) -> float | None:
    """Return the half width of the interval of a mean difference between tasks; `None` if they are too few.

    >>> _batch_half_width(np.zeros(400), np.tile([1.0, 3.0], 200)), _batch_half_width(np.zeros(9), np.ones(9))
    (0.0, None)
    """
    differences = (after - before)[~np.isnan(before + after)]
    size = len(differences) // BATCHES
    if size < LEAST_BATCH:
        return None
    means = differences[: BATCHES * size].reshape(BATCHES, size).mean(axis=1)
    return estimate_of(means.tolist()).half_width


def _waits(clusters: Clusters, entry: PolicyEntry) -> Floats:
    """Return how long each task waited; NaN if it did not run."""
    assert isinstance(entry.schedule, ClustersSchedule), "of the first trial"
    waits = np.full(clusters.tasks, np.nan)
    for placed in entry.schedule.placed:
        waits[placed.task] = placed.start_seconds - clusters.arriving.arrival_seconds[placed.task]
    made: Floats = np.maximum(waits, 0.0)
    return made


def _costs(clusters: Clusters, entry: PolicyEntry) -> Floats:
    """Return what the waiting of each task costs; NaN if it did not run."""
    waiting, kinds = clusters.waiting, clusters.kinds
    assert waiting is not None, "waiting has a cost"
    fastest = [clusters.fastest_seconds(kind) or 0.0 for kind in kinds]
    rows = zip(_waits(clusters, entry).tolist(), memoryview(clusters.kind_numbers).cast("q"), strict=True)
    return np.array(
        [
            math.nan if math.isnan(wait) else waiting.cost(wait, fastest[kind], cores=kinds[kind].cores)
            for wait, kind in rows
        ]
    )


def _bound_change(both: Sequence[tuple[Simulation, Simulation]]) -> Quantity | None:
    """Return the proved bounds on utility or on cost, the means of the trials."""
    sign = -1.0 if both[0][0].judged is Judged.WAITING else 1.0
    found = [(before.bound, after.bound) for before, after in both]
    known = [(sign * a.mean, sign * b.mean) for a, b in found if a is not None and b is not None]
    if len(known) < len(both):
        return None
    before, after = (math.fsum(each) / len(known) for each in zip(*known, strict=True))
    half = estimate_of([b - a for a, b in known]).half_width
    return Quantity("bound", before + 0.0, after + 0.0, after - before, half)


def _same_costs(now: Clusters, then: Clusters) -> bool:
    """Return whether a wait has the same cost in both systems: that of a task may depend on its shortest run."""
    if now.waiting is None or (now.waiting.measure == "seconds" and now.waiting.weight != "core-seconds"):
        return True
    return all(now.fastest_seconds(kind) == then.fastest_seconds(kind) for kind in now.kinds)


# The best possible lies between the best value found and the bound, before and after: so its change lies between their
# differences. Where nodes are only added, every schedule stays one, and the best possible cannot become worse; where
# they are only taken away, it cannot become better. That holds without an energy constraint, and if costs are the same.
def _best_changes_by(
    systems: tuple[Clusters, Clusters], both: Sequence[tuple[Simulation, Simulation]]
) -> tuple[float, float] | None:
    """Return between what the change of the best possible lies."""
    now, then = systems
    (before, after), *_ = both
    values = [None if each.best is None else each.best.mean("utility") for each in (before, after)]
    if before.bound is None or after.bound is None or values[0] is None or values[1] is None:
        return None
    ends = (
        Fraction(values[1].mean) - Fraction(before.bound.mean),
        Fraction(after.bound.mean) - Fraction(values[0].mean),
    )
    grows = [b.nodes - a.nodes for a, b in zip(now.clusters, then.clusters, strict=True)]
    if now.seconds == then.seconds and not any(grows):
        return 0.0, 0.0
    if now.seconds == then.seconds and now.period.energy_constraint_joules is None and _same_costs(now, then):
        low, high = ends
        ends = (max(low, Fraction(0)) if min(grows) >= 0 else low, min(high, Fraction(0)) if max(grows) <= 0 else high)
    ends = ends if before.judged is not Judged.WAITING else (-ends[1], -ends[0])
    return rounded_down(ends[0]), rounded_up(ends[1])
