"""Heuristics for bags: rules from the literature, each compared with the bounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.bag.arrays import arrays_of
from lpsched.bag.ready_machines import Group, Lowest, PairTimes, ReadyMachines, Way, lowest, shift_of, streams_of
from lpsched.bag.schedule import MachineGroup, Run, Schedule, TaskRow, run_of
from lpsched.errors import InputIssue, InstanceError
from lpsched.plugins import Named

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats, Integers


# Rules that hand out the tasks type by type, in the order of the file. All of them work on counts.
def _in_file_order(bag: Bag, ways: Callable[[PairTimes, int], list[Way]], *, by_start: bool = False) -> Schedule:
    """Hand out the tasks of each type to its ways: each to the machine that ends it, or starts it, first."""
    times, machines = PairTimes.of(bag), ReadyMachines(bag)
    for i, task in enumerate(bag.task_types):
        machines.give(i, ways(times, i), task.count, by_start=by_start)
    return machines.schedule()


# MET, minimum execution time: each task goes to the machine type that runs it fastest, however busy that is.
# All tasks of a type go to one machine type, the first of those that are fastest, and there each to the machine
# that is ready first.
#
# Source: Armstrong, Hensgen and Kidd, 1998; Braun and others, 2001.
def minimum_execution_time(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine type that runs it fastest."""
    return _in_file_order(bag, lambda times, i: [times.way(i, int(times.seconds[i].argmin()))])


