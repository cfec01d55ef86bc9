"""Workloads of arriving tasks: from a bag, as the ESSC of the thesis, and further trials of generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar, get_origin

import numpy as np

from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.generate import clusters
from lpsched.generate.arrivals import THESIS_LEVELS, draw_bursts, draw_levels, draw_tasks, draw_waves, even_arrivals
from lpsched.generate.bags import CovTables, cov_tables, machine_counts, packed_table, rounded, with_p_states
from lpsched.generate.options import SOURCE, Affinity, EsscOptions, MachovecOptions, state_names
from lpsched.model.fields import numbered
from lpsched.online.clusters import Clusters
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.parts import MOST_TASKS, DayMachineType, DayTaskType
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.generate.arrivals import Rates
    from lpsched.model.table import Floats, Integers, Mask, Table


# Days of a bag: its machines, task types and tables. Of every task the type is drawn by the bag's counts, the arrival
# evenly from the span, and the levels of utility as in the thesis (`arrivals.py`). The watts are those while running a
# task; idle power, prices and site have no place in a day.
SECONDS_PER_MINUTE: Final = 60
MOST_MINUTES: Final = 1e9


def day_of(name: str, bag: Bag, rng: np.random.Generator, *, tasks: int, minutes: float) -> Day:
    """Make a day of a bag; the same generator state gives the same day."""
    issues = []
    if not 1 <= tasks <= MOST_TASKS:
        issues.append(InputIssue(("tasks",), str(tasks), f"1 to {MOST_TASKS:,}", "change the option"))
    if not 0 < minutes <= MOST_MINUTES:
        issues.append(InputIssue(("minutes",), repr(minutes), f"above 0, up to {MOST_MINUTES:g}", "change the option"))
    if bag.watts is None:
        issues.append(InputIssue(("watts",), "none in the bag", "watts of every pair", "add them to the bag"))
    if issues:
        raise InstanceError(SOURCE, tuple(issues))
    assert bag.watts is not None
    counts = np.array([task.count for task in bag.task_types], dtype=float)
    arrivals = even_arrivals(rng, tasks, SECONDS_PER_MINUTE * minutes)
    types = rng.choice(len(counts), size=tasks, p=counts / counts.sum())
    return Day(
        name=name,
        machine_types=tuple(DayMachineType(each.name, each.count, each.p_states) for each in bag.machine_types),
        task_types=tuple(DayTaskType(task.name) for task in bag.task_types),
        seconds=bag.seconds,
        watts=bag.watts,
        tasks=ArrivingTasks.of(arrivals.tolist(), types.tolist(), draw_levels(rng, tasks)),
        **dict(THESIS_LEVELS),
    )


# Environments of low and of high affinity: the same machines and tasks, which suit each other less or more. The speeds
# s_ij = 1 / e_ij of the general-purpose machine types have the singular values and vectors sigma_1 >= sigma_2 >= ...,
# u_k and v_k. *Low*: only the first pair is kept, sigma_1 u_1 v_1': every task type ranks the machine types alike.
# *High*: in turn, for k = 2, 3, ..., some of u_k v_k' is added, which makes sigma_k larger and leaves the other
# singular values as they are. No speed may fall below a fifth of what it was; each step takes half of what that allows,
# until nothing is left to take. Special-purpose machine types run their own task types ten times as fast as the
# general-purpose ones do on average over machine types (of speeds, not of seconds).
#
# The thesis adds as much as leaves no speed negative, in one turn. Taken literally, a speed becomes 0 in the first
# step, which no table of seconds can hold, and as often as not stops the steps that follow: over 48 trials the affinity
# is then 0.10 to 0.17, where the thesis prints 0.14 to 0.18. Half steps and the floor, both ours, give 0.14 to 0.18.
# The floor also keeps mean seconds, on which utility depends, near the old ones. Source: Friese, thesis of 2015,
# section 3.5.3.2.
SPECIAL_SPEEDUP: Final = 10.0
SLOWEST_SHARE: Final = 0.2  # of its speed before; ours
STEP_SHARE: Final = 0.5  # of what is allowed; ours
TURNS: Final = 40  # each leaves at most half of the room of the one before


def with_affinity(seconds: Floats, special: int, affinity: Affinity) -> Floats:
    """Return seconds of another affinity; the first `special` columns are special-purpose machine types."""
    if affinity == "example":
        return seconds
    change = low_affinity if affinity == "low" else high_affinity
    speeds = change(1.0 / seconds[:, special:])
    fast = np.broadcast_to(SPECIAL_SPEEDUP * speeds.mean(axis=1, keepdims=True), (len(seconds), special))
    own = ~np.isnan(seconds[:, :special])
    return 1.0 / np.hstack((np.where(own, fast, np.nan), speeds))


def low_affinity(speeds: Floats) -> Floats:
    """Return the nearest table in which all task types rank the machine types alike.

    >>> low_affinity(np.array([[4.0, 2.0], [2.0, 4.0]])).round(6).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    left, sizes, right = np.linalg.svd(speeds, full_matrices=False)
    nearest: Floats = sizes[0] * np.outer(left[:, 0], right[0])
    return nearest


