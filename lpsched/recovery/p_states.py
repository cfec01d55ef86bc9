"""From continuous P-states to one P-state for each core and task type, at no more power.

The second of three stages. A piece is what core k does for task type i: for f of its time, on average at w
watts, which lie between two neighbours on the hull of its P-states. At first every piece takes the hungrier
neighbour. Then, node by node, while the node draws more than it drew before, the piece that is furthest above
its own former power, by f (watts - w), takes the thriftier one.

Guarantee: if all pieces of a node are at their thriftier neighbours, it draws no more than before; so no node
ends above its former power, and what kept the redlines and the cap keeps them still. No time changes.

A pair that was not used needs a P-state too, because the last stage may want it. It takes the corner of its
hull that is, from the most efficient to the fastest, as high as the core's other pieces were on average, or
the most efficient one if the core was idle.

Source: Oxley and others, section IV-C, second step, whose rounding is only said to be simple.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.facility_arrays import FacilityArrays

USED: Final = 1e-6  # of a core's time; an interior point leaves a little in every pair
SAME: Final = 1e-9  # of a node's watts


@dataclass(frozen=True, slots=True)
class OneState:
    """One column of the tables for each core and task type (-1 where it cannot run), and the time in it."""

    column: Integers  # cores x task types
    times: Floats  # cores x task types


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A row for each core and task type: its corners' places in the list of states, and its mean power."""

    first: Integers
    last: Integers
    low: Integers  # the thriftier neighbour
    high: Integers  # the hungrier one
    time: Floats
    watts: Floats  # on average


def one_state_each(
    arrays: FacilityArrays,
    node: Integers,
    states: tuple[Integers, Integers, Integers],
    times: Floats,
) -> OneState:
    """Return one P-state for each core and task type.

    Parameters
    ----------
    node
        The node of each core.
    states
        Core, task type and column of the tables of each state; those of a pair one after the other, by rising
        watts.
    times
        The part of its core's time for each state.
    """
    core, task, column = states
    cells = np.full((len(node), len(arrays.rewards)), -1, dtype=np.int64)
    spent = np.zeros(cells.shape)
    if len(core):
        watts = arrays.watts[task, column]
        pieces = _pieces(core, task, watts, times)
        chosen = _rounded(pieces, watts, node[core[pieces.first]])
        used = pieces.time > USED
        chosen = np.where(used, chosen, _as_high(pieces, watts, core[pieces.first], len(node)))
        where = core[chosen], task[chosen]
        cells[where], spent[where] = column[chosen], np.where(used, pieces.time, 0.0)
    return OneState(cells, spent)


def _pieces(core: Integers, task: Integers, watts: Floats, times: Floats) -> _Pieces:
    """Return the pairs, each with the neighbours between which its mean power lies."""
    starts = np.flatnonzero(np.diff(core, prepend=-1) | np.diff(task, prepend=-1))
    ends = np.append(starts[1:], len(core)) - 1
    own = np.repeat(np.arange(len(starts)), ends - starts + 1)
    time = np.bincount(own, weights=times).astype(float)
    energy = np.bincount(own, weights=times * watts)
    mean = np.where(time > 0, energy / np.where(time > 0, time, 1.0), watts[starts])
    mean = np.clip(mean, watts[starts], watts[ends])
    below = np.bincount(own, weights=watts < mean[own]).astype(np.int64)
    high = starts + below  # the first that draws as much
    low = np.where(watts[high] > mean, high - 1, high)
    return _Pieces(starts, ends, low, high, time, mean)


def _rounded(pieces: _Pieces, watts: Floats, node: Integers) -> Integers:
    """Return the state of each piece: the hungrier, or where the node would draw more, the thriftier."""
    chosen = pieces.high.copy()
    above = pieces.time * (watts[pieces.high] - pieces.watts)
    saved = pieces.time * (watts[pieces.high] - watts[pieces.low])
    excess = np.bincount(node, weights=above)
    drawn = np.bincount(node, weights=pieces.time * pieces.watts)
    for piece in np.lexsort((-above, node)).tolist():
        v = node[piece]
        if excess[v] > SAME * drawn[v] and saved[piece] > 0:
            chosen[piece] = pieces.low[piece]
            excess[v] -= saved[piece]
    return chosen


def _as_high(pieces: _Pieces, watts: Floats, core: Integers, cores: int) -> Integers:
    """Return for each pair the corner that is as high on its hull as the core's pieces are on average."""
    span = watts[pieces.last] - watts[pieces.first]
    height = np.where(span > 0, (pieces.watts - watts[pieces.first]) / np.where(span > 0, span, 1.0), 0.0)
    weight = np.where(pieces.time > USED, pieces.time, 0.0)
    busy = np.bincount(core, weights=weight, minlength=cores)
    mean = np.bincount(core, weights=weight * height, minlength=cores) / np.where(busy > 0, busy, 1.0)
    place: Integers = pieces.first + np.rint(mean[core] * (pieces.last - pieces.first)).astype(np.int64)
    return place
