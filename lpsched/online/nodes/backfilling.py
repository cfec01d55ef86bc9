"""First come, first served, EASY and conservative backfilling, shortest first: on counts of nodes. Compiled.

A reservation is a time and a number of nodes; nodes are chosen when a task starts. Tasks come in the order of arrival,
equal arrivals by their numbers, that is in the order of the log. Running tasks count until their planned ends.

Sources: Lifka, The ANL/IBM SP scheduling system, 1995; Feitelson and Weil, Utilization and predictability in scheduling
the IBM SP2 with backfilling, 1998; Mu'alem and Feitelson, Utilization, predictability, workloads, and user runtime
estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12 (6), 2001. They have one cluster; what tasks do that
may run on several, and energy, are ours.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.nodes.free_slots import FreeSlots, chosen, sorted_by, taken

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask


# B tasks wait, of K kinds, for M clusters. In each cluster a kind has one P-state.
class QueueView(NamedTuple):  # tuples, because that is what compiled functions take apart
    """The parts of a `ClusterState` that the loops need: tasks by arrival, what they need, and what is free."""

    kind: Integers  # B
    need: Integers  # K x M: nodes; more than there are where a kind cannot run
    seconds: Floats  # K x M, as planned
    joules: Floats  # K x M, as planned
    nodes: Integers  # M, of each cluster
    slots: FreeSlots  # of all clusters, one after the other; each is free from its begin on
    first: Integers  # M + 1: the first slot of each
    now: float
    ends_at: float  # nothing starts then or later
    left: Floats  # 1: joules until then; less as tasks start or are reserved


@compiled_inside
def counted(queue: QueueView, k: int, m: int, start: float) -> float:
    """Return the joules of a run that are taken before the day ends."""
    seconds, joules = queue.seconds[k, m], float(queue.joules[k, m])
    if start + seconds <= queue.ends_at:
        return joules
    return joules * max(0.0, float((queue.ends_at - start) / seconds))


@compiled_inside
def free_now(queue: QueueView) -> Integers:
    """Return the nodes of each cluster that run nothing."""
    slots, first = queue.slots, queue.first
    free = np.zeros(len(first) - 1, dtype=np.int64)
    for m in range(len(free)):
        for i in range(first[m], first[m + 1]):
            if slots.begin[i] <= queue.now:
                free[m] += slots.high[i] - slots.low[i]
    return free


@compiled
def nodes_of(queue: QueueView, order: Integers, clusters: Integers) -> list[Integers]:
    """Choose nodes for tasks that start now, given by place and cluster: return their ranges (2 x R: low, high)."""
    (low, high, begin, end), first = queue.slots, queue.first
    found = [first.reshape(1, -1)]
    found.pop()  # so that Numba knows the type of the items
    drafts = [FreeSlots(low[a:b], high[a:b], begin[a:b], end[a:b]) for a, b in zip(first[:-1], first[1:])]  # noqa: B905, RUF007 - compiled
    for place in range(len(order)):
        k, m = queue.kind[order[place]], clusters[place]
        until = queue.now + queue.seconds[k, m]
        ranges = chosen(drafts[m], queue.need[k, m], queue.now, until)
        if queue.now < until:  # a short run late may take no time in doubles
            drafts[m] = taken(drafts[m], queue.now, until, ranges)
        found.append(ranges)
    return found


# First come, first served: tasks start in the order of arrival; the first that does not fit blocks its cluster.
#
# EASY (Lifka 1995; Mu'alem and Feitelson 2001): tasks start in the order of arrival while they fit. The first that does
# not, the head, has a reservation:
#     shadow time   the first time at which, by the planned ends of running tasks, enough nodes are free for it
#     extra nodes   those free at the shadow time beyond its need
# A later task is backfilled, that is starts now, if it fits and is planned to end by the shadow time, or takes at most
# the extra nodes, which are then used up. The reservation is made anew at every scheduling event.
#
# Shortest first: tasks by their planned seconds (the least of the clusters that can run them), equal ones by arrival;
# each starts if it fits. Nothing is reserved, so that wide and long tasks may wait for very long.
#
# Of several clusters each has its own head. A task that may run on several starts in the first of them in which it may.
# If it may in none: FCFS blocks all of them; under EASY it is the head of that one without a head where it can start
# first (of equals the lowest), or waits where all have one. The head's energy is set aside. A task that could start
# nowhere before the day ends, or has no energy left anywhere, is passed over: it blocks nothing.
class Heads(NamedTuple):
    """The reservations of a scheduling event."""

    free: Integers  # M: nodes that run nothing
    is_taken: Mask  # M: whether there is a head
    shadow: Floats  # M: its shadow time; before all others for FCFS, which backfills nothing
    extra: Integers  # M


@compiled_inside
def may_start(queue: QueueView, heads: Heads, k: int, m: int) -> bool:
    """Return whether a task starts now in a cluster."""
    need = queue.need[k, m]
    if need > heads.free[m]:
        return False
    if heads.is_taken[m] and need > heads.extra[m] and queue.now + queue.seconds[k, m] > heads.shadow[m]:
        return False
    return bool(counted(queue, k, m, queue.now) <= queue.left[0])


@compiled_inside
def start(queue: QueueView, heads: Heads, k: int, m: int) -> None:
    """Start a task now."""
    need = queue.need[k, m]
    if heads.is_taken[m] and queue.now + queue.seconds[k, m] > heads.shadow[m]:
        heads.extra[m] -= need
    heads.free[m] -= need
    queue.left[0] -= counted(queue, k, m, queue.now)


@compiled_inside
def shadow_of(free: int, need: int, times: Floats, counts: Integers) -> tuple[float, int]:
    """Return when enough nodes are free, and how many more are then, given when how many nodes become free."""
    order, shadow = sorted_by(times), -math.inf
    for i in order:
        if free >= need and times[i] > shadow:
            break
        free, shadow = free + counts[i], times[i]
    return shadow, free - need


BLOCKS, BACKFILLS, PASSES = 0, 1, 2  # what becomes of others when a task cannot start: they wait, or may, or start


@compiled_inside
def is_over(heads: Heads, rule: int) -> bool:
    """Return whether no further task can start now."""
    over = True
    for m in range(len(heads.free)):
        over = over and (heads.is_taken[m] or rule == PASSES) and not (rule != BLOCKS and heads.free[m] > 0)
    return over


@compiled
def in_order(queue: QueueView, rule: int) -> tuple[Integers, Integers]:
    """Return the tasks that start now, by place, and their clusters, by one of the three rules."""
    tasks, clusters = len(queue.kind), len(queue.nodes)
    heads = Heads(
        free_now(queue),
        np.zeros(clusters, dtype=np.bool_),
        np.full(clusters, -math.inf),
        np.zeros(clusters, dtype=np.int64),
    )
    order, where, started = np.empty(tasks, dtype=np.int64), np.empty(tasks, dtype=np.int64), 0
    for b in range(tasks):
        k, column = queue.kind[b], -1
        for m in range(clusters):
            if may_start(queue, heads, k, m):
                column = m
                break
        if column >= 0:
            start(queue, heads, k, column)
            order[started], where[started] = b, column
            started += 1
        elif rule == BACKFILLS:
            head_of(queue, heads, k, (order[:started], where[:started]))
        elif rule == BLOCKS:
            block(queue, heads, k)
        if is_over(heads, rule):
            break
    return order[:started], where[:started]


@compiled_inside
def block(queue: QueueView, heads: Heads, k: int) -> None:
    """Let a task that cannot start block the clusters that it may run on, unless its energy is left on none."""
    for m in range(len(queue.nodes)):
        if queue.need[k, m] <= queue.nodes[m] and counted(queue, k, m, queue.now) <= queue.left[0]:
            heads.is_taken[m] = True


@compiled_inside
def head_of(queue: QueueView, heads: Heads, k: int, started: tuple[Integers, Integers]) -> None:
    """Make a task that cannot start now the head of a cluster, if there is one for it."""
    best, soonest, extra = -1, queue.ends_at, 0
    for m in range(len(queue.nodes)):
        if heads.is_taken[m] or queue.need[k, m] > queue.nodes[m]:
            continue
        times, counts = releases(queue, started, m)
        shadow, more = shadow_of(heads.free[m], queue.need[k, m], times, counts)
        shadow = max(shadow, queue.now)
        if shadow < soonest and counted(queue, k, m, shadow) <= queue.left[0]:
            best, soonest, extra = m, shadow, more
    if best >= 0:
        heads.is_taken[best], heads.shadow[best], heads.extra[best] = True, soonest, extra
        queue.left[0] -= counted(queue, k, best, soonest)


@compiled_inside
def releases(queue: QueueView, started: tuple[Integers, Integers], m: int) -> tuple[Floats, Integers]:
    """Return when nodes of a cluster become free as planned, and how many: those of tasks that run, or start now."""
    slots, first = queue.slots, queue.first
    most = first[m + 1] - first[m] + len(started[0])
    times, counts, size = np.empty(most), np.empty(most, dtype=np.int64), 0
    for i in range(first[m], first[m + 1]):
        if slots.begin[i] > queue.now:
            times[size], counts[size] = slots.begin[i], slots.high[i] - slots.low[i]
            size += 1
    for place in range(len(started[0])):
        if started[1][place] == m:
            k = queue.kind[started[0][place]]
            times[size], counts[size] = queue.now + queue.seconds[k, m], queue.need[k, m]
            size += 1
    return times[:size], counts[:size]


# Conservative backfilling (Feitelson and Weil 1998; Mu'alem and Feitelson 2001): every task has a reservation, made
# when it is first seen, at the earliest time that delays no earlier reservation. When a task ends before its planned
# end, the schedule is compressed: in the order of arrival each reservation of that cluster is taken out and put at its
# earliest time, which is never later; one pass. A task starts when its reservation is due.
#
# Of several clusters a task is reserved in that where it can start first, of equals the lowest, and stays there. The
# energy of reservations is set aside. A task that could start nowhere before the day ends, or has no energy left
# anywhere, has no reservation, and is tried again at every event. A reservation that is overdue (scheduling events are
# on a grid, and it was due between two points) is void, and so are all others of its cluster: they are made anew, in
# the order of arrival, and may be later than before; the first of them is never behind another.
#
# How many nodes of a cluster are free when is a step function: free[i] nodes from times[i] to times[i + 1], the last
# without end. It is kept from event to event. Whether tasks have ended early is seen from the nodes that are free now.
class Steps(NamedTuple):
    """Free nodes of a cluster over time, by running tasks and reservations, in arrays with room for more steps."""

    times: Floats
    free: Integers
    size: Integers  # 1


class Plan(NamedTuple):
    """What conservative backfilling remembers from event to event; W tasks have reservations."""

    tasks: Integers  # W: numbers, rising
    clusters: Integers  # W
    starts: Floats  # W
    times: Floats  # steps of all clusters, one after the other
    free: Integers
    first: Integers  # M + 1: where those of each cluster begin
    freed: Floats  # M: up to when nodes were freed since all reservations were looked at; -infinite: none


def no_plan(nodes: Integers) -> Plan:
    """Return the plan of clusters on which nothing runs or is reserved."""
    none, clusters = np.zeros(0, dtype=np.int64), len(nodes)
    return Plan(
        none, none, np.zeros(0), np.zeros(clusters), nodes.copy(), np.arange(clusters + 1), np.full(clusters, -math.inf)
    )


@compiled_inside
def step_at(steps: Steps, time: float) -> int:
    """Return the step of a time, which is not before the first."""
    low, high = 0, steps.size[0]
    while high - low > 1:
        middle = (low + high) // 2
        if steps.times[middle] <= time:
            low = middle
        else:
            high = middle
    return low


@compiled_inside
def cut_at(steps: Steps, time: float) -> int:
    """Let a step begin at a time, and return it."""
    i, size = step_at(steps, time), steps.size[0]
    if steps.times[i] == time:
        return i
    for j in range(size, i + 1, -1):
        steps.times[j], steps.free[j] = steps.times[j - 1], steps.free[j - 1]
    steps.times[i + 1], steps.free[i + 1] = time, steps.free[i]
    steps.size[0] = size + 1
    return i + 1


@compiled_inside
def join_at(steps: Steps, i: int) -> None:
    """Join a step with the one before it, if as many nodes are free."""
    if 0 < i < steps.size[0] and steps.free[i] == steps.free[i - 1]:
        steps.size[0] -= 1
        for j in range(i, steps.size[0]):
            steps.times[j], steps.free[j] = steps.times[j + 1], steps.free[j + 1]


@compiled_inside
def add(steps: Steps, begin: float, end: float, nodes: int) -> None:
    """Let some more nodes be free from one time to another; fewer, if negative."""
    if begin < end:
        last = cut_at(steps, end)  # before the other, which may shift it
        low = cut_at(steps, begin)
        last = step_at(steps, end)
        for i in range(low, last):
            steps.free[i] += nodes
        join_at(steps, last)
        join_at(steps, low)


@compiled_inside
def earliest_fit(steps: Steps, nodes: int, seconds: float, before: float, own: float) -> float:
    """Return the first start before some time at which enough nodes are free for a run; infinite if there is none.

    From the time `own` on, the task itself has enough nodes by its present reservation.
    """
    i, size = 0, steps.size[0]
    while i < size and steps.times[i] < before:
        begin = steps.times[i]
        while i < size and steps.free[i] >= nodes and steps.times[i] < own:
            i += 1
            if i == size or steps.times[i] >= own or steps.times[i] >= begin + seconds:
                return float(begin)
        i += 1
    return math.inf


@compiled_inside
def built(queue: QueueView, m: int, reserved: tuple[Integers, Floats], steps: Steps) -> None:
    """Make the steps of a cluster from what runs and what is reserved there."""
    slots, first = queue.slots, queue.first
    clusters, starts = reserved
    most = first[m + 1] - first[m]
    for b in range(len(clusters)):
        most += 2 if clusters[b] == m else 0
    times, change, size = np.empty(most), np.empty(most, dtype=np.int64), 0
    for i in range(first[m], first[m + 1]):
        times[size], change[size] = max(slots.begin[i], queue.now), slots.high[i] - slots.low[i]
        size += 1
    for b in range(len(clusters)):
        if clusters[b] == m:
            k = queue.kind[b]
            times[size], change[size] = starts[b], -queue.need[k, m]
            times[size + 1], change[size + 1] = starts[b] + queue.seconds[k, m], queue.need[k, m]
            size += 2
    steps.times[0], steps.free[0], made = queue.now, 0, 0
    for i in sorted_by(times[:size]):
        if times[i] > steps.times[made]:
            if made == 0 or steps.free[made] != steps.free[made - 1]:
                made += 1
            steps.times[made], steps.free[made] = times[i], steps.free[made - 1]
        steps.free[made] += change[i]
    if made > 0 and steps.free[made] == steps.free[made - 1]:
        made -= 1
    steps.size[0] = made + 1


@compiled_inside
def last_difference(old: Steps, new: Steps, now: float) -> float:
    """Return the end of the last time from now on at which not as many nodes are free; -infinite: always as many."""
    i, j, upto = old.size[0] - 1, new.size[0] - 1, math.inf
    while upto > now:
        if old.free[i] != new.free[j]:
            return upto
        upto = max(old.times[i], new.times[j])
        i, j = i - (1 if old.times[i] == upto else 0), j - (1 if new.times[j] == upto else 0)
    return -math.inf


@compiled_inside
def reservations_of(numbers: Integers, plan: Plan) -> tuple[Integers, Floats]:
    """Return the cluster (-1: none) and the start (infinite) of each waiting task's reservation."""
    clusters, starts, w = np.full(len(numbers), -1), np.full(len(numbers), math.inf), 0
    for b in range(len(numbers)):
        while w < len(plan.tasks) and plan.tasks[w] < numbers[b]:
            w += 1
        if w < len(plan.tasks) and plan.tasks[w] == numbers[b]:
            clusters[b], starts[b] = plan.clusters[w], plan.starts[w]
    return clusters, starts


