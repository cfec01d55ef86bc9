"""The policies of simulated days as they are defined: for reading, and as a second road.

At a mapping event tasks are mapped one after another. After each, every choice of every task is looked at
again, and mapping goes on until no task is left that fits anywhere. The fast road, `lpsched/simulation`,
looks at few of them, and stops once the next event will decide anew; what it maps is the beginning of what
is mapped here, to the last bit.

    choice   a task on a machine in a P-state (column), from `start`, when the machine is ready, to `end`
    fits     it is allowed, it starts before the day ends, and its joules, times the part of its run before
             the day's end, are within what is left of the day's energy
    machines of one type differ only in when they are ready: the first to be ready is the one that is looked
             at, of several the lowest number

Source: Friese, thesis of 2015, sections 2.4, 3.3.2 and 4.3.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lpsched.online.simulate.state import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from lpsched.model.table import Floats
    from lpsched.online.simulate.state import State


@dataclass(frozen=True)
class Choice:
    """A task (by its place in the state) on a machine, in a column."""

    place: int
    machine: int
    column: int
    end: float
    utility: float
    seconds: float
    joules: float
    counted_joules: float


class Event:
    """A mapping event: what is still free, and what has been mapped."""

    def __init__(self, state: State) -> None:
        self.state, self.system = state, state.system
        self.ready = [float(each) for each in state.ready]
        self.free = [int(machine) for machine in state.available]
        self.energy_left = float(state.energy_left)
        self.waiting = list(range(len(state.tasks)))
        self.mapped: list[Assignment] = []

    def choice(self, place: int, machine: int, column: int) -> Choice | None:
        """Return a choice, if it fits."""
        i, start = int(self.state.types[place]), self.ready[machine]
        if column_type(self.state, column) != self.system.machine_type[machine]:
            return None
        if not self.state.allowed[i, column] or start >= self.state.ends_at:
            return None
        seconds, joules = float(self.system.seconds[i, column]), float(self.system.joules[i, column])
        end = start + seconds
        counted = joules * ((self.state.ends_at - start) / seconds) if end > self.state.ends_at else joules
        if counted > self.energy_left:
            return None
        earned = utility(self.state, place, end)
        return Choice(place, machine, column, end, earned, seconds, joules, counted)

    def on(self, place: int, machine: int) -> list[Choice]:
        """Return a task's choices on one machine, by rising column."""
        columns = range(len(self.system.column_type))
        return [made for column in columns if (made := self.choice(place, machine, column)) is not None]

    def first_ready(self) -> list[int]:
        """Return of each machine type the free machine that is ready first."""
        first: dict[int, int] = {}
        for machine in sorted(self.free, key=lambda machine: (self.ready[machine], machine)):
            first.setdefault(int(self.system.machine_type[machine]), machine)
        return sorted(first.values())

    def choices(self, place: int) -> list[Choice]:
        """Return all choices of a task, by rising column."""
        return [choice for machine in self.first_ready() for choice in self.on(place, machine)]

    def on_the_next(self, wished: Choice) -> list[Choice]:
        """Return a task's choices on the machine of the same type that is ready next."""
        own = self.system.machine_type[wished.machine]
        alike = [m for m in self.free if self.system.machine_type[m] == own and m != wished.machine]
        ready = sorted(alike, key=lambda machine: (self.ready[machine], machine))
        return self.on(wished.place, ready[0]) if ready else []

    def take(self, choice: Choice) -> None:
        """Map a task."""
        self.ready[choice.machine] = choice.end
        self.energy_left -= choice.counted_joules
        if self.state.polled:
            self.free.remove(choice.machine)
        self.waiting.remove(choice.place)
        self.mapped.append(Assignment(int(self.state.tasks[choice.place]), choice.machine, choice.column))


def column_type(state: State, column: int) -> int:
    """Return the machine type of a column."""
    return int(state.system.column_type[column])


def utility(state: State, place: int, end: float) -> float:
    """Return what a task earns that ends then: equation 1."""
    system, elapsed = state.system, end - float(state.arrivals[place])
    first, last = (int(each) for each in system.first_interval[state.functions[place] :][:2])
    now = max(p for p in range(first, last) if p == first or float(system.after_seconds[p]) <= elapsed)
    decay = math.exp(-float(system.rate_per_second[now]) * (elapsed - float(system.after_seconds[now])))
    low, high = float(system.falls_to[now]), float(system.starts_at[now])
    return low + (high - low) * decay


def per(amount: float, of: float) -> float:
    """Return utility per something: nothing earned is 0, something for nothing is infinite."""
    if amount <= 0.0:
        return 0.0
    return amount / of if of > 0.0 else math.inf


def best(choices: Sequence[Choice], score: Callable[[Choice], float]) -> Choice:
    """Return the choice of the highest score; of equal ones the earliest end, then the lowest column."""
    return max(choices, key=lambda choice: (score(choice), -choice.end, -choice.column))


