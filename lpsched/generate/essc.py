"""The day of the thesis: a hundred machines, a hundred task types, and tasks in waves and bursts.

    N, T    tasks of the period on average, and task types
    n_i     ~ Gaussian(N / T, variance N / T / 10)      tasks of type i on average; from 0 to twice the mean
    rate    n_i / length of the period, times the waves or bursts of `arrival_rates.py`

Tables come by `cov.py`, with 17 task types of their own for the four special-purpose machine types together
(bursts; the 83 others have waves), and by `affinity.py`; P-states are drawn after that. Priority, urgency and
utility class come by `utilities.py`. Static and dynamic power are one number in a day: machines that run
nothing take nothing.

Warm-up and period have the same rates at the same hour of the day. The number of tasks is random, with the
mean N in the period; a draw without any task is drawn again. Arrivals have hundredths of a second, tables six
digits. Tables of low affinity have all their digits: rounding would bring back an affinity of 1e-7.

Trial t of a seed is the same kind of day from other random numbers, those of the seeds (seed, t).

Source: Friese, thesis of 2015, sections 2.6, 3.5 and 4.4, appendices B to F.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.generate.affinity import Affinity, with_affinity
from lpsched.generate.arrival_rates import draw_arrivals, draw_bursts, draw_waves, in_order
from lpsched.generate.cov import (
    CovTables,
    cov_tables,
    machine_counts,
    packed_table,
    rounded,
    state_names,
    with_p_states,
)
from lpsched.generate.utilities import THESIS_LEVELS, draw_levels
from lpsched.instance.day import ArrivingTasks, Day, DayMachineType, DayTaskType
from lpsched.instance.fields import numbered

if TYPE_CHECKING:
    from lpsched.generate.essc_options import EsscOptions
    from lpsched.instance import Table
    from lpsched.instance.array_types import Floats, Integers, Mask

NAME: Final = "essc"
VARIANCE_SHARE: Final = 0.1  # of the mean number of tasks of a type


def essc_day(name: str, seed: int, options: EsscOptions, trial: tuple[int, ...] = ()) -> Day:
    """Generate a day; the same seed, options and trial give the same day.

    >>> from lpsched.generate.essc_options import EsscOptions
    >>> day = essc_day("short", 1, EsscOptions(tasks=500, hours=1.0))
    >>> day.machines, day.period.ends_at, 1_300 < day.tasks < 1_700
    (100, 10800.0, True)
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, *trial]))
    seconds, watts, bursty = _tables(rng, options)
    arrivals, types = _tasks(rng, options, bursty)
    states = state_names(options.p_states)
    return Day(
        name,
        tuple(DayMachineType(label, count, states) for label, count in machine_counts(options.tables)),
        tuple(DayTaskType(label) for label in numbered("task", options.task_types)),
        seconds,
        watts,
        ArrivingTasks.of(arrivals.tolist(), types.tolist(), draw_levels(rng, len(arrivals))),
        THESIS_LEVELS,
        period=options.period,
        made_by=_made_by(seed, options, trial),
    )


def _made_by(seed: int, options: EsscOptions, trial: tuple[int, ...]) -> dict[str, Any]:
    """Return what makes the day again, without options that are not given."""
    said = {"generator": NAME, "seed": seed} | ({"trial": trial} if trial else {})
    return said | {key: value for key, value in asdict(options).items() if value is not None}


def _tables(rng: np.random.Generator, options: EsscOptions) -> tuple[Table, Table, Mask]:
    """Draw seconds and watts, and which task types are special-purpose."""
    special = len(options.special_machines)
    drawn = cov_tables(rng, options.tables)
    affinity = Affinity(options.affinity)
    changed = with_affinity(drawn.seconds, special, affinity)
    seconds, watts = with_p_states(
        rng, CovTables(changed, drawn.idle_watts, drawn.dynamic_watts), options.p_states
    )
    own: Mask = np.asarray((~np.isnan(drawn.seconds[:, :special])).any(axis=1))
    kept = seconds if affinity is Affinity.LOW else rounded(seconds)
    return packed_table(kept), packed_table(rounded(watts)), own


def _tasks(rng: np.random.Generator, options: EsscOptions, bursty: Mask) -> tuple[Floats, Integers]:
    """Draw when tasks arrive, in rising order, and of which type they are."""
    period = options.period
    assert period.length_seconds is not None
    length, warm_up = period.length_seconds, period.warm_up_seconds
    while True:
        found = [
            draw_arrivals(
                rng,
                draw_bursts(rng, length) if bursts else draw_waves(rng, length),
                per_second=number / length,
                begin=-warm_up,
                end=length,
            )
            for bursts, number in zip(bursty.tolist(), mean_numbers(rng, options).tolist(), strict=True)
        ]
        if any(len(each) for each in found):
            return in_order(found, warm_up)


def mean_numbers(rng: np.random.Generator, options: EsscOptions) -> Floats:
    """Draw how many tasks of each type the period has on average."""
    mean = options.tasks / options.task_types
    drawn = rng.normal(mean, np.sqrt(VARIANCE_SHARE * mean), size=options.task_types)
    numbers: Floats = np.clip(drawn, 0.0, 2.0 * mean)  # on both sides alike, so that the mean stays
    return numbers
