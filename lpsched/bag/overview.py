"""What `lpsched show` says of a bag: its size, its heterogeneity, its least makespan and energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from lpsched.bag.arrays import arrays_of
from lpsched.bag.compare.result import Overview
from lpsched.bag.exact_front import front as front_of
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.segments import price_stretches
from lpsched.bag.problem import price_at_ratio
from lpsched.bag.profit import revenue_of
from lpsched.bag.result import Heterogeneity, Spread
from lpsched.bag.terms import Terms
from lpsched.errors import InstanceError, LpschedError
from lpsched.lp.solvers import default_solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.compare.result import FrontComparison
    from lpsched.bag.front_result import FrontResult
    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, PriceStretch, Sensitivity
    from lpsched.bag.result import Result
    from lpsched.lp.program import Solver
    from lpsched.model.arrays import Floats


# How different tasks and machines are: numbers that describe a table of seconds.
#
# Of a machine type with P-states only the first one counts. Speeds are s_ij = 1 / e_ij, 0 where a pair
# cannot run.
#
# *Spread.* Coefficient of variation (standard deviation / mean), skewness (m3 / m2^1.5) and kurtosis
# (m4 / m2^2, 3 for a normal distribution), with m_k the k-th central moment. Across task types: within each
# column of seconds, averaged over the columns. Across machine types: within each row, averaged over the rows.
# A line with fewer than two times has no spread, one with equal times has neither skewness nor kurtosis; they
# are left out of the averages.
#
# *Machine performance homogeneity.* The performance of a machine type is the sum of its column of speeds.
# Sorted upwards, MPH is the mean of the ratios of neighbours, p_j / p_(j+1): 1 if all perform alike.
# *Task difficulty homogeneity* is the same of the row sums.
#
# *Task-machine affinity.* Scale rows and columns of the speeds until all row sums are sqrt(M / T) and all
# column sums sqrt(T / M); the largest singular value is then 1. TMA is the mean of the others:
#
#     TMA = sum_{k >= 2} sigma_k / (min(T, M) - 1)
#
# 0 if all tasks rank the machines alike, near 1 if every machine has tasks of its own. The scaling need not
# exist where pairs are absent, so TMA is taken over the machine types that can run everything.
#
# Source: Al-Qawasmeh, Maciejewski, Roberts and Siegel, Characterizing task-machine affinity in heterogeneous
# computing environments, 2011; Friese, section 3.5.3.2 of the thesis of 2015.
ROUNDS: Final = 10_000  # of scaling; it converges geometrically, and each round is cheap
CLOSE: Final = 1e-13
ROUNDING: Final = 1e-14  # what is smaller is an error of rounding


def heterogeneity(bag: Bag) -> Heterogeneity:
    """Measure a bag's seconds."""
    arrays = arrays_of(bag)
    first = [column for column, (_, k) in enumerate(bag.modes) if k == 0]
    seconds = np.where(arrays.can_run, arrays.seconds, np.nan)[:, first]
    speeds = np.nan_to_num(1.0 / seconds)
    return Heterogeneity(
        across_task_types=_spread(list(seconds.T)),
        across_machine_types=_spread(list(seconds)),
        machine_performance_homogeneity=homogeneity(speeds.sum(axis=0)),
        task_difficulty_homogeneity=homogeneity(speeds.sum(axis=1)),
        task_machine_affinity=affinity(speeds[:, (speeds > 0).all(axis=0)]),
    )


def affinity(speeds: Floats) -> float | None:
    """Return the task-machine affinity of a table of positive speeds, `None` if it has one row or column.

    >>> affinity(np.array([[25.0, 10.0, 5.0]] * 3)) < 1e-12
    True
    """
    if min(speeds.shape) < 2:  # noqa: PLR2004 - the mean of no singular values
        return None
    types, machines = speeds.shape
    row_sum, column_sum = np.sqrt(machines / types), np.sqrt(types / machines)
    standard = speeds / speeds.max()
    for _ in range(ROUNDS):
        standard = standard * (row_sum / standard.sum(axis=1, keepdims=True))
        scale = column_sum / standard.sum(axis=0, keepdims=True)
        standard = standard * scale
        if np.abs(scale - 1.0).max() < CLOSE:
            break
    others = np.linalg.svd(standard, compute_uv=False)[1:]
    return float(others.mean())


