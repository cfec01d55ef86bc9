"""The data sets of the thesis's chapters 2 to 7 and of the Jobs paper, made again by a seed, in their sizes.

What the thesis measured (seconds and watts of five programs on nine computers) is not public; `desktop.py`
has our stand-in. Everything that is drawn comes from a fixed seed, so that a data set is the same for
everyone. Chapter 5 spreads its task types over the tasks and its arrivals over the span in a way it does not
tell: here both are even. Chapter 7's arrivals follow waves and bursts; here they are even too. The days of
chapters 2 to 4 are those of `generate/day.py`: here is one of them, and a small one with an energy constraint. The
Jobs paper's clusters are those of `generate/clusters.py`, in both sizes too.

Sources: Friese, thesis of 2015, sections 2.6, 3.5, 5.5.1, 6.5.1, 6.6.1 and 7.3; Machovec et al. (2016),
section IV.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.model import with_machines
from lpsched.generate.bags import Growth, cov_bag, grow, task_counts
from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.day import day_of, essc_day
from lpsched.generate.options import CovOptions, EsscOptions, GrowOptions, MachovecOptions
from scripts.figures.shared.desktop import desktop_bag

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day

GROWTH_SEED: Final = 5
DAY_SEEDS: Final = {250: 250, 1_000: 1_000, 4_000: 4_000}
FRONT_SEED: Final = 6
ESSC_SEED: Final = 33
ENERGY_SEED: Final = 2
CLUSTERS_SEED: Final = 59  # each part of the system has more to do than it can, but not much more than others
SMALL_CLUSTERS_SEED: Final = 0

GENERAL_MACHINES: Final = (2, 3, 3, 3, 2, 4, 2, 5, 2)  # table 5.3, in the order of table 5.1
SPECIAL_MACHINES: Final = (1, 1, 1, 1)
THIRTY_SIX_MACHINES: Final = {2: (18,) * 2, 6: (6,) * 6, 9: (4,) * 9}  # by the number of machine types
CHAPTER_7_SPECIAL: Final = (2, 2, 3, 3)
SMALL_ESSC: Final = EsscOptions(  # 83 tasks an hour on four machines, as 50,000 a day on a hundred are
    tasks=2_000,
    hours=4.0,
    warm_up_hours=1.0,
    p_states=3,
    energy_gigajoules=0.045,
    task_types=50,
    machines=(1, 1, 1, 2, 2, 3, 3, 4, 5),
    special_machines=(1, 1),
)
CLUSTERS: Final = MachovecOptions(tasks=5_000, energy_gigajoules=12.0)
SMALL_CLUSTERS: Final = MachovecOptions(
    tasks=380,
    hours=8.0,
    warm_up_hours=1.0,
    begins_at_hour=9.0,
    energy_gigajoules=0.08,
    nodes=(12, 8),
    cores_per_node=(8, 16),
    special_nodes=(16,),
    special_cores_per_node=(8,),
    general_task_types=8,
    special_task_types=4,
    core_steps=(4, 16, 48),
    parallelism_share_least=0.2,
    parallelism_share_most=0.8,
)


def chapter_2() -> Day:
    """Return a day of chapter 2: 33,000 tasks in 24 hours after two of warm-up, a hundred machines."""
    return essc_day("essc-33k", ESSC_SEED, EsscOptions(tasks=33_000))


def small_chapter_3() -> Day:
    """Return a small relative of chapter 3's days: 2,000 tasks in four hours, 24 machines with P-states."""
    return essc_day("energy-2k", ENERGY_SEED, SMALL_ESSC)


def jobs_paper() -> Clusters:
    """Return the Jobs paper's clusters: 5,000 tasks in 24 hours after four of warm-up, and 12 GJ for them."""
    return machovec_clusters("clusters-5k", CLUSTERS_SEED, CLUSTERS)


def small_jobs_paper() -> Clusters:
    """Return a small relative of them: some 150 tasks in a working day of nine hours, 36 nodes."""
    return machovec_clusters("clusters-small", SMALL_CLUSTERS_SEED, SMALL_CLUSTERS)


@cache
def grown_desktop() -> Growth:
    """Grow the desktop benchmarks to 30 task types on 13 machine types, four of them special-purpose."""
    options = GrowOptions(task_types=30, tasks=1_000, machines=GENERAL_MACHINES, special_machines=SPECIAL_MACHINES)
    return grow("grown-30x13", desktop_bag(), np.random.default_rng(GROWTH_SEED), options)


def chapter_5(tasks: int) -> Day:
    """Return the first, second or third data set of chapter 5: 250, 1,000 or 4,000 tasks."""
    bag = desktop_bag() if tasks == 250 else grown_desktop().bag  # noqa: PLR2004 - the first one
    minutes = 60.0 if tasks == 4_000 else 15.0  # noqa: PLR2004 - the third one
    rng = np.random.default_rng(DAY_SEEDS[tasks])
    return day_of(f"utility-{tasks}", bag, rng, tasks=tasks, minutes=minutes)


def chapter_6_first() -> Bag:
    """Return the first investigation of chapter 6: 1,000 tasks of 50 types on 50 machines of 10 types.

    The thesis calls 0.1, 0.25 and 0.2 variances; they are taken as what its method works with, coefficients
    of variation.
    """
    rng = np.random.default_rng(FRONT_SEED)
    options = CovOptions(
        task_types=50,
        machines=tuple(task_counts(rng, 10, 50)),
        tasks=1_000,
        mean_seconds=10.0,
        task_cov=0.1,
        machine_cov=0.25,
        power_task_cov=0.1,
        power_machine_cov=0.2,
        idle_watts=0.0,
        dynamic_watts=200.0,
    )
    return cov_bag("front-50x10", rng, options)


def chapter_6_second(machine_types: int) -> Bag:
    """Return an environment of the second investigation: 36 machines of 2, 6 or 9 types, the same tasks."""
    bag = grown_desktop().bag
    general = bag.machine_types[len(SPECIAL_MACHINES) :]  # the special-purpose ones come first
    counts = dict.fromkeys((machine.name for machine in bag.machine_types), 0)
    kept = zip(general, THIRTY_SIX_MACHINES[machine_types], strict=False)
    counts |= {machine.name: count for machine, count in kept}
    return with_machines(bag, counts).model_copy(update={"name": f"front-30x{machine_types}"})


def chapter_7(rng: np.random.Generator) -> Day:
    """Return the system of chapter 7: 6,000 tasks of 100 types in four hours, 100 machines, 3 P-states."""
    options = CovOptions(task_types=100, tasks=6_000, special_machines=CHAPTER_7_SPECIAL, idle_watts=0.0, p_states=3)
    return day_of("chapter-7", cov_bag("chapter-7", rng, options), rng, tasks=6_000, minutes=240.0)