def high_affinity(speeds: Floats) -> Floats:
    """Return a table in which task types differ more in which machine types suit them.

    The difference between rows grows until 2 has become a fifth of itself, and 4 as much more:

    >>> high_affinity(np.array([[4.0, 2.0], [2.0, 4.0]])).round(6).tolist()
    [[5.6, 0.4], [0.4, 5.6]]
    """
    left, _, right = np.linalg.svd(speeds, full_matrices=False)
    steps = [np.outer(left[:, k], right[k]) for k in range(1, min(speeds.shape))]
    floor = SLOWEST_SHARE * speeds
    found = speeds
    for _ in range(TURNS):
        for step in steps:
            falling = step < 0
            if falling.any():  # room: how often the step can be taken before one that falls is at the floor
                room = max(0.0, float(((found - floor)[falling] / -step[falling]).min()))
                found = found + STEP_SHARE * room * step
    return found


# The day of the thesis: a hundred machines, a hundred task types, and tasks in waves and bursts.
#     N, T    tasks of the period on average, and task types
#     n_i     ~ Gaussian(N / T, variance N / T / 10)      tasks of type i on average; from 0 to twice the mean
#     rate    n_i / length of the period, times the waves or bursts of `arrivals.py`
# Tables come by `bags.py`, with 17 task types of their own for the four special-purpose machine types together (bursts;
# the 83 others have waves), and by `with_affinity`; P-states are drawn after that. Static and dynamic power are one
# number in a day: idle machines take nothing. Warm-up and period have the same rates at the same hour of the day. The
# number of tasks is random, with the mean N in the period; a draw without any task is drawn again. Arrivals have
# hundredths of a second, tables six digits; those of low affinity have all, since rounding would bring back an affinity
# of 1e-7. Trial t of a seed is the same kind of day from the random numbers of the seeds (seed, t). Source: Friese,
# thesis of 2015, sections 2.6, 3.5 and 4.4, appendices B to F.
NAME: Final = "essc"
VARIANCE_SHARE: Final = 0.1  # of the mean number of tasks of a type


