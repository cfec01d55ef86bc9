"""Random bags: by coefficients of variation, grown from a small one, or of the kind of a given one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import arrays_of
from lpsched.bag.model import Bag, sites_of
from lpsched.bag.parts import MachineType, Site, TaskType
from lpsched.errors import InputIssue, InstanceError
from lpsched.generate.gram_charlier import GramCharlier, Moments, gram_charlier, moments
from lpsched.generate.options import POWER_SCALING, SOURCE, CovOptions, GrowOptions, state_names, too_many_pairs
from lpsched.model.fields import LARGEST, MOST, SMALLEST, FrozenDict, numbered
from lpsched.model.table import Table

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask


# The coefficient-of-variation method, with special-purpose machines and P-states. Write G(mean, V) for a gamma
# distribution with that mean and coefficient of variation V: shape 1 / V^2, scale mean V^2 (V = 0 gives the mean
# itself). A draw below a billionth of the mean is raised to that.
#     q_i   ~ G(mean_seconds, task_cov)                 how long task type i takes on the whole
#     e_ij  ~ G(q_i, machine_cov)                       on a general-purpose machine type
#     e_ij  ~ G(q_i / special_speedup, special_cov)     on a special-purpose machine type, which runs only its own task
#                                                       types
#     b_j   ~ G(idle_watts, power_machine_cov)          idle (static) power of machine type j
#     d_i   ~ G(dynamic_watts, power_task_cov)          dynamic power of task type i on the whole
#     D_ij  ~ G(d_i, power_machine_cov)                 on machine type j
#     a_ij  = b_j + D_ij                                watts while it runs
# P-state k runs at a share f_k of the dynamic power (1, 0.75 and 0.5) and takes g times as long, g = max(1, G(1 /
# sqrt(f_k), 0.1)), drawn for each pair: P0 is always the fastest, and which P-state needs the least energy depends on
# the pair. Each special-purpose machine type has `special_least` to `special_most` task types of its own, which the
# general-purpose machine types run too. Every task type has at least one task; the others are spread evenly at random.
# Numbers are rounded to six significant digits. Sources: the method is that of Ali, Siegel, Maheswaran, Hensgen and
# Ali, Representing task and machine heterogeneities for heterogeneous computing systems, 2000; the default values are
# those of Friese's thesis of 2015, section 3.5.3.1 and appendix E, which gives no spread of g (0.1 is ours).
DIGITS: Final = 6
SLOWDOWN_COV: Final = 0.1
SMALLEST_COV: Final = 1e-15  # below, all draws are the mean in doubles
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
    row_means = gamma_draws(rng, np.full((size[0], 1), options.mean_seconds), options.task_cov)
    seconds = np.empty(size)
    seconds[:, special:] = gamma_draws(rng, np.repeat(row_means, size[1] - special, axis=1), options.machine_cov)
    own = own_tasks(rng, options, options.special_task_types)
    fast = np.repeat(row_means / options.special_speedup, special, axis=1)
    seconds[:, :special] = np.where(own, gamma_draws(rng, fast, options.special_cov), np.nan)
    idle = rounded(gamma_draws(rng, np.full(size[1], options.idle_watts), options.power_machine_cov))
    row_powers = gamma_draws(rng, np.full((size[0], 1), options.dynamic_watts), options.power_task_cov)
    dynamic = gamma_draws(rng, np.repeat(row_powers, size[1], axis=1), options.power_machine_cov)
    return CovTables(seconds, idle, dynamic)


def with_p_states(rng: np.random.Generator, tables: CovTables, p_states: int) -> tuple[Floats, Floats]:
    """Return seconds and watts of all P-states: all columns of machine type 0, then those of type 1, ..."""
    seconds, watts = [], []
    for share in POWER_SCALING[:p_states]:
        slower = np.ones(1)
        if share < 1.0:
            slower = np.maximum(1.0, gamma_draws(rng, np.full(tables.seconds.shape, share**-0.5), SLOWDOWN_COV))
        seconds.append(tables.seconds * slower)
        busy = tables.idle_watts + share * tables.dynamic_watts
        watts.append(np.where(np.isnan(tables.seconds), np.nan, busy))
    rows = len(tables.seconds)
    return np.stack(seconds, axis=2).reshape(rows, -1), np.stack(watts, axis=2).reshape(rows, -1)


def machine_counts(options: CovOptions) -> list[tuple[str, int]]:
    """Return the name of each machine type, and how many machines it has."""
    names = numbered("special", len(options.special_machines)) + numbered("general", len(options.machines))
    return list(zip(names, (*options.special_machines, *options.machines), strict=True))


def gamma_draws(rng: np.random.Generator, mean: Floats, cov: float) -> Floats:
    """Draw a number for each mean, with one coefficient of variation: G(mean, V)."""
    return (
        np.array(mean) if cov < SMALLEST_COV else np.maximum(rng.gamma(cov**-2, mean * cov**2), SMALLEST_SHARE * mean)
    )


def own_tasks(rng: np.random.Generator, options: CovOptions | GrowOptions, in_all: int | None = None) -> Mask:
    """Draw disjoint sets of task types for the special-purpose machine types; with `in_all`, of this total size."""
    own = np.zeros((options.task_types, len(options.special_machines)), dtype=np.bool_)
    waiting = rng.permutation(options.task_types)
    least, most = options.special_least, options.special_most
    numbers = [int(rng.integers(least, most, endpoint=True)) for _ in options.special_machines]
    while in_all is not None and sum(numbers) != in_all:
        step, last = (1, most) if sum(numbers) < in_all else (-1, least)
        movable = [j for j, number in enumerate(numbers) if number != last]
        numbers[movable[int(rng.integers(len(movable)))]] += step
    for j, number in enumerate(numbers):
        own[waiting[:number], j] = True
        waiting = waiting[number:]
    return own


def task_counts(rng: np.random.Generator, task_types: int, tasks: int) -> list[int]:
    """Give every task type one task and spread the others evenly at random."""
    drawn = rng.multinomial(tasks - task_types, np.full(task_types, 1.0 / task_types))
    return [count + 1 for count in drawn.tolist()]


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


# Growth: from a small table of real programs on real machines to one with more task types, alike in shape. For
# `seconds`, and likewise for `watts`, with T real task types and M machine types:
#     q_i   = mean over the general machine types of e_ij             the row mean of a real task type
#     r_ij  = e_ij / q_i                                              what machine type j needs of that mean
#     q_new ~ Gram-Charlier with the four moments of q_1 ... q_T
#     s_j   ~ Gram-Charlier with the four moments of r_1j ... r_Tj    for each machine type j by itself
#     e_new = q_new s_j / (mean over the general machine types of s_j)
# General machine types are those that run all real task types (if there is none: all that run task type i). The real
# task types stay as they are. No sample is below a tenth of the smallest number whose shape it has; `gram_charlier.py`
# says what shape is kept. Row means and ratios are drawn independently, so a machine type that is faster than another
# for every real task type need not be for every new one. The ratios of a new row are scaled to mean 1, as those of a
# real one have (the thesis does not scale). `Shape.new` has the resulting shape.
#
# Every new task type has a model among the real ones, at random, each as often as any other, and runs where its model
# runs. Above, e_ij is the time in the first P-state in which i runs on j. In the others a new task type takes e_ijk /
# e_ij times as long and draws a_ijk / a_ij times the power, i being its model: P-states rank as for a real program.
# Special-purpose machine types run two or three task types each, which no other of them runs, in a tenth of the task
# type's mean seconds and at its mean watts; their idle power is the mean of that of the others.
#
# One real task type has no spread: its new ones are its equals. Every task type has at least one task, the others are
# spread evenly at random. New numbers have six digits. Of prices and site only electricity, currency and PUE stay.
# Source: Friese, thesis of 2015, section 5.3.4.2; floor, scaling, models, P-states and idle power are ours.
FLOOR_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Shape:
    """Four moments: of the real numbers, of the density that was sampled, and of the new numbers, if any."""

    table: str  # seconds or watts
    of: str | None  # the machine type whose ratios they are; None for the row means
    real: Moments
    density: Moments
    new: Moments | None


@dataclass(frozen=True, slots=True)
class Growth:
    """A grown bag, and how well its numbers keep the shape of the real ones."""

    bag: Bag
    shapes: tuple[Shape, ...]


def grow(name: str, small: Bag, rng: np.random.Generator, options: GrowOptions | None = None) -> Growth:
    """Grow a bag; the same generator state gives the same bag."""
    options = options if options is not None else GrowOptions()
    _require_options(small, options)
    arrays = arrays_of(small)
    # the column of the first P-state in which each task type runs on each machine type, or -1
    first = np.full((len(small.task_types), len(small.machine_types)), -1)
    for column in range(len(arrays.machine_of) - 1, -1, -1):
        first[arrays.can_run[:, column], arrays.machine_of[column]] = column
    run_all = np.asarray((first >= 0).all(axis=0))
    general = run_all if run_all.any() else np.ones_like(run_all)
    real = np.arange(len(small.task_types))
    models = rng.permutation(np.resize(real, options.task_types - len(real)))
    all_first = first[np.concatenate((real, models))]
    own = own_tasks(rng, options)
    names = [machine.name for machine in small.machine_types]
    tables: list[Table] = []
    shapes: list[Shape] = []
    for key, known, speedup in (("seconds", arrays.seconds, options.special_speedup), ("watts", arrays.watts, 1.0)):
        if known is None:
            continue
        cells = np.where(arrays.can_run, known, np.nan)
        levels = _levels(cells, first)
        shown = [numbers if len(numbers) else np.ones(1) for numbers in _numbers(levels, general)]  # 1 without any
        densities = [gram_charlier(moments(each), floor=FLOOR_SHARE * float(each.min())) for each in shown]
        factors = _factors(cells, levels, arrays.machine_of)[models]
        new = _sampled(densities, first[models] >= 0, general, rng)[:, arrays.machine_of] * factors
        cells = np.vstack((cells, _in_range(key, new)))
        all_levels = _levels(cells, all_first)
        new_levels = all_levels[len(real) :]
        shapes += _shapes(key, names, densities, _numbers(levels, general), _numbers(new_levels, general))
        special = _in_range(key, np.where(own, _row_means(all_levels, general)[:, np.newaxis] / speedup, np.nan))
        tables.append(packed_table(np.hstack((special, cells))))
    counts = task_counts(rng, options.task_types, options.tasks)
    return Growth(_joined(name, small, options, counts, tables), tuple(shapes))


def _require_options(small: Bag, options: GrowOptions) -> None:
    """Raise an error if this bag cannot be grown to that."""
    issues = []
    real, types = len(small.task_types), len(small.machine_types)
    if options.task_types < real:
        needed = f"at least the {real} task types of the small bag"
        issues.append(InputIssue(("task_types",), str(options.task_types), needed, "ask for more"))
    if options.machines is not None and len(options.machines) != types:
        needed = f"{types}, one for each machine type of the small bag"
        issues.append(InputIssue(("machines",), f"{len(options.machines)} counts", needed, "add or drop some"))
    issues += too_many_pairs(options.task_types * (len(small.modes) + len(options.special_machines)))
    if issues:
        raise InstanceError(SOURCE, tuple(issues))


def _levels(cells: Floats, first: Integers) -> Floats:
    """Return the numbers in those first P-states, NaN where a pair cannot run: a column per machine type."""
    return np.where(first < 0, np.nan, np.take_along_axis(cells, np.maximum(first, 0), axis=1))


def _factors(cells: Floats, levels: Floats, machine_of: Integers) -> Floats:
    """Return what each P-state is of the first one; 1 where the first has no power that could be scaled."""
    of = levels[:, machine_of]
    return np.where(of == 0, np.where(np.isnan(cells), np.nan, 1.0), cells / np.where(of == 0, 1.0, of))


def _row_means(levels: Floats, general: Mask) -> Floats:
    """Return the means over the general machine types that run each task type; there is at least one."""
    counted = levels[:, general]
    means: Floats = np.nansum(counted, axis=1) / (~np.isnan(counted)).sum(axis=1)
    return means


def _numbers(levels: Floats, general: Mask) -> list[Floats]:
    """Return the row means, then for each machine type its numbers as shares of them, if it has any."""
    means = _row_means(levels, general)
    ratios = levels / np.where(means == 0, np.nan, means)[:, np.newaxis]
    return [means, *(column[~np.isnan(column)] for column in ratios.T)]


def _sampled(densities: list[GramCharlier], runs: Mask, general: Mask, rng: np.random.Generator) -> Floats:
    """Draw the numbers of new task types on the machine types that run them, NaN on the others."""
    means, *ratios = (density.samples(rng, len(runs)) for density in densities)
    shares = np.where(runs, np.stack(ratios, axis=1), np.nan)
    of = _row_means(shares, general)[:, np.newaxis]
    return means[:, np.newaxis] * np.where(of == 0, shares, shares / np.where(of == 0, 1.0, of))


def _shapes(
    key: str, names: list[str], densities: list[GramCharlier], real: list[Floats], new: list[Floats]
) -> list[Shape]:
    """Set side by side what there was, what was sampled from and what came out."""
    return [
        Shape(key, name, moments(was), density.kept, moments(came) if len(came) else None)
        for name, was, density, came in zip([None, *names], real, densities, new, strict=True)
        if len(was)
    ]


def _in_range(key: str, cells: Floats) -> Floats:
    """Round to six digits, inside the range of numbers that a bag may hold."""
    cells = np.minimum(LARGEST, rounded(cells))
    return np.maximum(SMALLEST, cells) if key == "seconds" else np.where(cells < SMALLEST, 0.0, cells)


def _joined(name: str, small: Bag, options: GrowOptions, counts: list[int], tables: list[Table]) -> Bag:
    machines = small.machine_types
    if options.machines is not None:
        machines = tuple(
            machine.model_copy(update={"count": count})
            for machine, count in zip(machines, options.machines, strict=True)
        )
    idle = six_digits(sum(machine.idle_watts for machine in machines) / len(machines))
    labels = _fresh("special", len(options.special_machines), [machine.name for machine in machines])
    special = tuple(
        MachineType(name=label, count=count, idle_watts=idle)
        for label, count in zip(labels, options.special_machines, strict=True)
    )
    known = [task.name for task in small.task_types]
    names = known + _fresh("grown", options.task_types - len(known), known)
    return Bag(
        name=name,
        machine_types=special + machines,
        task_types=tuple(TaskType(name=label, count=count) for label, count in zip(names, counts, strict=True)),
        seconds=tables[0],
        watts=tables[1] if len(tables) > 1 else None,
        prices=small.prices.model_copy(update={"per_bag": None, "per_task": FrozenDict(), "overhead_per_bag": 0.0}),
        site=Site(pue=small.site.pue),
    )


def _fresh(word: str, number: int, taken: list[str]) -> list[str]:
    """Return numbered names that are not taken: a grown bag can be grown again.

    >>> _fresh("grown", 2, ["zip", "grown-1"])
    ['grown-2', 'grown-3']
    """
    known = set(taken)
    more = sum(name.startswith(word) for name in taken)
    return [name for name in numbered(word, number + more) if name not in known][:number]


# Random bags of the kind of a given one: with n_i tasks of type i in the given bag and n in all, each task is of type i
# with probability n_i / n, independently; so the counts are multinomial. A type of which none is drawn is left out, as
# is its price. All else stays. Source: Tarplee, Maciejewski and Siegel, 2014, section V-B.
def resampled(bag: Bag, tasks: int, rng: np.random.Generator) -> Bag:
    """Return a bag of `tasks` tasks whose types are drawn from a bag's mix.

    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> types = (TaskType(name="often", count=90), TaskType(name="seldom", count=10))
    >>> bag = Bag("mixed", (MachineType(name="cpu", count=1),), types, Table.of([[1.0], [2.0]]))
    >>> often, seldom = resampled(bag, 1000, np.random.default_rng(0)).task_types
    >>> often.count + seldom.count, 70 < seldom.count < 130
    (1000, True)
    """
    if not 1 <= tasks <= MOST:
        issue = InputIssue(("tasks",), repr(tasks), f"a number from 1 to {MOST:g}", "change the option")
        raise InstanceError(SOURCE, (issue,))
    mix = np.array([task.count for task in bag.task_types], dtype=float)
    counts = rng.multinomial(tasks, mix / mix.sum()).tolist()
    drawn = [i for i, count in enumerate(counts) if count]
    names = {bag.task_types[i].name for i in drawn}
    per_task = {name: price for name, price in bag.prices.per_task.items() if name in names}
    return bag.model_copy(
        update={
            "name": f"{bag.name}, {tasks:,} tasks drawn",
            "task_types": tuple(bag.task_types[i].model_copy(update={"count": counts[i]}) for i in drawn),
            "seconds": Table.of([bag.seconds.row(i) for i in drawn]),
            "watts": None if bag.watts is None else Table.of([bag.watts.row(i) for i in drawn]),
            "prices": bag.prices.model_copy(update={"per_task": per_task}),
            "sites": sites_of(bag, drawn),
        }
    )
