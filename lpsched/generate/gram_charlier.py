"""Moments of numbers, and the density of Gram and Charlier that has them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers


NO_SPREAD: Final = 1e-12  # of the mean; what is smaller is rounding


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean, standard deviation, m3 / m2^1.5 and m4 / m2^2 (3 for a normal distribution).

    Equal numbers have neither skewness nor kurtosis; they are given a normal distribution's, 0 and 3.
    """

    mean: float
    deviation: float
    skewness: float = 0.0
    kurtosis: float = 3.0


def moments(values: Floats) -> Moments:
    """Measure numbers as they stand, none of them negative: n, not n - 1, is in the denominators.

    So does `bag/overview.py`. The five benchmarks of a matrix are all there is of it, and the
    formulas that correct for small samples need more of them than a small matrix has.

    >>> import numpy as np
    >>> moments(np.array([1.0, 1.0, 4.0, 4.0]))
    Moments(mean=2.5, deviation=1.5, skewness=0.0, kurtosis=1.0)
    """
    largest = float(values.max())
    if largest == 0:
        return Moments(0.0, 0.0)
    scaled = (values / largest).tolist()  # so that no power of a huge number overflows
    mean = math.fsum(scaled) / len(scaled)
    second, third, fourth = (math.fsum((x - mean) ** power for x in scaled) / len(scaled) for power in (2, 3, 4))
    deviation = math.sqrt(second)
    if deviation <= NO_SPREAD * mean:
        return Moments(mean * largest, 0.0)
    return Moments(mean * largest, deviation * largest, third / deviation**3, fourth / second**2)


# Sampling numbers that have a wanted mean, standard deviation, skewness and kurtosis, all above a floor.
#
# *The density.* Write phi for the normal density, He3 = z^3 - 3z and He4 = z^4 - 6z^2 + 3. The Gram-Charlier
# expansion (type A) of a standardised number z with skewness s and kurtosis 3 + x, and the area below z, are
#     f(z)  =  phi(z) (1  +  s/6 He3(z)  +  x/24 He4(z))
#     F(z)  =  Phi(z)  -  phi(z) (s/6 (z^2 - 1)  +  x/24 (z^3 - 3z))
# The mean, variance, skewness and excess of f are 0, 1, s and x exactly.
#
# *Negative densities.* f is a density only for some (s, x): none for x < 0, and no more than 0 <= x <= 4 with
# |s| < 1.05. A handful of numbers is nearly always outside (five numbers have x <= 1/4). So f is clipped at 0
# and scaled to area 1, which changes all four moments: at s = 0, x = -1 the excess comes out as -0.56.
#
# *Negative samples.* What is sampled is a time, a power or a ratio, and must be positive. So everything below
# some c, where a sample would pass the floor, is cut off; that changes the moments too.
#
# *Correction.* Therefore s and x are not taken as they are, but such that the clipped and cut density has the
# wanted moments. All densities
#     g(z)  ~  phi(z) max(0, w0 + w1 He3(z) + w2 He4(z))  for z > c,    w0 >= 0, w0^2 + w1^2 + w2^2 = 1
# are looked through for the least difference in skewness and kurtosis. A sample is a + b z, with a and b such
# that mean and deviation are those wanted; that determines c = (floor - a) / b. The search starts at the
# expansion itself, (w0, w1, w2) ~ (1, s/6, x/24), and ends there when nothing had to be clipped or cut.
#
# *What is kept.* The mean always; the deviation too, up to about 1.4 (mean - floor). Skewness and kurtosis
# both where such a density has both: far from the floor and at s = 0, kurtosis from 1.21 to 7.55; at s = 1,
# from 2.35 to 7.1; none beyond |s| of about 1.6 (of any numbers, kurtosis >= 1 + s^2). Else those nearest to
# them. `GramCharlier.kept` holds what the density has in truth.
#
# *Samples* come by the inverse of the area, exact at small steps of z and straight in between. They are
# stratified: of n samples each n-th part of the area gets one. Each still has the density, and together they
# show its moments much better than independent ones would, which matters where 25 are drawn and not 10^6.
# Sources: Kendall, The Advanced Theory of Statistics, volume 1, for the expansion; Friese, thesis of 2015,
# section 5.3.4.2, for its use, without a word on negative densities and samples. The correction is ours.
REACH: Final = 7.0  # beyond lies 1e-12 of a normal density
STEPS: Final = 800
DIGITS: Final = 13  # of tables: the last ones differ among computers, and would lead the search elsewhere
NOTHING_LEFT: Final = 1e-6  # of the largest step's area
CLOSE: Final = 1e-3  # in skewness and kurtosis
DIRECTIONS: Final = 16  # of the coarse look
LENGTHS: Final = 6
STARTS: Final = 4  # of the close look; skewness and kurtosis have more than one local optimum
ROUNDS: Final = 40
FIRST_STEP: Final = 0.2
DEVIATION_WEIGHT: Final = 100.0  # a deviation lost by 1 % weighs as much as a skewness lost by 1
Z: Final = np.linspace(-REACH, REACH, STEPS + 1)  # the ends of the steps
ANGLES: Final = [2 * math.pi * part / DIRECTIONS for part in range(DIRECTIONS)]
AROUND: Final = np.round(np.array([[*map(math.cos, ANGLES)], [*map(math.sin, ANGLES)]]), DIGITS)


