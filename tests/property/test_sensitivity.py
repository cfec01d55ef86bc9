"""What an answer depends on: against every schedule of tiny bags, exactly, and against models that solve again."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from lpsched.bag.model import Terms, with_machines
from lpsched.bag.pricing.sensitivity import sensitivity
from lpsched.bag.solve import solve
from lpsched.errors import InfeasibleError, NotFoundError
from models.profit import break_even_price, income, least_running_cost
from models.sensitivity import most_of_use, rate_at_electricity, rate_with
from tests.property.bags import Ranges, priced_bags
from tests.property.tiny import Case, case_of, cases

pytestmark = pytest.mark.rotate_tests(2)

HOUR = 3600
SMALL = Ranges(
    seconds=st.integers(1, 6).map(float),
    watts=st.integers(1, 20).map(float),
    tasks=st.integers(1, 30),
    machines=st.integers(1, 3),
    most_types=2,
)
CLOSE = 1e-7
few = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answers(bag):
    """Return the answers, or pass over a bag that no schedule fits or none was found for."""
    try:
        return sensitivity(bag)
    except (InfeasibleError, NotFoundError):
        reject()


def at_electricity(case: Case, per_kwh: float) -> Case:
    return Case(
        case.bag.model_copy(update={"prices": case.bag.prices.model_copy(update={"electricity_per_kwh": per_kwh})}),
        case.ways,
    )


@few
@given(cases())
def test_no_schedule_earns_below_the_price_needed_and_one_does_at_the_price_that_is_enough(case):
    need = answers(case.bag).price_need
    best = Case(Terms(price=need.needed).applied_to(case.bag), case.ways).best("profit")
    assert best is None or best <= 0
    if need.enough is not None:
        assert Case(Terms(price=need.enough).applied_to(case.bag), case.ways).best("profit") >= 0


@few
@given(cases(watts=True))
def test_no_schedule_passes_the_bound_at_any_price_of_electricity(case):
    found = answers(case.bag).electricity
    for piece in found.pieces:
        best = at_electricity(case, piece.from_price_per_kwh).best("profit")
        assert best is None or HOUR * best <= Fraction(piece.bound_at_from)
        if piece.to_price_per_kwh is not None:
            middle = (piece.from_price_per_kwh + piece.to_price_per_kwh) / 2
            best = at_electricity(case, middle).best("profit")
            line = max(piece.bound_at_from, piece.bound_at_to)
            assert best is None or HOUR * best <= Fraction(line)
    if found.no_profit_from is not None:
        for price in (found.no_profit_from, 2 * found.no_profit_from + 1):
            best = at_electricity(case, price).best("profit")
            assert best is None or best <= 0
    if found.earns_up_to is not None:
        assert at_electricity(case, found.earns_up_to).best("profit") >= 0


@few
@given(cases(), st.integers(1, 2))
def test_no_schedule_passes_the_bound_with_more_machines(case, more):
    found = answers(case.bag)
    for need in found.machines:
        assert (need.sure_more > 0) == (need.sure_adds_at_least is not None)
        assert need.sure_adds_at_least is None or need.sure_adds_at_least > 0
        ways = with_machines(case.bag, {need.name: need.count + more})
        best = case_of(ways).best("profit")
        if best is None:
            continue
        lines = [
            Fraction(piece.bound_at_from)
            + Fraction(piece.adds_per_hour) * (need.count + more - Fraction(piece.from_count))
            for piece in need.pieces
        ]
        assert all(HOUR * best <= line for line in lines if need.count + more <= need.pieces[-1].to_count)
        assert HOUR * best <= Fraction(need.bound_at_most)  # whatever their number
        if need.sure_more == more:
            assert HOUR * best >= Fraction(need.value_at_sure)


@few
@given(priced_bags(SMALL), st.data())
def test_breakpoints_are_where_the_models_bend(bag, data):
    found = answers(bag)
    size = abs(found.bound) + abs(found.electricity.pieces[0].bound_at_from)
    assert [need.adds_per_hour for need in found.machines] in ([], list(solve(bag).worth.machine_types.values()))
    assert found.price_need.needed == pytest.approx(break_even_price(bag), rel=CLOSE)
    piece = data.draw(st.sampled_from(found.electricity.pieces))
    if piece.to_price_per_kwh is not None:
        middle = (piece.from_price_per_kwh + piece.to_price_per_kwh) / 2
        line = (piece.bound_at_from + piece.bound_at_to) / 2
        assert line == pytest.approx(HOUR * rate_at_electricity(bag, middle), rel=CLOSE, abs=CLOSE * size)
    j = data.draw(st.integers(0, len(bag.machine_types) - 1))
    assume(found.machines)
    need = found.machines[j]
    assume(bag.site.deadline_seconds is not None or income(bag) > least_running_cost(bag))
    if need.pieces and most_of_use(bag, j):
        end = int(need.pieces[-1].to_count - need.count)  # there, or with one more, the bound is highest
        highest = max(HOUR * rate_with(bag, j, more) for more in {0, end})
        assert highest <= need.bound_at_most + CLOSE * size
        if end == need.pieces[-1].to_count - need.count:
            assert highest == pytest.approx(need.bound_at_most, rel=CLOSE, abs=CLOSE * size)
