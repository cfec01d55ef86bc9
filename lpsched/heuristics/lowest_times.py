"""The n smallest of many evenly spaced times, however large n is.

Stream g has the times  f_g, f_g + e_g, f_g + 2 e_g, ...,  each m_g times over: the ends (or starts) of
equal tasks of length e_g, one after the other, on m_g machines that are ready together. A rule that always
takes the earliest time, n times, takes the n smallest of all streams together; of equal times, those of the
first stream first.

    r_g(t) = max(0, floor((t - f_g) / e_g) + 1)     rounds of stream g up to time t
    c(t)   = sum m_g r_g(t)                         times up to t, which never falls

All numbers are whole. Two times low < high with c(low) <= n <= c(high) are brought together, by halving and
by interpolation in turn, until only a few rounds lie between them. Those are sorted and taken one by one;
the last may be taken in part. If low + 1 = high, each stream has one round between them at most, so that
this ends. The work grows with the number of streams and the logarithm of n and of the ratio of the e_g.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW: Final = 2  # rounds for each stream, which are sorted


class Stream(NamedTuple):
    """Evenly spaced times: the first, the step between them, and how often each is there."""

    first: int
    step: int
    machines: int

    def rounds(self, time: int) -> int:
        """Return how many rounds there are up to a time, that one included."""
        return (time - self.first) // self.step + 1 if time >= self.first else 0


@dataclass(frozen=True, slots=True)
class Lowest:
    """Whole rounds of each stream; the one of which only some machines get a round more; the last time."""

    rounds: list[int]
    split: tuple[int, int] | None  # stream, machines
    last: int


def lowest(streams: Sequence[Stream], count: int) -> Lowest:
    """Take the `count` smallest times, at least one.

    >>> lowest([Stream(3, 3, 2), Stream(5, 5, 1)], 4)  # 3 3 5 6 6 ...
    Lowest(rounds=[1, 1], split=(0, 1), last=6)
    """
    enough = min(each.first + (-(-count // each.machines) - 1) * each.step for each in streams)
    near = [k for k, each in enumerate(streams) if each.first <= enough]
    low, high = _bracket([streams[k] for k in near], count, enough)
    rounds = [0] * len(streams)
    between = []
    for k in near:
        rounds[k] = streams[k].rounds(low)
        between += [
            (streams[k].first + q * streams[k].step, k) for q in range(rounds[k], streams[k].rounds(high))
        ]
    left = count - sum(streams[k].machines * rounds[k] for k in near)
    split = None
    for _, k in sorted(between):
        if left < streams[k].machines:
            split = (k, left) if left else None
            break
        rounds[k] += 1
        left -= streams[k].machines
    return Lowest(rounds, split, _last(streams, rounds, split))


def _bracket(streams: Sequence[Stream], count: int, enough: int) -> tuple[int, int]:
    """Return low and high with c(low) <= count <= c(high) and few rounds between them."""
    low, high = min(each.first for each in streams) - 1, enough
    below, above = 0, sum(each.machines * each.rounds(high) for each in streams)
    halve = False
    while below < count and _rounds_between(streams, low, high) > FEW * len(streams):
        share = (count - below) * (high - low) // (above - below)
        middle = (low + high) // 2 if halve else min(max(low + share, low + 1), high - 1)
        there = sum(each.machines * each.rounds(middle) for each in streams)
        if there <= count:
            low, below = middle, there
        else:
            high, above = middle, there
        halve = not halve
    return low, low if below == count else high


def _rounds_between(streams: Sequence[Stream], low: int, high: int) -> int:
    return sum(each.rounds(high) - each.rounds(low) for each in streams)


def _last(streams: Sequence[Stream], rounds: Sequence[int], split: tuple[int, int] | None) -> int:
    """Return the latest time taken."""
    if split is not None:
        k = split[0]
        return streams[k].first + rounds[k] * streams[k].step
    return max(
        each.first + (number - 1) * each.step
        for each, number in zip(streams, rounds, strict=True)
        if number > 0
    )