@dataclass(frozen=True, slots=True)
class GramCharlier:
    """A density to sample from: the area below each of some values, and the moments that it has."""

    values: Floats
    areas: Floats  # from 0 to 1, never falling
    kept: Moments

    def samples(self, rng: np.random.Generator, number: int) -> Floats:
        """Draw numbers, one from each equal part of the area, in random order."""
        parts = (rng.permutation(number) + rng.random(number)) / number
        return np.interp(parts, self.areas, self.values)


@lru_cache(maxsize=128)  # the search takes a tenth of a second, and a small table is grown more than once
def gram_charlier(wanted: Moments, *, floor: float = 0.0) -> GramCharlier:
    """Return the density whose moments come nearest to those wanted, with no value below the floor.

    >>> round(gram_charlier(Moments(10.0, 1.0, 0.3, 2.5)).kept.kurtosis, 3)
    2.5
    """
    assert 0 <= floor <= wanted.mean, "the mean of what lies above a floor lies above it"
    if wanted.deviation == 0:
        return _fixed(np.full(2, wanted.mean), np.array([0.0, 1.0]), wanted)
    unit = Moments(1.0, wanted.deviation / wanted.mean, wanted.skewness, wanted.kurtosis)
    share = floor / wanted.mean
    weights = (1.0, wanted.skewness / 6, (wanted.kurtosis - 3) / 24)
    point = np.array(weights[1:]) / math.hypot(*weights)
    if _misfits(point[:, np.newaxis], unit, share)[0] > CLOSE:
        point = _nearest(point, unit, share)
    return _density(point, unit, share, wanted.mean)


def _density(point: Floats, wanted: Moments, floor: float, unit: float) -> GramCharlier:
    """Return the density at (w1, w2), its values in multiples of `unit`."""
    cut = _cut(point[:, np.newaxis], wanted, floor)
    first, scale = int(cut.first[0]), float(cut.scale[0])
    areas = np.concatenate(([0.0], np.cumsum(_areas(point[:, np.newaxis])[0, first:])))
    values = np.maximum(floor, wanted.mean + scale * (Z[first:] - cut.mean[0]))
    shape = (float(cut.skewness[0]) + 0.0, float(cut.kurtosis[0]))
    kept = Moments(unit * wanted.mean, unit * scale * float(cut.deviation[0]), *shape)
    return _fixed(unit * values, areas / areas[-1], kept)


def _fixed(values: Floats, areas: Floats, kept: Moments) -> GramCharlier:
    values.flags.writeable = areas.flags.writeable = False  # later calls return the same arrays
    return GramCharlier(values, areas, kept)


def _nearest(start: Floats, wanted: Moments, floor: float) -> Floats:
    """Search the disc of (w1, w2): a coarse look everywhere, then closely from the most promising points."""
    lengths = [math.sin(part * math.pi / 2 / LENGTHS) for part in range(1, LENGTHS + 1)]  # dense where w0 is small
    points = np.concatenate((start[:, np.newaxis], *(length * AROUND for length in lengths)), axis=1)
    promising = np.argsort(_misfits(points, wanted, floor), kind="stable")[:STARTS]
    found: list[tuple[float, Floats]] = []
    for place in promising:
        found.append(_refined(points[:, place], wanted, floor))
        if found[-1][0] <= CLOSE:
            break
    return min(found, key=lambda each: each[0])[1]


