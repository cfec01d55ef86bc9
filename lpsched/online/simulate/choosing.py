"""From a state to assignments: scores of pairs, and the loops that map by them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.jit import require_compiler
from lpsched.online.simulate.mapping.pairs import best_one_by_one, best_pairs_first, worst_sufferers_first
from lpsched.online.simulate.mapping.present import ScoreTables, frozen, of_fastest_types, present_of
from lpsched.online.simulate.mapping.turns import drawn_one_by_one, ready_one_by_one
from lpsched.online.simulate.state import Assignments

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.simulate.mapping.present import Board, Present
    from lpsched.online.simulate.state import State, System


# How good is a pair of task and column? Numbers for the loops that map the best pair first.
#
#     score   weight U(end) / per / scale - cost          the higher, the better
#
#     rule            per       scale          weight   cost
#     end             minus the end, whatever the task earns
#     utility         1         1              1        0
#     per time        seconds   1              1        0
#     per energy      joules    1              1        0
#     weighted, by w  1         U+             1 - w    w joules / joules+       (equation 3)
#                     seconds   U+ / seconds-  1 - w    likewise                 (equation 4)
#                     joules    U+ / joules-   1 - w    likewise                 (equation 5)
#
# U+ is the largest utility that any function of the day begins with; seconds-, joules- and joules+ are the
# least and the most of all pairs that can run. A pair whose weighted score is below 0 is not mapped: its
# energy weighs more than its utility. (The text does not say so, but its figures 3.5 to 3.7 come out only so:
# with all tasks mapped, no weight leaves energy over as in print.) A pair that takes no energy has an
# infinite utility per energy if it earns anything, and 0 if it earns nothing; joules- is the least of those
# that are not 0.
#
# Source: Friese, thesis of 2015, sections 2.4.3 and 3.3.2.
def by_end(system: System) -> ScoreTables:
    """Return the rule of the earliest end."""
    nothing = np.zeros_like(system.seconds)
    return ScoreTables(by_end=True, weight=1.0, scale=1.0, per=frozen(nothing), cost=frozen(nothing), least=-np.inf)


def by_utility(system: System, weight: float | None = None) -> ScoreTables:
    """Return the rule of the most utility; weighted against energy if there is a weight."""
    return _table(system, np.ones_like(system.seconds), 1.0, weight)


def by_utility_per_time(system: System, weight: float | None = None) -> ScoreTables:
    """Return the rule of the most utility per second; weighted against energy if there is a weight."""
    return _table(system, system.seconds, float(_least(system.seconds[system.can_run])), weight)


def by_utility_per_energy(system: System, weight: float | None = None) -> ScoreTables:
    """Return the rule of the most utility per joule; weighted against energy if there is a weight."""
    return _table(system, system.joules, float(_least(system.joules[system.can_run])), weight)


def _table(system: System, per: Floats, least: float, weight: float | None) -> ScoreTables:
    if weight is None:
        nothing = np.zeros_like(per)
        return ScoreTables(by_end=False, weight=1.0, scale=1.0, per=frozen(per), cost=frozen(nothing), least=-np.inf)
    most_joules = float(system.joules[system.can_run].max(initial=0.0))
    cost = weight * (system.joules / most_joules) if most_joules > 0.0 else np.zeros_like(per)
    most_utility = float(system.starts_at[system.first_interval[:-1]].max(initial=0.0))
    return ScoreTables(
        by_end=False, weight=1.0 - weight, scale=most_utility / least, per=frozen(per), cost=frozen(cost), least=0.0
    )


def _least(amounts: Floats) -> float:
    return float(amounts[amounts > 0.0].min(initial=np.inf)) if (amounts > 0.0).any() else 1.0


# From a state to assignments, by one of the compiled loops: what the built-in policies call.
#
# Policies of batch mode stop as soon as nothing more can get unmovable before the next mapping event. What
# policies of immediate mode map stays mapped, so they map all that they are asked about.
SCORES: Final = "scores"  # in the policy's memory: they do not change while a day runs
COLUMNS: Final = {"first": 0, "fastest": 1, "drawn": 2}


def best_first(
    state: State, scores: Callable[[System], ScoreTables], *, fastest_types: int | None = None
) -> Assignments:
    """Map the best pair of task and column, then the best of the rest, and so on: batch mode.

    With `fastest_types`, a task may only use so many machine types, those where it is fastest.
    """
    return _read(state, best_pairs_first(_present(state, fastest_types), _tables(state, scores)))


def best_in_turn(
    state: State, scores: Callable[[System], ScoreTables], *, fastest_types: int | None = None
) -> Assignments:
    """Map every task to where it scores best, in the order of arrival: immediate mode."""
    present = _present(state, fastest_types)._replace(until=math.inf)
    return _read(state, best_one_by_one(present, _tables(state, scores), in_turn(state)))


def ready_in_turn(state: State, order: Integers, *, usable: Mask | None = None) -> Assignments:
    """Map tasks in an order, each to the machine that is ready first: batch mode."""
    require_compiler("the policies of simulated days", "simulate")
    return _read(state, ready_one_by_one(present_of(state, usable), order))


def drawn_in_order(state: State, rng: np.random.Generator) -> Assignments:
    """Map tasks in an order that is drawn, each to a machine and a column that are drawn: batch mode."""
    order, draws = rng.permutation(len(state.tasks)), rng.random((len(state.tasks), 2))
    return _read(state, drawn_one_by_one(_present(state), order, draws, COLUMNS["drawn"]))


def drawn_in_turn(
    state: State, rng: np.random.Generator, column: Literal["first", "fastest"], *, fastest_types: int | None = None
) -> Assignments:
    """Map every task to a machine that is drawn, in the order of arrival: immediate mode."""
    present, draws = (_present(state, fastest_types)._replace(until=math.inf), rng.random((len(state.tasks), 2)))
    return _read(state, drawn_one_by_one(present, in_turn(state), draws, COLUMNS[column]))


def by_sufferage(state: State) -> Assignments:
    """Map, round by round, the task that would suffer most of those that prefer a machine: batch mode."""
    return _read(state, worst_sufferers_first(_present(state)))


def in_turn(state: State) -> Integers:
    """Return the tasks' places in the order of arrival."""
    return np.arange(len(state.tasks), dtype=np.int64)


def _present(state: State, fastest_types: int | None = None) -> Present:
    require_compiler("the policies of simulated days", "simulate")
    present = present_of(state)
    if fastest_types is None:
        return present
    pairs = present.pairs
    usable = of_fastest_types(pairs.usable, pairs.seconds, pairs.first_column, present.types, fastest_types)
    return present._replace(pairs=pairs._replace(usable=frozen(usable)))


def _tables(state: State, scores: Callable[[System], ScoreTables]) -> ScoreTables:
    """Return the numbers of a score, made once a day; a state may be shown to more than one policy."""
    kept: tuple[Callable[[System], ScoreTables], ScoreTables] | None = state.memory.get(SCORES)
    if kept is None or kept[0] is not scores:
        kept = state.memory[SCORES] = scores, scores(state.system)
    return kept[1]


def _read(state: State, board: Board) -> Assignments:
    count = int(board.done[0])
    return Assignments(state.tasks[board.tasks[:count]], board.machines[:count], board.columns[:count])