def essc_day(name: str, seed: int, options: EsscOptions, trial: tuple[int, ...] = ()) -> Day:
    """Generate a day; the same seed, options and trial give the same day.

    >>> day = essc_day("short", 1, EsscOptions(tasks=500, hours=1.0))
    >>> day.machines, day.period.ends_at, 1_300 < day.tasks < 1_700
    (100, 10800.0, True)
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, *trial]))
    seconds, watts, bursty = _tables(rng, options)
    arrivals, types = _tasks(rng, options, bursty)
    states = state_names(options.p_states)
    return Day(
        name=name,
        machine_types=tuple(DayMachineType(label, count, states) for label, count in machine_counts(options.tables)),
        task_types=tuple(DayTaskType(label) for label in numbered("task", options.task_types)),
        seconds=seconds,
        watts=watts,
        tasks=ArrivingTasks.of(arrivals.tolist(), types.tolist(), draw_levels(rng, len(arrivals))),
        **dict(THESIS_LEVELS),
        period=options.period,
        made_by=options.note(NAME, seed, trial),
    )


def _tables(rng: np.random.Generator, options: EsscOptions) -> tuple[Table, Table, Mask]:
    """Draw seconds and watts, and which task types are special-purpose."""
    special = len(options.special_machines)
    drawn = cov_tables(rng, options.tables)
    changed = with_affinity(drawn.seconds, special, options.affinity)
    seconds, watts = with_p_states(rng, CovTables(changed, drawn.idle_watts, drawn.dynamic_watts), options.p_states)
    own: Mask = np.asarray((~np.isnan(drawn.seconds[:, :special])).any(axis=1))
    kept = seconds if options.affinity == "low" else rounded(seconds)
    return packed_table(kept), packed_table(rounded(watts)), own


def _tasks(rng: np.random.Generator, options: EsscOptions, bursty: Mask) -> tuple[Floats, Integers]:
    length = SECONDS_PER_HOUR * options.hours

    def draw() -> Iterator[tuple[Rates, float]]:
        for bursts, number in zip(bursty.tolist(), mean_numbers(rng, options).tolist(), strict=True):
            yield draw_bursts(rng, length) if bursts else draw_waves(rng, length), number / length

    return draw_tasks(rng, draw, length, options.period.warm_up_seconds)


def mean_numbers(rng: np.random.Generator, options: EsscOptions) -> Floats:
    """Draw how many tasks of each type the period has on average."""
    mean = options.tasks / options.task_types
    drawn = rng.normal(mean, np.sqrt(VARIANCE_SHARE * mean), size=options.task_types)
    return np.clip(drawn, 0.0, 2.0 * mean)  # on both sides alike, so that the mean stays


# Trial t of a generated day, or of clusters: trial 0 is the instance itself, trial t is made by its generator with its
# options, from random numbers of its own. The period is the instance's as it stands, so that an energy constraint that
# was put in later holds in all trials. Trials of a trial are other draws again.
Arriving = TypeVar("Arriving", Day, Clusters)
KINDS: Final = {  # what an entry of a note must be, by the type of the option
    int: "a whole number from 0",
    tuple: "a list of whole numbers from 0",
    float: "a number",
    Literal: "a word",
}


class Maker(NamedTuple):
    """A generator: the name that it notes, what it makes, its options, and its function."""

    name: str
    noun: str  # as in `lpsched generate NOUN`
    machines: str
    options: type[EsscOptions | MachovecOptions]
    make: Callable[[str, int, Any, tuple[int, ...]], Day | Clusters]

    @property
    def advice(self) -> str:
        """What to do where there is no instance that it made."""
        return f"generate {'a day' if self.noun == 'day' else self.noun} with"


OF_DAYS: Final = Maker(NAME, "day", "machine types", EsscOptions, essc_day)
OF_CLUSTERS: Final = Maker(clusters.NAME, "clusters", "clusters", MachovecOptions, clusters.machovec_clusters)


def another_day(given: Arriving, trial: int) -> Arriving:
    """Return trial number `trial` of a day or of clusters."""
    if trial == 0:
        return given
    maker = OF_DAYS if isinstance(given, Day) else OF_CLUSTERS
    note = _note_of(given, maker)
    before: tuple[int, ...] = note.get("trial", ())
    options = maker.options(**{name: note[name] for name in maker.options.model_fields if name in note})
    name = given.name.removesuffix(_suffix(before))
    made = maker.make(name, note["seed"], options, (*before, trial))
    assert isinstance(made, type(given))
    if made.runs_on() != given.runs_on() or made.task_types != given.task_types:
        found = f"{maker.machines} or task types that were changed later"
        advice = f"{maker.advice} the machines it should have"
        raise InstanceError(given.name, (InputIssue(("made_by",), found, "those of the generator", advice),))
    return made.model_copy(update={"name": name + _suffix((*before, trial)), "period": given.period})


def _suffix(trial: tuple[int, ...]) -> str:
    return f"-trial-{'-'.join(map(str, trial))}" if trial else ""


def _note_of(given: Day | Clusters, maker: Maker) -> dict[str, Any]:
    """Return the note of the generator of an instance, with tuples for lists."""
    note = given.made_by or {}
    kinds = {"generator": Literal, "seed": int, "trial": tuple}
    kinds |= {name: get_origin(kind) or kind for name, kind in maker.options.types().items()}
    do = f"run it alone, or {maker.advice} `lpsched generate {maker.noun} --tasks N --seed S -o FILE`"
    issues = []
    if given.made_by is None:
        issues.append(InputIssue(("made_by",), "nothing", "a generator, which makes others like it", do))
    elif note.get("generator") != maker.name:
        issues.append(InputIssue(("made_by", "generator"), quote(str(note.get("generator"))), quote(maker.name), do))
    else:
        do = "correct it, or drop made_by"
        for key, value in note.items():
            if key not in kinds:
                issues.append(InputIssue(("made_by", key), "a key that this generator does not know", "none such", do))
            elif not _is(kinds[key], value):
                issues.append(InputIssue(("made_by", key), quote(str(value)), KINDS[kinds[key]], do))
    if issues:
        raise InstanceError(given.name, tuple(issues))
    return {key: tuple(value) if kinds[key] is tuple else value for key, value in note.items()}


def _is(kind: object, value: object) -> bool:
    """Return whether a value is of a kind; bools are no numbers."""
    if kind is Literal:
        return isinstance(value, str)
    if kind is tuple:
        return isinstance(value, list | tuple) and all(_is(int, each) for each in value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (kind is float or (isinstance(value, int) and value >= 0))