def fastest_only(choices: list[Choice], state: State, place: int, count: int) -> list[Choice]:
    """Return the choices on the machine types where a task is fastest, by its least allowed seconds."""
    i = int(state.types[place])
    least: dict[int, float] = {}
    for column, j in enumerate(state.system.column_type.tolist()):
        if state.allowed[i, column]:
            least[j] = min(least.get(j, math.inf), float(state.system.seconds[i, column]))
    kept = sorted(least, key=lambda j: (least[j], j))[:count]
    return [choice for choice in choices if column_type(state, choice.column) in kept]


def two_stage(
    state: State, score: Callable[[Choice], float], fastest_types: int | None = None, least: float = -math.inf
) -> list[Assignment]:
    """Map the task of the best of all best choices, again and again, while it scores at least so much."""
    event = Event(state)
    while True:
        firsts = []
        for place in event.waiting:
            choices = event.choices(place)
            if fastest_types is not None:
                choices = fastest_only(choices, state, place, fastest_types)
            if choices and score(best(choices, score)) >= least:
                firsts.append(best(choices, score))
        if not firsts:
            return event.mapped
        event.take(max(firsts, key=lambda choice: (score(choice), -choice.place)))


def in_turn(state: State, score: Callable[[Choice], float], fastest_types: int | None = None) -> list[Assignment]:
    """Map each task as it comes to where it scores best."""
    event = Event(state)
    for place in range(len(state.tasks)):
        choices = event.choices(place)
        if fastest_types is not None:
            choices = fastest_only(choices, state, place, fastest_types)
        if choices:
            event.take(best(choices, score))
    return event.mapped


def listed(state: State, order: Sequence[int], *, all_p_states: bool) -> list[Assignment]:
    """Map tasks in an order, each to the machine that is ready first, in the first P-state that fits."""
    event = Event(state)
    for place in order:
        choices = event.choices(place)
        if not all_p_states:
            first = set(state.system.first_column[:-1].tolist())
            choices = [choice for choice in choices if choice.column in first]
        if choices:
            ready = event.ready
            event.take(min(choices, key=lambda each: (ready[each.machine], each.machine, each.column)))
    return event.mapped


def priority(state: State, place: int) -> float:
    """Return the utility that a task begins with."""
    return float(state.system.starts_at[state.system.first_interval[state.functions[place]]])


def sufferage(state: State) -> list[Assignment]:
    """Map, round by round, to each machine the task that loses most without it, of those that prefer it."""
    event = Event(state)
    while True:
        claims: dict[int, tuple[float, Choice]] = {}  # of each machine: the loss, negative, and who claims it
        for place in event.waiting:
            choices = event.choices(place)
            if not choices:
                continue
            wished = best(choices, by_end)
            others = [choice.utility for choice in choices if choice.machine != wished.machine]
            others += [choice.utility for choice in event.on_the_next(wished)]
            loss = wished.utility - max(others, default=0.0)
            if wished.machine not in claims or loss > claims[wished.machine][0]:
                claims[wished.machine] = loss, wished
        if not claims:
            return event.mapped
        for _, wished in sorted(claims.values(), key=lambda claim: (-claim[0], claim[1].place)):
            if event.choice(wished.place, wished.machine, wished.column) is not None:
                event.take(wished)


def drawn(
    state: State,
    order: Sequence[int],
    draws: Sequence[Sequence[float]],
    column: Callable[[list[Choice], float], Choice],
    fastest_types: int | None = None,
) -> list[Assignment]:
    """Map tasks in an order, each to a machine drawn from those where it fits."""
    event = Event(state)
    for place in order:
        offers = []
        for machine in sorted(event.free):
            choices = event.on(place, machine)
            if fastest_types is not None:
                choices = fastest_only(choices, state, place, fastest_types)
            if choices:
                offers.append(choices)
        if offers:
            choices = offers[int(draws[place][0] * len(offers))]
            event.take(column(choices, draws[place][1]))
    return event.mapped


def round_robin(state: State, rng: np.random.Generator) -> list[Assignment]:
    """Map each task as it comes to the next machine that can take it, in an order drawn once."""
    event, memory = Event(state), state.memory
    if not memory:
        memory["machines"] = rng.permutation(len(state.ready)).tolist()
    for place in range(len(state.tasks)):
        for machine in memory["machines"]:
            choices = event.on(place, machine) if machine in event.free else []
            if choices:
                event.take(choices[0])
                at = memory["machines"].index(machine) + 1
                memory["machines"] = memory["machines"][at:] + memory["machines"][:at]
                break
    return event.mapped


def weighted(state: State, weight: float, earned: Callable[[Choice], float], most: float) -> list[Assignment]:
    """Map the best pair first by (1 - w) earned / most - w joules / the most joules of any; from 0 up."""
    joules = state.system.joules[state.system.can_run]
    greatest = max((float(each) for each in joules), default=0.0)

    def score(choice: Choice) -> float:
        gain = earned(choice)
        gained = (1.0 - weight) * (gain / most if gain > 0.0 else 0.0) if weight < 1.0 else 0.0
        return gained - (weight * (choice.joules / greatest) if greatest > 0.0 else 0.0)

    return two_stage(state, score, least=0.0)


