"""Compiled loops over tasks in turn: to the machine that is ready first, or drawn at random, or by sufferage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.mapping import fits, is_needed, set_up, take, take_first, utility

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.simulate.mapping import MappingState, Pairs, StateView


@compiled_inside
def first_fitting(pairs: Pairs, left: float, i: int, j: int, start: float) -> int:
    """Return the first column of a machine type that fits a task which starts then; -1 if none does."""
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        if fits(pairs, left, i, c, start):
            return c
    return -1


@compiled_inside
def fastest_fitting(pairs: Pairs, left: float, i: int, j: int, start: float) -> int:
    """Return the fitting column of the fewest seconds, likewise."""
    found = -1
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        faster = found < 0 or pairs.seconds[i, c] < pairs.seconds[i, found]
        if faster and fits(pairs, left, i, c, start):
            found = c
    return found


# Of many waiting tasks, few matter by the next event. Call a machine type open while one of its machines needs another
# task by then. Where all open types are ready before all others, a task that none of them can run goes to another type,
# and changes nothing for those that an open one can run: it is put aside. Should an open type become ready later than
# another, those put aside are mapped first. Where energy may run out, each task is mapped in its turn.
@compiled
def ready_one_by_one(view: StateView, order: Integers) -> MappingState:
    """Map one task after another, each to the machine that is ready first of those where a column fits."""
    mapping, aside = set_up(view), np.empty(len(order), dtype=np.int64)
    begun, end, energy_is_plenty = 0, 0, has_plenty(view)
    for b in order:
        if not is_needed(view.pairs, mapping):
            break
        is_apart = energy_is_plenty and open_types_come_first(mapping)
        if is_apart and not runs_on_an_open_type(view.pairs, mapping, view.types[b]):
            aside[end] = b
            end += 1
            continue
        while begun < end and not is_apart:
            map_where_first_ready(view, mapping, aside[begun])
            begun += 1
        map_where_first_ready(view, mapping, b)
    return mapping


@compiled_inside
def map_where_first_ready(view: StateView, mapping: MappingState, b: int) -> None:
    """Map a task to the machine that is ready first of those where a column fits; nowhere, if none does."""
    column, soonest = -1, math.inf
    for j in range(len(mapping.size)):
        start = mapping.start[j]
        if start < soonest:
            c = first_fitting(view.pairs, mapping.left[0], view.types[b], j, start)
            if c >= 0:
                column, soonest = c, start
    if column >= 0:
        take_first(view, mapping, b, column)


@compiled_inside
def has_plenty(view: StateView) -> bool:
    """Return whether energy would be left if all tasks ran where they take the most."""
    pairs, most, total = view.pairs, np.zeros(len(view.pairs.usable)), 0.0
    for i in range(len(most)):
        for c in range(len(pairs.column_type)):
            if pairs.usable[i, c]:
                most[i] = max(most[i], pairs.joules[i, c])
    for i in view.types:
        total += most[i]
    return 2.0 * total <= view.energy_left  # far from what rounding decides


@compiled_inside
def open_types_come_first(mapping: MappingState) -> bool:
    """Return whether every machine type that needs a task is ready before every other."""
    latest, soonest = -math.inf, math.inf
    for j in range(len(mapping.size)):
        if mapping.short[j] > 0:
            latest = max(latest, mapping.start[j])
        else:
            soonest = min(soonest, mapping.start[j])
    return latest < soonest


@compiled_inside
def runs_on_an_open_type(pairs: Pairs, mapping: MappingState, i: int) -> bool:
    """Return whether a task may use a machine type that needs a task."""
    for c in range(len(pairs.column_type)):  # noqa: SIM110 - compiled
        if pairs.usable[i, c] and mapping.short[pairs.column_type[c]] > 0:
            return True
    return False


@compiled_inside
def drawn_fitting(  # noqa: PLR0913, PLR0917 - compiled
    pairs: Pairs, left: float, i: int, j: int, start: float, draw: float
) -> int:
    """Return one of the columns of a machine type that fit, by a number drawn from 0 to 1."""
    fitting, found = 0, -1
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        if fits(pairs, left, i, c, start):
            fitting += 1
    nth = int(draw * fitting)
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        if fits(pairs, left, i, c, start):
            if nth == 0:
                found = c
            nth -= 1
    return found


@compiled_inside
def is_sure(pairs: Pairs, left: float, i: int, j: int) -> int:
    """Return of a machine type 1 if a column fits whenever it starts today, -1 if none may be used, else 0."""
    sure = -1
    for c in range(pairs.first_column[j], pairs.first_column[j + 1]):
        if pairs.usable[i, c]:
            sure = max(sure, 1 if 2.0 * pairs.joules[i, c] <= left else 0)  # far from what rounding decides
    return sure


@compiled_inside
def find_fitting(view: StateView, mapping: MappingState, i: int, gone: Mask, found: Integers) -> int:
    """Write the machines where a column fits a task type, by rising number; return how many there are."""
    pairs, ready, left, count = view.pairs, mapping.ready, mapping.left[0], 0
    j, sure = -1, -1
    for m in view.available:
        if view.machine_type[m] != j:
            j = view.machine_type[m]
            sure = is_sure(pairs, left, i, j)
        if gone[m] or sure < 0 or ready[m] >= pairs.ends_at:
            continue
        if sure > 0 or first_fitting(pairs, left, i, j, ready[m]) >= 0:
            found[count] = m
            count += 1
    return count


@compiled
def drawn_one_by_one(view: StateView, order: Integers, draws: Floats, columns: int) -> MappingState:
    """Map one task after another to a machine drawn from those where a column fits.

    `draws` has two numbers from 0 to 1 for each task, for its machine and its column; `columns`: 0 takes the first
    column that fits, 1 the fastest, 2 a drawn one.
    """
    mapping, gone = set_up(view), np.zeros(len(view.ready), dtype=np.bool_)
    fitting = np.empty(len(view.available), dtype=np.int64)
    for b in order:
        if not is_needed(view.pairs, mapping):
            break
        i = view.types[b]
        count = find_fitting(view, mapping, i, gone, fitting)
        if count == 0:
            continue
        m = fitting[int(draws[b, 0] * count)]
        j, start, left = view.machine_type[m], mapping.ready[m], mapping.left[0]
        if columns == 0:
            c = first_fitting(view.pairs, left, i, j, start)
        elif columns == 1:
            c = fastest_fitting(view.pairs, left, i, j, start)
        else:
            c = drawn_fitting(view.pairs, left, i, j, start, draws[b, 1])
        take(view, mapping, b, m, c)
        gone[m] = view.polled
    return mapping


# Sufferage: the task that would lose most if another took its machine is mapped first, machine by machine.
@compiled_inside
def two_best(pairs: Pairs, mapping: MappingState, i: int) -> tuple[int, float, float]:
    """Return where a task type ends soonest (-1: nowhere), that end, and the end on the second-best machine.

    A machine offers its fastest column that fits. The second machine of a type counts if its first fits.
    """
    column, soonest, second = -1, math.inf, math.inf
    for j in range(len(mapping.size)):
        start = mapping.start[j]
        c = fastest_fitting(pairs, mapping.left[0], i, j, start)
        if c < 0:
            continue
        end = start + pairs.seconds[i, c]
        if end < soonest:
            column, soonest, second = c, end, min(second, soonest)
        else:
            second = min(second, end)
        start = math.inf  # of the second machine
        for child in range(1, min(3, mapping.size[j])):  # the second of a heap is below its top
            start = min(start, mapping.ready[mapping.heap[mapping.first[j] + child]])
        c = fastest_fitting(pairs, mapping.left[0], i, j, start)
        if c >= 0:
            second = min(second, start + pairs.seconds[i, c])
    return column, soonest, second


@compiled_inside
def loss(view: StateView, b: int, soonest: float, second: float) -> float:
    """Return what a task loses on the second-best machine; all, if there is none."""
    f, arrival = view.functions[b], view.arrivals[b]
    elsewhere = utility(view.curves, f, second - arrival) if second < math.inf else 0.0
    return utility(view.curves, f, soonest - arrival) - elsewhere


@compiled
def worst_sufferers_first(view: StateView) -> MappingState:
    """Map, round by round, to each machine the task that loses most of those that prefer it."""
    pairs = view.pairs
    mapping, tasks, types = set_up(view), len(view.types), len(view.pairs.usable)
    mapped = np.zeros(tasks, dtype=np.bool_)
    column = np.empty(types, dtype=np.int64)
    soonest, second = np.empty(types), np.empty(types)
    champion, most = np.empty(len(mapping.size), dtype=np.int64), np.empty(len(mapping.size))
    while is_needed(pairs, mapping):
        for i in range(types):
            column[i] = -1
            if mapping.waiting[i] > 0:
                column[i], soonest[i], second[i] = two_best(pairs, mapping, i)
        champion[:], most[:] = -1, 1.0
        for b in range(tasks):
            i = view.types[b]
            if mapped[b] or column[i] < 0:
                continue
            j, gained = pairs.column_type[column[i]], -loss(view, b, soonest[i], second[i])
            if champion[j] < 0 or gained < most[j]:
                champion[j], most[j] = b, gained
        if champion.max() < 0:
            break
        by_number = np.argsort(champion)
        for place in np.argsort(most[by_number], kind="mergesort"):  # keeps the order of equals
            j = by_number[place]
            b = champion[j]
            c = column[view.types[b]] if b >= 0 else -1
            if c >= 0 and fits(pairs, mapping.left[0], view.types[b], c, mapping.start[j]):
                take_first(view, mapping, b, c)
                mapped[b] = True
    return mapping