def homogeneity(performances: Floats) -> float | None:
    """Return the mean ratio of sorted neighbours, `None` if there are fewer than two above 0."""
    positive = np.sort(performances[performances > 0])
    return float((positive[:-1] / positive[1:]).mean()) if len(positive) > 1 else None


def _spread(lines: list[Floats]) -> Spread:
    measured = [_moments(line[~np.isnan(line)]) for line in lines]
    return Spread(*(_mean([each[k] for each in measured if each[k] is not None]) for k in range(3)))


def _moments(line: Floats) -> tuple[float | None, float | None, float | None]:
    if len(line) < 2:  # noqa: PLR2004 - one number has no spread
        return None, None, None
    line = line / line.mean()
    second, third, fourth = (float(((line - 1.0) ** k).mean()) for k in (2, 3, 4))
    if second < ROUNDING**2:
        return 0.0, None, None
    skewness = third / second**1.5
    return second**0.5, skewness if abs(skewness) > ROUNDING else 0.0, fourth / second**2


def _mean(numbers: list[float | None]) -> float | None:
    return float(np.mean(np.array(numbers, dtype=float))) if numbers else None


# Everything about one bag that a page shows: its answer, its front, its price curve with all schedules.
#
# The front and the curve are found unless they are given; one that the bag cannot have, or that would take
# too long, becomes a sentence.
MOST_FRONT_PAIRS: Final = 5_000  # of task types and columns: up to some ten seconds
MOST_CURVE_PAIRS: Final = 2_000  # up to some twenty, with its schedules
BEYOND: Final = 1.25  # how far past the price asked for the curve is walked

Part = TypeVar("Part")


def overview(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    *,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    result: Result | None = None,
    front: FrontResult | FrontComparison | None = None,
    curve: PriceCurve | None = None,
    sensitivity: Sensitivity | None = None,
    effort: str | None = None,
    seed: int = 0,
    solver: Solver | None = None,
) -> Overview:
    """Find what is not given yet of all that a page shows.

    Parameters
    ----------
    price, profit_ratio, power_cap, deadline
        As for `solve`.
    result, sensitivity
        What to show as well.
    front, curve
        Found here if they are not known already; the schedules along the curve always are.
    effort, seed
        Of what is found here, as in `solve`: by default the effort of the result, so that all parts agree.
    """
    solver = solver if solver is not None else default_solver()
    if profit_ratio is not None:
        price = price_at_ratio(bag, profit_ratio, solver)
    asked = Terms(price, power_cap, deadline).applied_to(bag)
    known = asked.prices.per_bag is not None or bool(asked.prices.per_task)
    paid = revenue_of(asked) if known else None
    tried = effort if effort is not None else "auto" if result is None else result.effort.value
    pairs = bag.seconds.rows * bag.seconds.columns

    def own_front() -> FrontResult | FrontComparison:
        return front if front is not None else front_of(asked, effort=tried, seed=seed, solver=solver)

    def own_curve() -> PriceCurve:
        return curve if curve is not None else price_curve(asked, effort=tried, seed=seed, solver=solver)

    def own_stretches() -> tuple[PriceStretch, ...]:
        assert not isinstance(curves, str), "asked only along a curve"
        return price_stretches(asked, curves, to_price=BEYOND * (paid or 0.0), solver=solver)

    fronts = _part(own_front, pairs, MOST_FRONT_PAIRS, given=front is not None)
    curves = _part(own_curve, pairs, MOST_CURVE_PAIRS, given=curve is not None)
    stretches = curves if isinstance(curves, str) else _part(own_stretches, pairs, MOST_CURVE_PAIRS, given=False)
    return Overview(
        bag=asked, price=paid, result=result, front=fronts, curve=curves, stretches=stretches, sensitivity=sensitivity
    )


def _part(find: Callable[[], Part], pairs: int, most: int, *, given: bool) -> Part | str:
    """Return a part, or the sentence that says why there is none."""
    if pairs > most and not given:
        return (
            f"It is left out here, because the bag has {pairs:,} pairs of task and machine types: of more "
            f"than {most:,} it takes long."
        )
    try:
        return find()
    except InstanceError as error:
        needed = "; ".join(fault.needed for fault in error.faults)
        return f"There is none, because the bag does not tell {needed}."
    except LpschedError as error:
        return f"There is none: {error}."
