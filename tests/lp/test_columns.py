"""The engine gives the answer of the whole program, and its bound holds whenever it stops."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import SolverError
from lpsched.lp.columns import ColumnGeneration, Priced
from lpsched.lp.program import Columns, LinearProgram, LpStatus, Master, Rows
from lpsched.lp.solvers import ColdMaster, HighsSolver

WIDTHS = np.array([3.0, 5.0, 7.0])
DEMANDS = np.array([25.0, 20.0, 18.0])
ROLL = 16.0


def patterns() -> list[tuple[int, ...]]:
    most = [int(ROLL // width) for width in WIDTHS]
    every = product(*(range(each + 1) for each in most))
    return [each for each in every if 0 < float(WIDTHS @ each) <= ROLL]


def as_columns(chosen: list[tuple[int, ...]]) -> Columns:
    cells = [(row, count) for pattern in chosen for row, count in enumerate(pattern) if count]
    lengths = [sum(1 for count in pattern if count) for pattern in chosen]
    return Columns(
        costs=np.ones(len(chosen)),
        upper=np.full(len(chosen), 100.0),
        starts=np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
        rows=np.array([row for row, _ in cells], dtype=np.int32),
        values=np.array([float(count) for _, count in cells]),
    )


def empty() -> LinearProgram:
    nothing = np.zeros(0)
    return LinearProgram(
        name="cutting",
        costs=nothing,
        offset=0.0,
        upper=nothing,
        row_names=("3", "5", "7"),
        row_lower=DEMANDS,
        row_upper=np.full(3, np.inf),
        starts=np.zeros(4, dtype=np.int32),
        columns=np.zeros(0, dtype=np.int32),
        values=nothing,
        blocks={},
    )


class Cutting:
    """The fewest rolls from which the widths can be cut: one column for each pattern."""

    def __init__(self) -> None:
        self.all = patterns()
        self.asked: list[np.ndarray] = []

    def price(self, multipliers):
        self.asked.append(multipliers)
        y = np.maximum(multipliers[:3], 0.0)
        worth = np.array([float(y @ each) for each in self.all])
        best = int(worth.argmax())
        # At most `worth` of demand is met by a roll, so y d / worth rolls are needed at least.
        bound = float(y @ DEMANDS) / max(1.0, float(worth[best]))
        return Priced(as_columns([self.all[best]]), [self.all[best]], bound)


def singles() -> list[tuple[int, ...]]:
    return [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def engine(oracle: Cutting, **options) -> ColumnGeneration[tuple[int, ...]]:
    program = empty().with_columns(as_columns(singles()))
    return ColumnGeneration(HighsSolver(), program, oracle, singles(), **options)


def whole() -> float:
    return HighsSolver().solve(empty().with_columns(as_columns(patterns()))).value


def test_the_engine_finds_the_optimum_of_the_whole_program():
    found = engine(Cutting()).run(gap=1e-9)
    assert found.status is LpStatus.OPTIMAL
    assert found.solution.value == pytest.approx(whole(), rel=1e-9)
    assert found.bound == pytest.approx(whole(), rel=1e-9)
    assert len(found.labels) == len(found.solution.values)


def test_every_bound_on_the_way_holds():
    oracle = Cutting()
    engine(oracle).run(gap=1e-9)
    bounds = [oracle.price(asked).bound for asked in list(oracle.asked)]
    assert max(bounds) <= whole() * (1 + 1e-12)
    assert len(set(bounds)) > 2


def test_a_wide_gap_stops_early_with_a_bound_that_holds():
    early, late = Cutting(), Cutting()
    found = engine(early).run(gap=0.5)
    engine(late).run(gap=1e-9)
    assert len(early.asked) < len(late.asked)
    assert found.bound <= whole() <= found.solution.value
    assert found.solution.value - found.bound <= 0.5 * found.solution.value


def test_a_watch_that_is_over_still_gives_a_point_and_a_bound():
    cancel = CancelToken()
    oracle = Cutting()
    stopping = CancelToken(listener=lambda _: stopping.stop())
    found = engine(oracle).run(gap=1e-9, cancel=stopping)
    assert found.status is LpStatus.LIMIT
    assert found.rounds == 1
    assert 0 < found.bound <= whole() <= found.solution.value
    assert not cancel.expired()


def test_a_good_centre_is_asked_first_and_its_bound_counts():
    best = engine(Cutting()).run(gap=1e-9).multipliers
    oracle = Cutting()
    found = engine(oracle).run(gap=1e-9, centre=best)
    assert np.array_equal(oracle.asked[0], best)
    assert found.bound == pytest.approx(whole(), rel=1e-9)


def test_costs_may_change_between_runs():
    generation = engine(Cutting())
    first = generation.run(gap=1e-9)
    generation.master.change_cost(0, 0.1)  # a narrow piece was worth a sixth of a roll
    again = generation.master.solve()
    assert again.value < first.solution.value
    assert again.value == pytest.approx(HighsSolver().solve(generation.master.program).value, rel=1e-9)


def test_a_round_limit_and_a_slack_end_the_work_with_a_bound_that_holds():
    counted = Cutting()
    found = engine(counted).run(gap=1e-9, most=2)
    assert found.status is LpStatus.LIMIT
    assert found.bound <= whole() <= found.solution.value
    near = engine(Cutting()).run(gap=0.0, slack=5.0)
    assert near.status is LpStatus.OPTIMAL
    assert near.solution.value - near.bound <= 5.0


class Failing:
    """A master whose hot starts fail: with an error, or with a status that is no answer."""

    def __init__(self, master: Master, *, loud: bool) -> None:
        self.inner, self.loud, self.solves = master, loud, 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def solve(self, cancel=None):
        self.solves += 1
        solution = self.inner.solve(cancel)
        if self.solves == 1:
            return solution
        if self.loud:
            raise SolverError("gave up")
        return replace(solution, status=LpStatus.FAILED)


@pytest.mark.parametrize("loud", [True, False])
def test_a_hot_start_that_fails_is_tried_again_from_cold(loud):
    generation = engine(Cutting())
    generation.master = Failing(generation.master, loud=loud)
    assert generation.run(gap=1e-9).solution.value == pytest.approx(whole(), rel=1e-9)


class Stopped(Failing):
    """A master that is stopped at its second solve, where it stands at no point of the program."""

    def solve(self, cancel=None):
        solution = self.inner.solve(cancel)
        self.solves += 1
        if self.solves == 1:
            return solution
        return replace(solution, status=LpStatus.LIMIT, values=np.zeros_like(solution.values))


def test_a_solver_that_is_stopped_hands_back_its_last_point():
    generation = engine(Cutting())
    first = generation.master.solve()
    generation.master = Stopped(generation.master, loud=True)
    found = generation.run(gap=1e-9)
    assert found.status is LpStatus.LIMIT
    assert found.solution.values == pytest.approx(first.values)


class AtMostTwice:
    """Rows that come only when they are broken: no pattern is cut more than `most` times."""

    def __init__(self, most: float) -> None:
        self.most = most
        self.calls = 0

    def broken(self, solution):
        self.calls += 1
        over = np.flatnonzero(solution.values > self.most + 1e-9)
        if not len(over):
            return None
        return Rows(
            names=tuple(f"most[{each}]" for each in over),
            lower=np.full(len(over), -np.inf),
            upper=np.full(len(over), self.most),
            starts=np.arange(len(over) + 1, dtype=np.int32),
            columns=over.astype(np.int32),
            values=np.ones(len(over)),
        )


def test_lazy_rows_are_kept_in_the_end():
    separator = AtMostTwice(6.0)
    start = [*singles(), (5, 0, 0), (0, 3, 0), (0, 0, 2)]
    program = empty().with_columns(as_columns(start))
    generation = ColumnGeneration(HighsSolver(), program, Cutting(), start, separator)
    found = generation.run(gap=1e-9)
    assert separator.calls > 1
    assert len(found.solution.program.row_names) > 3
    assert found.solution.values.max() <= 6.0 + 1e-7
    assert found.bound <= found.solution.value * (1 + 1e-9)


def test_a_cold_master_and_a_hot_one_agree():
    program = empty().with_columns(as_columns(singles()))
    masters: list[Master] = [HighsSolver().master(program), ColdMaster(HighsSolver(), program)]
    rows = Rows(
        ("few",), np.array([-np.inf]), np.array([3.0]), np.array([0, 1], np.int32), np.array([0], np.int32),
        np.array([1.0]),
    )  # fmt: skip
    for master in masters:
        master.solve()
        master.add_columns(as_columns(patterns()))
        master.solve()
        master.add_rows(rows)
        master.change_cost(1, 0.9)
    values = [master.solve().value for master in masters]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert np.array_equal(masters[0].program.costs, masters[1].program.costs)


def test_reduced_costs_and_a_choice_of_columns():
    columns = as_columns([(1, 0, 2), (0, 3, 0), (5, 0, 0)])
    y = np.array([0.1, 0.2, 0.3])
    assert columns.reduced_costs(y) == pytest.approx([1 - 0.7, 1 - 0.6, 1 - 0.5])
    taken = columns.take(np.array([2, 0], dtype=np.int32))
    assert taken.reduced_costs(y) == pytest.approx([0.5, 0.3])


def test_rows_added_to_a_program_hold():
    program = empty().with_columns(as_columns(patterns()))
    row = Rows(("cap",), np.array([-np.inf]), np.array([1.0]), np.array([0, 1], np.int32),
               np.array([3], np.int32), np.array([1.0]))  # fmt: skip
    assert HighsSolver().solve(program.with_rows(row)).values[3] <= 1.0 + 1e-9
