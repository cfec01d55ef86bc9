"""From a state to assignments, by one of the compiled loops: what the built-in policies call.

Policies of batch mode stop as soon as nothing more can get unmovable before the next mapping event. What
policies of immediate mode map stays mapped, so they map all that they are asked about.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.compiled import require_compiler
from lpsched.simulation.mapping.fastest_types import of_fastest_types
from lpsched.simulation.mapping.pairs import best_one_by_one, best_pairs_first
from lpsched.simulation.mapping.present import frozen, present_of
from lpsched.simulation.mapping.sufferage import worst_sufferers_first
from lpsched.simulation.mapping.turns import drawn_one_by_one, ready_one_by_one
from lpsched.simulation.state import Assignments

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance.array_types import Integers, Mask
    from lpsched.simulation.mapping.present import Board, Present, ScoreTables
    from lpsched.simulation.state import State, System

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
    state: State,
    rng: np.random.Generator,
    column: Literal["first", "fastest"],
    *,
    fastest_types: int | None = None,
) -> Assignments:
    """Map every task to a machine that is drawn, in the order of arrival: immediate mode."""
    present, draws = (
        _present(state, fastest_types)._replace(until=math.inf),
        rng.random((len(state.tasks), 2)),
    )
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