# MCT, minimum completion time: each task goes to the machine that would end it first.
#
# n equal tasks one after the other take the n smallest of the completion times  R_g + q e_ij,  q = 1, 2, ...,
# over all machines g: the machine that takes one is ready that much later, and all others stay as they are
# (`ready_machines.py`). Ties go to the lowest machine type.
#
# Source: Armstrong, Hensgen and Kidd, "The relative performance of various mapping algorithms is independent
# of sizable variances in run-time predictions", 1998; Braun and others, 2001.
def minimum_completion_time(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine that ends it first."""
    return _in_file_order(bag, PairTimes.ways)


# OLB, opportunistic load balancing: each task goes to the machine that is ready first, however slow it is.
# n equal tasks one after the other take the n smallest of the start times  R_g + q e_ij,  q = 0, 1, ...,  over
# all machines that can run them. Ties go to the lowest machine type.
#
# Source: Armstrong, Hensgen and Kidd, 1998; Freund and others, "Scheduling resources in multi-user,
# heterogeneous, computing environments with SmartNet", 1998; Braun and others, 2001.
def opportunistic(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine that starts it first."""
    return _in_file_order(bag, PairTimes.ways, by_start=True)


# KPB, k-percent best: each task goes to the machine that ends it first, of the k % that run it fastest.
#
# The machines that can run a task are put in the order of its execution time; whole machine types, the
# fastest first (of equally fast ones the lowest), until they hold at least k % of those machines. With few
# per cent the rule is MET, with all of them MCT.
#
# Source: Maheswaran, Ali, Siegel, Hensgen and Freund, "Dynamic mapping of a class of independent tasks onto
# heterogeneous computing systems", 1999, where 20 % did well on inconsistent times.
PERCENT: Final = 20.0


def k_percent_best(bag: Bag, _rng: np.random.Generator, *, percent: float = PERCENT) -> Schedule:
    """Hand every task to the machine that ends it first, of the fastest ones."""
    return _in_file_order(bag, lambda times, i: _best(bag, times.ways(i), percent))


def _best(bag: Bag, ways: list[Way], percent: float) -> list[Way]:
    """Return the fastest ways, until they are on enough machines, by machine type."""
    enough = percent / 100.0 * sum(bag.machine_types[way.j].count for way in ways)
    chosen: list[Way] = []
    there = 0
    for way in sorted(ways, key=lambda way: (way.ticks, way.j)):
        chosen.append(way)
        there += bag.machine_types[way.j].count
        if there >= enough:
            break
    return sorted(chosen, key=lambda way: way.j)


# Rules that go step by step may take as many steps as there are tasks: their number is limited. A rule that has handed
# out x of n tasks in s steps is expected to take s n / x. That is checked regularly, so that hopeless work ends within
# a second or two; other work may go on to the limit.
MOST_STEPS: Final = 500_000  # half a minute
BETWEEN_LOOKS: Final = 20_000
HOPELESS: Final = 2 * MOST_STEPS  # an expectation may be wrong


@dataclass(slots=True)
class Steps:
    """Counts the steps of a rule, and the tasks that they handed out."""

    bag: Bag
    rule: str
    steps: int = 0
    tasks: int = 0

    def expect(self, at_least: int) -> None:
        """Raise an error if at least this many steps are needed, and that is too many."""
        if at_least > MOST_STEPS:
            raise self._too_many(f"at least {at_least:,}")

    def step(self, tasks: int) -> None:
        """Count a step that handed out this many tasks."""
        self.steps += 1
        self.tasks += tasks
        if self.steps % BETWEEN_LOOKS:
            return
        expected = self.steps * self.bag.tasks // self.tasks
        if self.steps >= MOST_STEPS or expected > HOPELESS:
            raise self._too_many(f"about {expected:,}")

    def _too_many(self, needed: str) -> InstanceError:
        found = f"{self.bag.tasks:,} tasks, for which {self.rule} takes {needed} steps"
        do = "take min-min or mct, which hand out any number of equal tasks at once"
        return InstanceError(self.bag.name, (InputIssue(("task_types",), found, f"at most {MOST_STEPS:,}", do),))


# Min-min: of all tasks and machines, the pair that would end first; again and again.
#
#     R_g   when machine g, of type j, is ready        s(j)  the shortest task type left for machine type j
#
# The rule takes the least R_g + e_ij over all tasks i that are left and all machines g; ties go to the lowest task
# type, then to the lowest machine type. Said so it goes task by task, but it has an exact form on counts:
#
# 1. For a machine of type j the least R_g + e_ij is that of s(j), whatever R_g is. So while no task type is
#    used up, a machine of type j runs s(j) over and over, and its completion times are R_g + q e_s(j)j,
#    q = 1, 2, ...
# 2. What is chosen is the least of the next completion times. The machine's next one is later, and all others
#    stay: so completion times are chosen in rising order, as if all those sequences were merged.
# 3. A used-up type makes s(j) another one, not shorter. So the next completion of those machines is not earlier
#    than what was chosen last, and rising order goes on.
#
# So task type i, while the machine types with s(j) = i stay the same, is used up at the n_i-th smallest of
# their completion times (`ready_machines.py`). A phase finds the type that is used up first, and moves its
# machine types on to their next shortest. What the others have done until then is settled only when machine
# types join them. There are as many phases as task types, and no phase looks at single tasks.
#
# Settled is what ended before the moment at which type i is used up. What ends at that very moment on machines of
# another type i' is left to the next plan, and taken there in the right order: if i' > i, it comes after i anyhow; if
# i' < i, machines that join i' end their first task later, since i was shorter for them.
#
# Source: Ibarra and Kim, "Heuristic algorithms for scheduling independent tasks on nonidentical processors",
# 1977; Braun and others, "A comparison of eleven static heuristics for mapping a class of independent tasks
# onto heterogeneous distributed computing systems", 2001. The form on counts is ours.
def min_min(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand out the task that would end first, until none is left."""
    phases = _Phases(bag)
    while phases.plans:
        phases.use_up(*min((taken.last, i) for i, (_, taken) in phases.plans.items()))
    return phases.machines.schedule()


class _Phases:
    """Which task type each machine type runs now, and when each of those task types would be used up."""

    def __init__(self, bag: Bag) -> None:
        self.machines, self.times = ReadyMachines(bag), PairTimes.of(bag)
        self.left = [task.count for task in bag.task_types]
        self.order = np.argsort(self.times.seconds, axis=0, kind="stable")  # of each machine type
        self.place = [0] * len(bag.machine_types)
        self.users: dict[int, list[int]] = {}
        # How all tasks that are left of a type would be handed out, if its machine types stayed the same.
        self.plans: dict[int, tuple[list[tuple[Group, Way]], Lowest]] = {}
        self._join(range(len(bag.machine_types)))

    def use_up(self, time: int, i: int) -> None:
        """Hand out the rest of a task type, and let its machine types go on to their next shortest."""
        self.machines.take(i, *self.plans.pop(i))
        self.left[i] = 0
        free = self.users.pop(i)
        for other in self.plans.keys() & {self._shortest(j) for j in free}:
            self._settle(other, time - 1)
        self._join(free)

    def _shortest(self, j: int) -> int | None:
        """Return the shortest task type left for a machine type; `None` if it can run none of them."""
        while self.place[j] < len(self.left):
            i = int(self.order[self.place[j], j])
            if not np.isfinite(self.times.seconds[i, j]):
                return None
            if self.left[i]:
                return i
            self.place[j] += 1
        return None

    def _settle(self, i: int, time: int) -> None:
        """Let a type's machines do what they have done by a time."""
        owners, _ = self.plans[i]
        rounds = [each.rounds(time) for each in streams_of(owners)]
        self.left[i] -= sum(group.machines * n for (group, _), n in zip(owners, rounds, strict=True))
        assert self.left[i] > 0, "it would have been used up before"
        self.machines.take(i, owners, Lowest(rounds, None, time))

    def _join(self, free: range | list[int]) -> None:
        """Let machine types run their shortest task type, and plan anew what that changes."""
        joined = set()
        for j in free:
            i = self._shortest(j)
            if i is not None:
                self.users.setdefault(i, []).append(j)
                joined.add(i)
        for i in joined:
            owners = self.machines.owners([self.times.way(i, j) for j in sorted(self.users[i])])
            self.plans[i] = owners, lowest(streams_of(owners), self.left[i])


# Max-min: of the tasks, each on the machine that would end it first, the one that would end last.
#
#     C_i = min over machines g of R_g + e_ij       the largest C_i is taken, on the machine that gives it
#
# Ties go to the lowest task type, and then to the lowest machine type. Only the earliest machines of a type
# matter. A step hands out more than one task where that is proved to change nothing:
#
# - to all machines of the group that is ready first, one task each: while one of them is left, no C_i changes;
# - if on machine type j no other task type left takes longer than i (nor as long, if it comes before i), then
#   whenever j is where i ends first, C_i' <= R_g + e_i'j <= R_g + e_ij = C_i for all i' that are left: i is
#   taken again. So i is handed out by completion times on all such machine types, until another machine type
#   would end it as soon.
#
# The second holds everywhere for the longest type where all machine types agree on which that is, and the rule then
# works on counts. Where they do not agree it goes step by step (`Steps` has the limit), comparing doubles.
#
# Source: Ibarra and Kim, 1977; Braun and others, 2001.
def max_min(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand out the task whose earliest end is the latest, until none is left."""
    state, steps = _State(bag), Steps(bag, "max-min")
    while state.unused.any():
        steps.step(state.step())
    return state.machines.schedule()


class _State:
    """Tasks that are left, machines, and when the next task of each pair would end."""

    def __init__(self, bag: Bag) -> None:
        self.times, self.machines = PairTimes.of(bag), ReadyMachines(bag)
        self.left = [task.count for task in bag.task_types]
        self.unused = np.ones(len(self.left), dtype=bool)
        self.ends = self.times.seconds.copy()
        self.longest = self._longest()

    def step(self) -> int:
        """Hand out tasks of one type; return how many."""
        i = int(np.where(self.unused, self.ends.min(axis=1), -np.inf).argmax())
        first = int(self.ends[i].argmin())
        given = min(self.left[i], self._sure(i)) if self.longest[first] == i else 0
        if given:
            ways = self._ways(i)
            self.machines.give(i, ways, given)
        else:
            ways = [self.times.way(i, first)]
            given = min(self.left[i], self.machines.groups[first][0].machines)
            self.machines.give_first(i, ways[0], given)
        for way in ways:
            ready = self.times.in_seconds(self.machines.ready(way.j))
            self.ends[:, way.j] = self.times.seconds[:, way.j] + ready
        self.left[i] -= given
        if not self.left[i]:
            self.unused[i] = False
            self.longest = self._longest()
        return given

    def _longest(self) -> list[int]:
        """Return the task type left that takes longest on each machine type; one that cannot run does."""
        seconds = np.where(self.unused[:, None], self.times.seconds, -np.inf)
        return [int(i) for i in seconds.argmax(axis=0)]

    def _ways(self, i: int) -> list[Way]:
        """Return the ways on machine types where no task type left takes longer."""
        return [way for way in self.times.ways(i) if self.longest[way.j] == i]

    def _sure(self, i: int) -> int:
        """Return how many tasks of a type go to such machine types before any other would end one as soon."""
        others = [way for way in self.times.ways(i) if self.longest[way.j] != i]
        if not others:
            return self.left[i]
        limit = min(self.machines.ready(way.j) + way.ticks for way in others)
        streams = streams_of(self.machines.owners(self._ways(i)))
        return sum(each.machines * each.rounds(limit - 1) for each in streams)


# Sufferage: the task goes first that would lose most if it did not get its best machine.
#
#     C_i, C'_i   the earliest and the second earliest end of a task of type i, over all machines
#     suffering   C'_i - C_i; without end, if only one machine can run it
#
# One task is taken in each step: of the type that would suffer most, to the machine that would end it first.
# Ties go to the lowest task type, then to the lowest machine type. Only the two earliest machines of each
# type matter, so a step hands one task each to all but one of the machines that are ready together: while two
# of them are left, nothing changes. The last task type goes at once, by completion times. Apart from that the
# rule goes step by step (`Steps` has the limit), comparing doubles.
#
# Where each machine type has many machines ready together, nothing suffers, and the tasks go in the order of
# the file: the rule was made for machines that differ.
#
# Source: Maheswaran, Ali, Siegel, Hensgen and Freund, 1999; theirs hands out a task to each machine in a
# step. The variant with one task a step is the one that is tabled for the instances of Braun and others.
def sufferage(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand out the task that would suffer most, until none is left."""
    times, machines, steps = PairTimes.of(bag), ReadyMachines(bag), Steps(bag, "sufferage")
    left = [task.count for task in bag.task_types]
    steps.expect((bag.tasks - max(left)) // max(machine.count for machine in bag.machine_types))
    types = len(bag.machine_types)
    unused = np.arange(len(left))  # task types
    ends = np.hstack((times.seconds, times.seconds))  # of the next task, on the first and the second machine
    for j in range(types):
        _change(ends, times, machines, unused, j)
    while len(unused) > 1:
        two = np.partition(ends, 1, axis=1)  # a second machine is never earlier than the first of its type
        row = int((two[:, 1] - two[:, 0]).argmax())
        i, j = int(unused[row]), int(ends[row, :types].argmin())
        given = min(left[i], max(1, machines.groups[j][0].machines - 1))
        machines.give_first(i, times.way(i, j), given)
        steps.step(given)
        left[i] -= given
        if not left[i]:
            unused, ends = np.delete(unused, row), np.delete(ends, row, axis=0)
        _change(ends, times, machines, unused, j)
    last = int(unused[0])
    machines.give(last, times.ways(last), left[last])
    return machines.schedule()


def _change(ends: Floats, times: PairTimes, machines: ReadyMachines, unused: Integers, j: int) -> None:
    """Write down when the next task of each type would end on the first two machines of a type."""
    second = machines.second_ready(j)
    seconds = times.seconds[unused, j]
    ends[:, j] = seconds + times.in_seconds(machines.ready(j))
    ends[:, len(machines.groups) + j] = np.inf if second is None else seconds + times.in_seconds(second)


# Minimum energy: each task runs where, and in the P-state in which, it takes the fewest joules.
#
#     joules of a way  =  seconds * watts        (of equal ones the fastest, then the first)
#
# All tasks of a type go to one machine type, and there each to the machine that is ready first: the shortest
# makespan of those, type by type. What idle machines draw meanwhile is not considered, so that where
# idle machines draw much, the least energy of all is elsewhere. The rule works on counts.
#
# Source: Friese, thesis of 2015, section 6.5.1.2, where it seeds a genetic algorithm.
def min_energy(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine type and P-state that need the fewest joules for it."""
    arrays = arrays_of(bag)
    if arrays.watts is None:
        needed = "the watts of every pair that can run, since min-energy counts joules"
        raise InstanceError(bag.name, (InputIssue(("watts",), "none", needed, "add them, or leave it out"),))
    joules = np.where(arrays.can_run, arrays.seconds * arrays.watts, np.inf)
    least = joules == joules.min(axis=1, keepdims=True)
    best = np.where(least, arrays.seconds, np.inf).argmin(axis=1)
    shift, machines = shift_of(arrays.seconds[arrays.can_run]), ReadyMachines(bag)
    for i, (task, column) in enumerate(zip(bag.task_types, best.tolist(), strict=True)):
        ticks = int(math.ldexp(float(arrays.seconds[i, column]), shift))
        machines.give(i, [Way(bag.modes[column][0], column, ticks)], task.count)
    return machines.schedule()


# Random: every task runs on a machine drawn evenly from all that can run it, in a P-state drawn evenly too.
# What a sensible rule must beat. How many of n_i equal tasks fall on each machine type and P-state, and of
# those on each machine, is drawn at once by multinomial distributions; where there are fewer tasks than
# machines, the machine of each task is drawn. So of all rules on counts this one alone grows with the number
# of machines. A machine runs its tasks in the order of the file.
MOST_DRAWS: Final = 2_000_000  # a few seconds, and as many runs in the schedule


def random_mapping(bag: Bag, rng: np.random.Generator) -> Schedule:
    """Hand out the tasks at random."""
    arrays = arrays_of(bag)
    places = (arrays.can_run * arrays.machine_counts[arrays.machine_of]).sum(axis=1)
    draws = int(np.minimum(arrays.task_counts, places).sum())
    if draws > MOST_DRAWS:
        found = f"{bag.machines:,} machines, for which random draws {draws:,} numbers"
        issue = InputIssue(("machine_types",), found, f"at most {MOST_DRAWS:,}", "leave random out")
        raise InstanceError(bag.name, (issue,))
    pasts: list[dict[int, list[Run]]] = [{} for _ in bag.machine_types]  # by the machine's number
    for i, task in enumerate(bag.task_types):
        columns = np.flatnonzero(arrays.can_run[i])
        own = arrays.machine_of[columns]  # even chances over machines, then over their P-states
        weights = arrays.machine_counts[own] / np.bincount(own)[own]
        shares = rng.multinomial(task.count, np.asarray(weights / weights.sum()))
        for place in np.flatnonzero(shares).tolist():
            column, tasks = int(columns[place]), int(shares[place])
            j = bag.modes[column][0]
            machines = bag.machine_types[j].count
            if tasks < machines:  # draw the machine of each task
                numbers, counts = np.unique(rng.integers(machines, size=tasks), return_counts=True)
            else:
                drawn = rng.multinomial(tasks, np.full(machines, 1.0 / machines))
                numbers = np.flatnonzero(drawn)
                counts = drawn[numbers]
            state = run_of(bag, i, column, tasks).p_state
            for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
                pasts[j].setdefault(number, []).append(Run(task.name, count, state))
    return Schedule(
        tuple(
            MachineGroup(machine.name, number, runs)
            for machine, own in zip(bag.machine_types, pasts, strict=True)
            for runs, number in Counter(map(tuple, own.values())).items()
        )
    )


# The static heuristics by name: those of lpsched, registered ones, those of installed packages.
#
# A heuristic is a function from a bag and a random generator to a schedule, compact or task by task:
#
#     @register("mine")
#     def mine(bag, rng): ...
#
# A package announces its own in its `pyproject.toml`, and they are there once it is installed:
#
#     [project.entry-points."lpsched.heuristics"]
#     mine = "package.module:function"
Heuristic: TypeAlias = "Callable[[Bag, np.random.Generator], Schedule | Iterable[TaskRow]]"
A_DAY: Final = "a day, whose tasks have arrivals and utilities"
OF_BAGS: Final[Named[Heuristic]] = Named(
    "bag",
    "lpsched.heuristics",
    {
        "min-min": min_min,
        "max-min": max_min,
        "sufferage": sufferage,
        "met": minimum_execution_time,
        "mct": minimum_completion_time,
        "olb": opportunistic,
        "k-percent-best": k_percent_best,
        "min-energy": min_energy,
        "random": random_mapping,
    },
    {"max-utility": A_DAY, "utility-per-energy": A_DAY},
)
register, forget = OF_BAGS.register, OF_BAGS.forget
names, heuristic = OF_BAGS.names, OF_BAGS.get