@compiled_inside
def cancel(queue: QueueView, reserved: tuple[Integers, Floats]) -> Mask:
    """Cancel reservations that cannot be kept, set aside the energy of the others; return whose cluster had some."""
    clusters, starts = reserved
    overdue, changed = np.zeros(len(queue.nodes), dtype=np.bool_), np.zeros(len(queue.nodes), dtype=np.bool_)
    for b in range(len(clusters)):
        if starts[b] < queue.now:
            overdue[clusters[b]] = True
    for b in range(len(clusters)):
        if clusters[b] >= 0:
            m, joules = clusters[b], counted(queue, queue.kind[b], clusters[b], starts[b])
            if overdue[m] or joules > queue.left[0]:
                clusters[b], starts[b], changed[m] = -1, math.inf, True
            else:
                queue.left[0] -= joules
    return changed


@compiled_inside
def empty_steps(queue: QueueView) -> list[Steps]:
    """Return room for the steps of each cluster: each run has two ends, and a cut needs two places for a while."""
    made = []
    for m in range(len(queue.nodes)):
        most = queue.first[m + 1] - queue.first[m] + 3
        for k in queue.kind:
            most += 2 if queue.need[k, m] <= queue.nodes[m] else 0
        made.append(Steps(np.empty(most), np.empty(most, dtype=np.int64), np.zeros(1, dtype=np.int64)))
    return made