def _refined(point: Floats, wanted: Moments, floor: float) -> tuple[float, Floats]:
    """Go to the best neighbour as long as one is better, else look nearer by; return misfit and point."""
    steps, step, misfit = np.concatenate((np.zeros((2, 1)), AROUND[:, ::2]), axis=1), FIRST_STEP, math.inf
    for _ in range(ROUNDS):
        points = point[:, np.newaxis] + step * steps
        points /= np.maximum(1.0, np.sqrt(points[0] ** 2 + points[1] ** 2))
        misfits = _misfits(points, wanted, floor)
        best = int(misfits.argmin())
        point, misfit, step = points[:, best], float(misfits[best]), step if best > 0 else step / 2
    return misfit, point


def _misfits(points: Floats, wanted: Moments, floor: float) -> Floats:
    """Return how far the densities at some (w1, w2) are from what is wanted."""
    cut = _cut(points, wanted, floor)
    lost = DEVIATION_WEIGHT * (1 - cut.scale * cut.deviation / wanted.deviation)
    return np.sqrt((cut.skewness - wanted.skewness) ** 2 + (cut.kurtosis - wanted.kurtosis) ** 2 + lost**2)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Densities of z, each cut off below the step c at which its smallest sample meets the floor."""

    first: Integers  # number of that step
    scale: Floats  # b: what a unit of z is worth
    mean: Floats  # of z
    deviation: Floats  # of z
    skewness: Floats
    kurtosis: Floats


def _cut(points: Floats, wanted: Moments, floor: float) -> _Cut:
    """Find c for each density: the first step where (mean - c) / deviation is no more than wanted."""
    areas, steps = _areas(points), Z
    left = _from_here_on(areas)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing is left; never chosen
        m1, m2, m3, m4 = (_from_here_on(areas * power) / left for power in _powers())
        deviation = np.sqrt(np.maximum(0.0, m2 - m1 * m1))
        room = np.where(left > NOTHING_LEFT * areas.max(axis=1, keepdims=True), (m1 - steps[:-1]) / deviation, np.inf)
    fits = room <= (wanted.mean - floor) / wanted.deviation
    first = np.where(fits.any(axis=1), fits.argmax(axis=1), room.argmin(axis=1))
    m1, m2, m3, m4, deviation = (each[np.arange(len(first)), first] for each in (m1, m2, m3, m4, deviation))
    scale = np.minimum(wanted.deviation / deviation, (wanted.mean - floor) / (m1 - steps[first]))
    third = m3 - 3 * m1 * m2 + 2 * m1 * m1 * m1
    fourth = m4 - 4 * m1 * m3 + 6 * m1 * m1 * m2 - 3 * m1 * m1 * m1 * m1
    variance = deviation * deviation
    return _Cut(first, scale, m1, deviation, third / (variance * deviation), fourth / (variance * variance))


def _from_here_on(rows: Floats) -> Floats:
    """Return the sum of each entry and all that follow it."""
    return np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]


def _areas(points: Floats) -> Floats:
    """Return the area of each clipped density in each step of z: a row for each (w1, w2)."""
    w1, w2 = points[0][:, np.newaxis], points[1][:, np.newaxis]
    w0 = np.sqrt(np.maximum(0.0, 1.0 - w1 * w1 - w2 * w2))
    normal, third, fourth = _step_areas()
    clipped: Floats = np.maximum(0.0, w0 * normal + w1 * third + w2 * fourth)
    return clipped


@cache
def _powers() -> tuple[Floats, Floats, Floats, Floats]:
    """Return the means of z, z^2, z^3 and z^4 in each step, over which areas are taken as even."""
    middle, wide = (Z[:-1] + Z[1:]) / 2, 2 * REACH / STEPS
    square = middle * middle
    return (
        middle,
        square + wide**2 / 12,
        middle * (square + wide**2 / 4),
        square * (square + wide**2 / 2) + wide**4 / 80,
    )


@cache
def _step_areas() -> tuple[Floats, Floats, Floats]:
    """Return the areas of phi, phi He3 and phi He4 in each step."""
    z = Z
    bell = np.array([math.exp(-each * each / 2) / math.sqrt(2 * math.pi) for each in z.tolist()])
    below = np.array([math.erfc(-each / math.sqrt(2)) / 2 for each in z.tolist()])
    bell, below = np.round(bell, DIGITS), np.round(below, DIGITS)
    return np.diff(below), np.diff(-bell * (z * z - 1)), np.diff(-bell * z * (z * z - 3))
