"""From Slurm's accounting to a bag and to clusters.

A machine is a node. How many there are of each kind is said, or else the most that were in use at once by
jobs of the log: a lower limit, since idle nodes leave no trace. Where partitions share nodes, say what there
is of each, or take the system as one (`machines_by` = `all`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import nearest, quote
from lpsched.instance.waiting import WaitingCost
from lpsched.traces.bags import bag_of
from lpsched.traces.clusters import Machines, clusters_of
from lpsched.traces.concurrent import most_at_once
from lpsched.traces.jobs import refused
from lpsched.traces.slurm_jobs import SlurmChoice, slurm_jobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.files.slurm import SacctLog
    from lpsched.instance.clusters import Clusters
    from lpsched.traces.bags import LoggedBag
    from lpsched.traces.jobs import Account, Jobs

COMPLETED_BY_NAME: Final = SlurmChoice(group_by=("JobName",))
ALL_THAT_ENDED: Final = SlurmChoice(states=None)
USUAL_COST: Final = WaitingCost()


def bag_of_slurm(  # noqa: PLR0913 - all but the first two are options, given by name
    name: str,
    log: SacctLog,
    *,
    choice: SlurmChoice = COMPLETED_BY_NAME,
    counts: Mapping[str, int] | None = None,
    fill: bool = False,
    watts: bool = True,
) -> tuple[LoggedBag, Account]:
    """Return a log as a bag of tasks, one on each node of a job, and the account of its jobs.

    Parameters
    ----------
    counts
        Nodes of each machine type, by name; of those not named, the most that were in use at once.
    fill
        Estimate times and powers that no job tells.
    watts
        Write powers, if any job tells its energy.

    Raises
    ------
    InstanceError
        If no job counts, nobody says how many nodes there are, or times are there without powers.
    """
    jobs, ran, account = slurm_jobs(log, choice, name)
    machines = _counts(name, jobs, ran, counts or {})
    return bag_of(name, account.close(jobs), machines, fill=fill, watts=watts), account


def clusters_of_slurm(  # noqa: PLR0913 - all but the first two are options, given by name
    name: str,
    log: SacctLog,
    *,
    choice: SlurmChoice = ALL_THAT_ENDED,
    counts: Mapping[str, int] | None = None,
    watts_per_node: float | None = None,
    waiting: WaitingCost = USUAL_COST,
) -> tuple[Clusters, Account]:
    """Return a log as clusters and tasks that arrive, and the account of its jobs; limits are the requests.

    Raises
    ------
    InstanceError
        If no job counts, jobs have no submit time, or nobody says how many nodes there are.
    """
    jobs, ran, account = slurm_jobs(log, choice, name)
    unknown = np.isnan(jobs.submit_seconds)
    if unknown.any():
        found = f"{int(unknown.sum()):,} jobs without a submit time"
        raise refused(
            name, found, "the column Submit, with a time for every job", "ask sacct for it (--format)"
        )
    machines = Machines(nodes=_counts(name, jobs, ran, counts or {}), watts_per_node=watts_per_node)
    return clusters_of(name, jobs, machines, account, waiting=waiting), account


def _counts(name: str, jobs: Jobs, ran: Jobs, given: Mapping[str, int]) -> tuple[int, ...]:
    """Return how many nodes each of the machines has, in the order of `jobs.machines`."""
    for machine in given:
        if machine not in jobs.machines:
            do = nearest(machine, jobs.machines) or "correct it"
            needed = f"one of {', '.join(jobs.machines[:20])}"
            raise refused(name, f"a count for {quote(machine)}", needed, do)
    counts = []
    for number, machine in enumerate(ran.machines):
        if machine not in jobs.machines or machine in given:
            counts.append(given.get(machine, 0))
            continue
        here = ran.taken(ran.machine == number)
        if np.isnan(here.start_seconds).any():
            found = f"no start times on {quote(machine)}"
            needed = "the column Start, or the number of nodes"
            raise refused(name, found, needed, f"ask sacct for it, or say it: --count {machine}=N")
        counts.append(most_at_once(here.start_seconds, here.lasting().run_seconds, here.width))
    by_name = dict(zip(ran.machines, counts, strict=True))
    return tuple(by_name[machine] for machine in jobs.machines)