@compiled_inside
def resume(old: Steps, now: float, expected: int, steps: Steps) -> bool:
    """Take over steps from now on, if as many nodes are free now as expected; return whether they are."""
    i = step_at(old, now)
    size = old.size[0] - i
    if old.free[i] != expected:
        return False
    steps.times[:size], steps.free[:size] = old.times[i:], old.free[i:]
    steps.times[0], steps.size[0] = now, size
    return True


@compiled_inside
def one_after_the_other(steps: list[Steps]) -> tuple[Floats, Integers, Integers]:
    """Return times and free nodes of all clusters, and where those of each begin."""
    first = np.zeros(len(steps) + 1, dtype=np.int64)
    for m in range(len(steps)):
        first[m + 1] = first[m] + steps[m].size[0]
    times, free = np.empty(first[-1]), np.empty(first[-1], dtype=np.int64)
    for m in range(len(steps)):
        size = steps[m].size[0]
        times[first[m] : first[m + 1]], free[first[m] : first[m + 1]] = steps[m].times[:size], steps[m].free[:size]
    return times, free, first


@compiled_inside
def compress(queue: QueueView, m: int, steps: Steps, reserved: tuple[Integers, Floats], freed: float) -> float:
    """Move reservations of a cluster up, once, in the order of arrival; return up to when that freed nodes.

    A reservation moves only to a time before nodes were freed, because it was at its earliest when it was looked at
    last, and to one where as many are free as it needs, because it has none of them.
    """
    (clusters, starts), moved = reserved, -math.inf
    most = most_free(steps, freed)
    for b in range(len(clusters)):
        k, before = queue.kind[b], starts[b]
        need, seconds = queue.need[k, m], queue.seconds[k, m]
        if clusters[b] != m or before <= queue.now or need > most:
            continue
        at = earliest_fit(steps, need, seconds, min(before, freed), before)
        more = counted(queue, k, m, min(at, before)) - counted(queue, k, m, before)
        if at < before and more <= queue.left[0]:
            queue.left[0] -= more
            starts[b] = at
            add(steps, before, before + seconds, need)
            add(steps, at, at + seconds, -need)
            moved = max(moved, before + seconds)
            freed = max(freed, moved)
            most = most_free(steps, freed)
    return moved


