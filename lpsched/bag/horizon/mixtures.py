"""From shares of timelines to one timeline that runs about the same: as packets follow a fluid in fair queueing.

A program gives one machine parts of several timelines. By each moment, each pair is due some seconds of work. When the
machine is free, it runs the pair of which most is due, if that is at least half a batch by its end and the timelines
run the pair at that moment; else it waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.jit import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.horizon.timelines import Timeline, TimelineMaker
    from lpsched.model.table import Floats, Integers

DUE: Final = 0.5  # of a batch that is run


@compiled
def followed(  # noqa: PLR0913, PLR0917 - compiled
    begin: int,
    step: int,
    horizon: int,
    due: Floats,
    numbers: Integers,
    ticks: Integers,
    counts: Integers,
    left: Integers,
) -> tuple[Integers, Integers]:
    """Return the batches that follow a mixture, and when each begins; `due` (steps + 1) x P are ticks of each pair.

    `numbers` says of which pair each batch is, `left` of each pair how many tasks there are.
    """
    points = len(due) - 1
    done, time = np.zeros(due.shape[1]), begin
    begins, chosen = [], []
    while time < horizon:
        g, best, most = time // step, -1, DUE
        for b in range(len(ticks)):
            pair, end = numbers[b], time + ticks[b]
            if end > horizon or counts[b] > left[b] or due[min(g + 1, points), pair] <= due[g, pair]:
                continue
            at = end // step
            part = due[at, pair]
            if at < points:
                part += (due[at + 1, pair] - part) * (end - at * step) / step
            share = (part - done[pair]) / ticks[b]
            if share > most:
                best, most = b, share
        if best < 0:
            time = (g + 1) * step
            continue
        begins.append(time)
        chosen.append(best)
        done[numbers[best]] += ticks[best]
        for b in range(len(ticks)):
            if numbers[b] == numbers[best]:
                left[b] -= counts[best]
        time += ticks[best]
    return np.array(begins, dtype=np.int64), np.array(chosen, dtype=np.int64)


def mixed(maker: TimelineMaker, parts: Sequence[tuple[float, Timeline]], limit: Floats) -> Timeline:
    """Return a timeline of one machine that runs about what these shares of timelines run, within the limit."""
    j, grid = parts[0][1].j, maker.grid
    own = maker.batches[j]
    pairs, numbers = np.unique(own.tasks * (own.modes.max() + 1) + own.modes, return_inverse=True)
    rates = np.zeros((grid.points + 1, len(pairs)))
    for share, timeline in parts:
        columns = numbers[timeline.batches]
        ends = timeline.begins + own.ticks[timeline.batches]
        for at, sign in ((timeline.begins, share), (ends, -share)):
            # A line that rises from a moment on: its first step is a part, all later ones are whole.
            g = at // grid.step
            within = (at - g * grid.step) / grid.step
            np.add.at(rates, (g, columns), sign * (1.0 - within))
            np.add.at(rates, (np.minimum(g + 1, grid.points), columns), sign * within)
    due = np.zeros((grid.points + 1, len(pairs)))
    due[1:] = np.cumsum(np.cumsum(rates, axis=0)[:-1], axis=0) * grid.step
    usable = np.flatnonzero(own.spans == own.ticks)
    left = np.round(limit[own.tasks[usable]]).astype(np.int64)
    begins, which = followed(
        maker.ready[j], grid.step, grid.horizon, due, numbers[usable], own.ticks[usable], own.counts[usable], left
    )
    return maker.timeline(j, begins, usable[which])
