"""Bags by the coefficient-of-variation method, with special-purpose machines and P-states.

Write G(mean, V) for a gamma distribution with that mean and coefficient of variation V: shape 1 / V^2,
scale mean V^2 (V = 0 gives the mean itself). A draw below a billionth of the mean is raised to that.

    q_i   ~ G(mean_seconds, task_cov)                 how long task type i takes on the whole
    e_ij  ~ G(q_i, machine_cov)                       on a general-purpose machine type
    e_ij  ~ G(q_i / special_speedup, special_cov)     on a special-purpose machine type, for its own
                                                      task types; it runs no others
    b_j   ~ G(idle_watts, power_machine_cov)          idle (static) power of machine type j
    d_i   ~ G(dynamic_watts, power_task_cov)          dynamic power of task type i on the whole
    D_ij  ~ G(d_i, power_machine_cov)                 on machine type j
    a_ij  = b_j + D_ij                                watts while it runs

P-state k runs at a share f_k of the dynamic power (1, 0.75 and 0.5) and takes g times as long,
g = max(1, G(1 / sqrt(f_k), 0.1)), drawn for each pair: P0 is always the fastest, and which P-state needs
the least energy depends on the pair.

Each special-purpose machine type has `special_least` to `special_most` task types of its own, which the
general-purpose machine types run too. Every task type has at least one task; the others are spread
evenly at random. Numbers are rounded to six significant digits.

Sources: the method is that of Ali, Siegel, Maheswaran, Hensgen and Ali, Representing task and machine
heterogeneities for heterogeneous computing systems, 2000; the default values are those of Friese's thesis of
2015, section 3.5.3.1 and appendix E, which gives no spread of g (0.1 is ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.generate.options import POWER_SCALING, CovOptions
from lpsched.model.fields import numbered
from lpsched.model.table import Table

if TYPE_CHECKING:
    from lpsched.generate.options import GrowOptions
    from lpsched.model.arrays import Floats, Mask

DIGITS: Final = 6
SLOWDOWN_COV: Final = 0.1
SMALLEST_SHARE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class CovTables:
    """Tables in P-state 0, a column for each machine type, special-purpose ones first; NaN cannot run."""

    seconds: Floats  # e_ij
    idle_watts: Floats  # b_j
    dynamic_watts: Floats  # D_ij


def cov_bag(name: str, rng: np.random.Generator, options: CovOptions | None = None) -> Bag:
    """Generate a bag; the same generator state gives the same bag."""
    options = options if options is not None else CovOptions()
    drawn = cov_tables(rng, options)
    seconds, watts = with_p_states(rng, drawn, options.p_states)
    tasks = zip(numbered("task", options.task_types), task_counts(rng, options.task_types, options.tasks), strict=True)
    return Bag(
        name=name,
        machine_types=tuple(
            MachineType(name=label, count=count, idle_watts=watts, p_states=state_names(options.p_states))
            for (label, count), watts in zip(machine_counts(options), drawn.idle_watts.tolist(), strict=True)
        ),
        task_types=tuple(TaskType(name=label, count=count) for label, count in tasks),
        seconds=packed_table(rounded(seconds)),
        watts=packed_table(rounded(watts)),
    )


def cov_tables(rng: np.random.Generator, options: CovOptions) -> CovTables:
    """Draw the tables of P-state 0; idle watts have six digits, the others all of theirs."""
    special = len(options.special_machines)
    size = (options.task_types, special + len(options.machines))
    row_means = gamma_draws(rng, np.full(options.task_types, options.mean_seconds), options.task_cov)[:, np.newaxis]
    seconds = np.empty(size)
    seconds[:, special:] = gamma_draws(
        rng, np.broadcast_to(row_means, (size[0], size[1] - special)), options.machine_cov
    )
    fast = np.broadcast_to(row_means / options.special_speedup, (size[0], special))
    own = own_tasks(rng, options, options.special_task_types)
    seconds[:, :special] = np.where(own, gamma_draws(rng, fast, options.special_cov), np.nan)
    idle = rounded(gamma_draws(rng, np.full(size[1], options.idle_watts), options.power_machine_cov))
    row_powers = gamma_draws(rng, np.full(options.task_types, options.dynamic_watts), options.power_task_cov)[
        :, np.newaxis
    ]
    dynamic = gamma_draws(rng, np.broadcast_to(row_powers, size), options.power_machine_cov)
    return CovTables(seconds, idle, dynamic)


def with_p_states(rng: np.random.Generator, tables: CovTables, p_states: int) -> tuple[Floats, Floats]:
    """Return seconds and watts of all P-states: all columns of machine type 0, then those of type 1, ..."""
    seconds, watts = [], []
    for share in POWER_SCALING[:p_states]:
        slower = (
            1.0
            if share == 1.0
            else np.maximum(1.0, gamma_draws(rng, np.full(tables.seconds.shape, share**-0.5), SLOWDOWN_COV))
        )
        seconds.append(tables.seconds * slower)
        busy = tables.idle_watts + share * tables.dynamic_watts
        watts.append(np.where(np.isnan(tables.seconds), np.nan, busy))
    rows = len(tables.seconds)
    return np.stack(seconds, axis=2).reshape(rows, -1), np.stack(watts, axis=2).reshape(rows, -1)


def state_names(p_states: int) -> tuple[str, ...] | None:
    """Return the names of so many P-states; one alone has no name."""
    return tuple(f"P{k}" for k in range(p_states)) if p_states > 1 else None


def machine_counts(options: CovOptions) -> list[tuple[str, int]]:
    """Return the name of each machine type, and how many machines it has."""
    names = numbered("special", len(options.special_machines)) + numbered("general", len(options.machines))
    return list(zip(names, (*options.special_machines, *options.machines), strict=True))


def gamma_draws(rng: np.random.Generator, mean: Floats, cov: float) -> Floats:
    """Draw a number for each mean, with one coefficient of variation: G(mean, V)."""
    return np.array(mean) if cov == 0 else np.maximum(rng.gamma(cov**-2, mean * cov**2), SMALLEST_SHARE * mean)


def own_tasks(rng: np.random.Generator, options: CovOptions | GrowOptions, in_all: int | None = None) -> Mask:
    """Draw which task types each special-purpose machine type runs: sets without common members.

    With `in_all`, numbers of task types drawn at random go up or down until they sum to that.
    """
    own = np.zeros((options.task_types, len(options.special_machines)), dtype=np.bool_)
    waiting = rng.permutation(options.task_types)
    for j, number in enumerate(_own_numbers(rng, options, in_all)):
        own[waiting[:number], j] = True
        waiting = waiting[number:]
    return own


def _own_numbers(rng: np.random.Generator, options: CovOptions | GrowOptions, in_all: int | None) -> list[int]:
    found = [
        int(rng.integers(options.special_least, options.special_most, endpoint=True)) for _ in options.special_machines
    ]
    while in_all is not None and sum(found) != in_all:
        step = 1 if sum(found) < in_all else -1
        last = options.special_most if step > 0 else options.special_least
        movable = [j for j, number in enumerate(found) if number != last]
        found[movable[int(rng.integers(len(movable)))]] += step
    return found


def task_counts(rng: np.random.Generator, task_types: int, tasks: int) -> list[int]:
    """Give every task type one task and spread the others evenly at random."""
    even = np.full(task_types, 1.0 / task_types)
    drawn = rng.multinomial(tasks - task_types, even) + 1
    return [int(count) for count in drawn]


def packed_table(cells: Floats) -> Table:
    """Pack the cells of a table; NaN cannot run."""
    cells = np.where(np.isnan(cells), np.nan, cells)  # one NaN for all: equal tables, equal bytes
    return Table(len(cells), cells.shape[1], cells.tobytes())


def rounded(values: Floats) -> Floats:
    """Round every number to six significant digits."""
    return np.array([six_digits(value) for value in values.ravel().tolist()]).reshape(values.shape)


def six_digits(value: float) -> float:
    """Round to six significant digits.

    >>> six_digits(1234.56789)
    1234.57
    """
    return float(f"{value:.{DIGITS}g}")