@compiled_inside
def most_free(steps: Steps, before: float) -> int:
    """Return the most nodes that are free at any time before another."""
    most = 0
    for i in range(steps.size[0]):
        if steps.times[i] >= before:
            break
        most = max(most, steps.free[i])
    return most


@compiled_inside
def reserve(queue: QueueView, b: int, steps: list[Steps], reserved: tuple[Integers, Floats]) -> None:
    """Reserve nodes for a task in the cluster where it can start first, if there is one."""
    k, best, soonest = queue.kind[b], -1, queue.ends_at
    for m in range(len(queue.nodes)):
        if queue.need[k, m] <= queue.nodes[m]:
            at = earliest_fit(steps[m], queue.need[k, m], queue.seconds[k, m], soonest, math.inf)
            if at < soonest and counted(queue, k, m, at) <= queue.left[0]:
                best, soonest = m, at
    if best >= 0:
        reserved[0][b], reserved[1][b] = best, soonest
        queue.left[0] -= counted(queue, k, best, soonest)
        add(steps[best], soonest, soonest + queue.seconds[k, best], -queue.need[k, best])


@compiled
def conservative(queue: QueueView, numbers: Integers, plan: Plan) -> tuple[Integers, Integers, Plan]:
    """Return the tasks that start now, by place, their clusters, and the plan for the next event."""
    reserved, free, freed = reservations_of(numbers, plan), free_now(queue), plan.freed.copy()
    changed, steps, (clusters, starts) = cancel(queue, reserved), empty_steps(queue), reserved
    for b in range(len(numbers)):
        if starts[b] <= queue.now:
            free[clusters[b]] -= queue.need[queue.kind[b], clusters[b]]
    for m in range(len(steps)):
        a, e = plan.first[m], plan.first[m + 1]
        old = Steps(plan.times[a:e], plan.free[a:e], np.array([e - a]))
        if changed[m] or not resume(old, queue.now, free[m], steps[m]):
            built(queue, m, reserved, steps[m])
            freed[m] = max(freed[m], last_difference(old, steps[m], queue.now))
            upto = freed[m] if queue.left[0] == math.inf else math.inf  # what had no energy before may have some now
            freed[m] = compress(queue, m, steps[m], reserved, upto)
    for b in range(len(numbers)):
        if clusters[b] < 0:
            reserve(queue, b, steps, reserved)
    due, later = np.flatnonzero(starts <= queue.now), np.flatnonzero((starts > queue.now) & (clusters >= 0))
    return due, clusters[due], Plan(numbers[later], clusters[later], starts[later], *one_after_the_other(steps), freed)
