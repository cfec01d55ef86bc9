"""First come, first served, EASY and conservative backfilling as published: on counts of the nodes of one cluster.

A job is (arrival, nodes, run seconds, requested seconds), the requested at least the run time. Jobs are in the order of
their arrival; equal arrivals are in the order of the list. The clock goes from one time at which something happens to
the next. At each: jobs end; then jobs arrive; then jobs start. Only counts matter: how many nodes are free when.

FCFS          the first job of the queue starts when enough nodes are free; all others wait behind it
EASY          as FCFS, and the first job that cannot start has a reservation: the *shadow time*, at which by the
              requested times enough running jobs will have ended. The *extra nodes* are free at the shadow time beyond
              what it needs. A later job starts now if enough nodes are free, and it either ends by the shadow time as
              requested, or takes no more than the extra nodes. The reservation is made anew whenever something happens
conservative  every job has a reservation, made as it arrives: the earliest time at which it delays none that was made
              before. When a job ends earlier than requested, the schedule is compressed: reservations are considered
              once, in the order of arrival; each is taken out, and put at the earliest time there is now
SJF           shortest job first, by request, equal ones by arrival; each that fits starts, nothing is reserved

Everything is counted again from the lists of jobs each time. Nothing of lpsched is used.

Sources: Lifka, The ANL/IBM SP scheduling system, 1995; Feitelson and Weil, Utilization and predictability in scheduling
the IBM SP2 with backfilling, 1998; Mu'alem and Feitelson, Utilization, predictability, workloads, and user runtime
estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12 (6), 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Job = tuple[float, int, float, float]


def fcfs(nodes: int, jobs: Sequence[Job]) -> list[float]:
    """Return when each job starts, first come, first served."""

    def begin(queue: list[int], running: dict[int, float], now: float) -> None:
        while queue and jobs[queue[0]][1] <= free_nodes(nodes, jobs, running):
            running[queue.pop(0)] = now

    return _simulate(jobs, begin)


def easy(nodes: int, jobs: Sequence[Job]) -> list[float]:
    """Return when each job starts under EASY backfilling."""

    def begin(queue: list[int], running: dict[int, float], now: float) -> None:
        while queue and jobs[queue[0]][1] <= free_nodes(nodes, jobs, running):
            running[queue.pop(0)] = now
        if not queue:
            return
        shadow_time, extra = reservation(nodes, jobs, running, jobs[queue[0]][1])
        for job in queue[1:]:
            _, wanted, _, requested = jobs[job]
            in_time = now + requested <= shadow_time
            if wanted <= free_nodes(nodes, jobs, running) and (in_time or wanted <= extra):
                running[job] = now
                queue.remove(job)
                if not in_time:
                    extra -= wanted

    return _simulate(jobs, begin)


def shortest_first(nodes: int, jobs: Sequence[Job]) -> list[float]:
    """Return when each job starts if the shortest by request goes first, and all that fit start."""

    def begin(queue: list[int], running: dict[int, float], now: float) -> None:
        for job in sorted(queue, key=lambda job: (jobs[job][3], job)):
            if jobs[job][1] <= free_nodes(nodes, jobs, running):
                running[job] = now
                queue.remove(job)

    return _simulate(jobs, begin)


def reservation(nodes: int, jobs: Sequence[Job], running: dict[int, float], wanted: int) -> tuple[float, int]:
    """Return the shadow time of a job that wants some nodes, and the extra nodes then."""
    planned_ends = sorted(start + jobs[job][3] for job, start in running.items())
    for time in planned_ends:
        free = nodes - sum(jobs[job][1] for job, start in running.items() if start + jobs[job][3] > time)
        if free >= wanted:
            return time, free - wanted
    raise ValueError(f"a job wants {wanted} of {nodes} nodes")


def free_nodes(nodes: int, jobs: Sequence[Job], running: dict[int, float]) -> int:
    """Return how many nodes run nothing."""
    return nodes - sum(jobs[job][1] for job in running)


def _simulate(jobs: Sequence[Job], begin: Callable[[list[int], dict[int, float], float], None]) -> list[float]:
    """Go from time to time; `begin` moves jobs from the queue to those that run (with their starts)."""
    starts, running = [0.0] * len(jobs), dict[int, float]()
    queue, arrived = list[int](), 0
    while arrived < len(jobs) or queue:
        ends = [start + jobs[job][2] for job, start in running.items()]
        now = min([*ends, *(job[0] for job in jobs[arrived : arrived + 1])])
        running = {job: start for job, start in running.items() if start + jobs[job][2] > now}
        while arrived < len(jobs) and jobs[arrived][0] <= now:
            queue.append(arrived)
            arrived += 1
        before = set(running)
        begin(queue, running, now)
        for job in running.keys() - before:
            starts[job] = now
    return starts


def conservative(nodes: int, jobs: Sequence[Job]) -> list[float]:
    """Return when each job starts under conservative backfilling."""
    running, reserved = dict[int, float](), dict[int, float]()  # starts
    starts, arrived = [0.0] * len(jobs), 0
    while arrived < len(jobs) or reserved:
        ends = [start + jobs[job][2] for job, start in running.items()]
        now = min([*ends, *reserved.values(), *(job[0] for job in jobs[arrived : arrived + 1])])
        ended = [job for job, start in running.items() if start + jobs[job][2] <= now]
        is_early = any(running[job] + jobs[job][3] > now for job in ended)
        for job in ended:
            del running[job]
        if is_early:
            for job in sorted(reserved):  # compression
                del reserved[job]
                reserved[job] = earliest(nodes, jobs, running | reserved, job, now)
        while arrived < len(jobs) and jobs[arrived][0] <= now:
            reserved[arrived] = earliest(nodes, jobs, running | reserved, arrived, now)
            arrived += 1
        for job in sorted(reserved):
            if reserved[job] <= now:
                starts[job] = running[job] = reserved.pop(job)
    return starts


def earliest(nodes: int, jobs: Sequence[Job], starts: dict[int, float], job: int, now: float) -> float:
    """Return the earliest start of a job beside others with these starts, all as long as requested."""
    planned = [(start, start + jobs[other][3], jobs[other][1]) for other, start in starts.items()]
    _, wanted, _, requested = jobs[job]

    def fits(time: float) -> bool:
        """Return whether enough nodes are free at a time, and whenever another job begins while this one runs."""
        looks = [time, *(begin for begin, _, _ in planned if time < begin < time + requested)]
        return all(nodes - sum(n for begin, end, n in planned if begin <= look < end) >= wanted for look in looks)

    return min(time for time in [now, *(end for _, end, _ in planned if end > now)] if fits(time))


POLICIES = {"fcfs": fcfs, "easy": easy, "conservative": conservative, "sjf": shortest_first}