def most_utility(state: State) -> float:
    """Return the most that any utility function begins with."""
    return max(float(each) for each in state.system.starts_at[state.system.first_interval[:-1]])


def least_of(state: State, amounts: Floats) -> float:
    """Return the least amount that is not 0 of all pairs that can run; 1 if all are 0."""
    return min((float(each) for each in amounts[state.system.can_run] if each > 0.0), default=1.0)


def random_machine(state: State, rng: np.random.Generator) -> list[Assignment]:
    """Map each task as it comes to any machine, in the first P-state that fits."""
    draws = rng.random((len(state.tasks), 2)).tolist()
    return drawn(state, range(len(state.tasks)), draws, lambda choices, _: choices[0])


def met_random(state: State, rng: np.random.Generator) -> list[Assignment]:
    """Map each task as it comes to any machine of its fastest type, in the fastest P-state that fits."""
    draws = rng.random((len(state.tasks), 2)).tolist()
    return drawn(state, range(len(state.tasks)), draws, lambda choices, _: best(choices, by_end), 1)


def random_batch(state: State, rng: np.random.Generator) -> list[Assignment]:
    """Map tasks in any order to any machine in any P-state."""
    order, draws = rng.permutation(len(state.tasks)).tolist(), rng.random((len(state.tasks), 2)).tolist()
    return drawn(state, order, draws, lambda choices, draw: choices[int(draw * len(choices))])


def by_end(choice: Choice) -> float:
    """Score the earliest end best."""
    return -choice.end


def by_utility(choice: Choice) -> float:
    """Score the most utility best."""
    return choice.utility


def per_time(choice: Choice) -> float:
    """Score the most utility per second best."""
    return per(choice.utility, choice.seconds)


def per_energy(choice: Choice) -> float:
    """Score the most utility per joule best."""
    return per(choice.utility, choice.joules)


def weighted_upt(state: State, weight: float) -> list[Assignment]:
    """Equation 4."""
    return weighted(state, weight, per_time, most_utility(state) / least_of(state, state.system.seconds))


def weighted_upe(state: State, weight: float) -> list[Assignment]:
    """Equation 5."""
    return weighted(state, weight, per_energy, most_utility(state) / least_of(state, state.system.joules))


def first_come(state: State) -> list[int]:
    """Return the tasks by arrival; the lowest number first of those that came together."""
    return sorted(range(len(state.tasks)), key=lambda place: state.arrivals[place])


def last_come(state: State) -> list[int]:
    """Return the tasks by arrival, the last first; the lowest number first of those that came together."""
    return sorted(range(len(state.tasks)), key=lambda place: -state.arrivals[place])


def by_priority(state: State, order: list[int]) -> list[int]:
    """Return the tasks by the utility that they begin with, and in the given order where it is the same."""
    return sorted(order, key=lambda place: -priority(state, place))


Definition: TypeAlias = "Callable[[State, np.random.Generator, float], list[Assignment]]"

DEFINITIONS: dict[str, Definition] = {
    "random": lambda state, rng, _: random_machine(state, rng),
    "round-robin": lambda state, rng, _: round_robin(state, rng),
    "max-util": lambda state, _, __: in_turn(state, by_end),
    "max-upt": lambda state, _, __: in_turn(state, per_time),
    "met-random": lambda state, rng, _: met_random(state, rng),
    "met-max-util": lambda state, _, __: in_turn(state, by_end, 1),
    "k-best-types": lambda state, _, count: in_turn(state, by_end, int(count)),
    "min-min": lambda state, _, __: two_stage(state, by_end),
    "sufferage": lambda state, _, __: sufferage(state),
    "max-max-util": lambda state, _, __: two_stage(state, by_utility),
    "max-max-upt": lambda state, _, __: two_stage(state, per_time),
    "met-max-util-max-upt": lambda state, _, __: two_stage(state, per_time, 1),
    "max-max-upe": lambda state, _, __: two_stage(state, per_energy),
    "weighted-util": lambda state, _, w: weighted(state, w, by_utility, most_utility(state)),
    "weighted-upt": lambda state, _, w: weighted_upt(state, w),
    "weighted-upe": lambda state, _, w: weighted_upe(state, w),
    "fcfs": lambda state, _, __: listed(state, first_come(state), all_p_states=False),
    "fcfs-all": lambda state, _, __: listed(state, first_come(state), all_p_states=True),
    "lcfs": lambda state, _, __: listed(state, last_come(state), all_p_states=False),
    "lcfs-all": lambda state, _, __: listed(state, last_come(state), all_p_states=True),
    "prioritized-fcfs": lambda state, _, __: listed(state, by_priority(state, first_come(state)), all_p_states=False),
    "prioritized-fcfs-all": lambda state, _, __: listed(
        state, by_priority(state, first_come(state)), all_p_states=True
    ),
    "prioritized-lcfs": lambda state, _, __: listed(state, by_priority(state, last_come(state)), all_p_states=False),
    "prioritized-lcfs-all": lambda state, _, __: listed(state, by_priority(state, last_come(state)), all_p_states=True),
    "random-batch": lambda state, rng, _: random_batch(state, rng),
}
