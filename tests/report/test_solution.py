"""What `lpsched solve` prints: every number can be found on paper, every claim says how it is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lpsched.bag.model import Bag, bag_from_dict
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.one_more import with_fewer, with_one_more
from lpsched.bag.pricing.what_if import what_if
from lpsched.bag.relaxation import Regime
from lpsched.bag.result import FRONT_HEADERS, TWO_SIDED, Between, HalfPlane, OneMore, Point
from lpsched.bag.solve import solve
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Status
from lpsched.model.table import Table
from lpsched.report.solution import advice, front_tables, ledger, result_tables, what_if_tables
from lpsched.report.tables import FoldingTable
from tests.report import fronts
from tests.report.test_tables import shown
from tests.support import half_full, sound

INSTANCES = Path(__file__).parents[2] / "instances"
FORCED = "the deadline forces the work; not running would lose 2 EUR/h."


def hourly(price=10.0, tasks=1, **site) -> Bag:
    """Return tasks of an hour on two machines that wear off 4 while busy, and lose 1 an hour each."""
    own = MachineType(name="own", count=2, wear_per_busy_hour=4.0, purchase_price=10.0, mean_hours_to_failure=10.0)
    prices = Prices(per_bag=price, electricity_per_kwh=0.0, currency="EUR")
    types = (TaskType(name="t", count=tasks),)
    return Bag("b", (own,), types, Table.of([[3600.0]]), None, prices, Site(**site))


@pytest.mark.parametrize(
    ("bag", "headline"),
    [
        # 10 - 4 - 2 x 1 = 4 an hour
        (hourly(), "Earns 4 EUR/h, the most possible (gap 0 %, proved)."),
        # 5 - 4 - 2 = -1, and -2 if nothing runs
        (hourly(5.0), "Loses 1 EUR/h, the least possible (gap 0 %, proved); not running would lose more, 2 EUR/h."),
        (hourly(3.0), "Best not to run: that loses 2 EUR/h, the least possible (gap 0 %, proved)."),
        # 3 - 4 - 2 = -3
        (hourly(3.0, deadline_seconds=3600.0), f"Loses 3 EUR/h, the least possible (gap 0 %, proved); {FORCED}"),
        (half_full(), "Done in 6 s, at least 4 s needed (gap 50 %, proved)."),
    ],
)
def test_the_headline_says_what_comes_of_it_and_what_is_possible(bag, headline):
    assert solve(bag, effort="balanced").headline() == headline


def test_value_and_bound_are_rounded_so_that_they_stay_true():
    result = replace(solve(hourly()), value=20.8912, bound=20.8998, gap=0.00041151)
    assert result.headline() == "Earns 20.89 EUR/h, at most 20.90 possible (gap 0.04116 %, proved)."
    close = replace(result, bound=20.8912 * (1 + 3e-9), gap=3e-9)
    assert close.headline() == "Earns 20.8912 EUR/h, at most 20.8913 possible (gap under 0.001 %, proved)."
    reached = replace(solve(half_full(), objective="makespan"), value=10_739.4, bound=10_739.4, gap=0.0)
    assert reached.headline() == "Done in 2 h 59 min, the least possible (gap 0 %, proved)."
    assert [row[1] for row in reached.facts()[:3]] == ["2 h 58 min 59 s", "2 h 58 min 59 s", "0 %"]
    loses = replace(result, value=-2.0008, bound=-1.9996, gap=0.0007, regime=Regime.LOSS)
    assert loses.headline().startswith("Loses 2.0008 EUR/h, at least 1.9996 is lost in any case (gap 0.07 %")
    open_ = replace(loses, bound=0.5, gap=None, bound_regime=Regime.PROFIT)
    assert open_.headline().startswith("Loses 2.001 EUR/h, at most 0.500 possible (proved)")
    assert open_.status_text().endswith("The bound leaves room for profit.")


def test_energy_is_told_in_kwh():
    # 1 kW for an hour
    bag = hourly().model_copy(update={"watts": Table.of([[1000.0]])})
    assert solve(bag, objective="energy").headline() == "Takes 1 kWh, the least possible (gap 0 %, proved)."


def test_how_the_search_ended_is_one_short_line():
    result = solve(hourly())
    assert result.status_text() == "Optimal."
    assert replace(result, gap=5e-5).status_text() == "Optimal within the gap asked for."
    cut = replace(result, status=Status.LIMIT)
    assert cut.status_text() == "Stopped before the end; a rerun may differ."
    assert replace(cut, stopped="interrupted").status_text() == "Interrupted; a rerun may differ."
    more = replace(result, status=Status.FEASIBLE, tight_may_help=True)
    assert more.status_text() == "--effort tight may close the gap."
    assert solve(hourly(3.0)).status_text() == "Optimal. The price does not cover what the tasks cost."


def test_money_stands_in_columns_that_add_up():
    # Three tasks on two machines: two hours. 30 - 3 x 4 of wear - 2 x 2 of depreciation = 14.
    text = shown(*result_tables(solve(hourly(30.0, tasks=3))))
    rows = [line.split() for line in text.split("\n\n")[0].splitlines() if line.strip()]
    assert rows[2:7] == [
        ["EUR/h", "EUR/bag"],
        ["revenue", "15.00", "30.00"],
        ["wear", "-6.00", "-12.00"],
        ["depreciation", "-2.00", "-4.00"],
        ["profit", "7.00", "14.00"],
    ]


def test_a_ledger_shows_two_digits_of_the_smallest_amount():
    assert ledger([25.8712, -0.0123, 25.8589]) == ["25.871", "-0.012", "25.859"]
    assert ledger([1.0, -1e-9, 1.0]) == ["1.000000", "0.000000", "1.000000"]  # seven digits are enough; 0 has no sign
    assert ledger([10.0, -9.6519, 0.3481]) == ["10.000", "-9.652", "0.348"]  # three digits of the profit
    assert ledger([1e-15, None]) == ["0", "-"]


def test_tasks_sold_below_cost_are_marked():
    # Two hours: (3 + 9 - 2 x 4) / 2 = 2 an hour. An hour more costs 4 of wear, and the 2 that are not earned then.
    own = MachineType(name="own", count=1, wear_per_busy_hour=4.0)
    prices = Prices(per_task={"cheap": 3.0, "dear": 9.0}, electricity_per_kwh=0.0)
    types = (TaskType(name="cheap", count=1), TaskType(name="dear", count=1))
    bag = Bag("b", (own,), types, Table.of([[3600.0], [3600.0]]), None, prices)
    result = solve(bag)
    assert result.task_prices is not None
    assert result.task_prices["cheap"] == {"charged": 3.0, "minimum": pytest.approx(6.0), "below_cost": True}
    assert result.task_prices["dear"]["below_cost"] is False
    lines = shown(*result_tables(result)).splitlines()
    assert [
        line.rstrip().endswith("below min. price (LP)") for line in lines if line.startswith(("cheap", "dear"))
    ] == [True, False]
    assert solve(bag, price=12.0).task_prices is None  # a price of the whole bag is none of its tasks


def test_of_many_task_types_the_largest_are_shown_and_where_the_others_run():
    types = tuple(TaskType(name=f"t{i}", count=2) for i in range(15))
    table = Table.of([[float(1 + i)] for i in range(15)])
    bag = Bag("b", (MachineType(name="m", count=2),), types, table)
    text = shown(*result_tables(solve(bag, effort="fast")))
    assert "3 smaller types, 6 tasks: m 6 (--json has all)" in text
    assert "t3 " in text
    assert "t2 " not in text


def test_limits_that_are_reached_are_named():
    def limit(bag):
        return [
            line.split("  ", 1)[1].strip()
            for line in shown(*result_tables(solve(bag))).splitlines()
            if "at the limit" in line
        ]

    assert limit(hourly()) == ["longest task (t, at least 1 h)"]
    assert limit(hourly(40.0, tasks=4)) == ["all machine types (busy 99 % or more)"]
    assert limit(hourly(3.0, tasks=3, deadline_seconds=7200.0)) == ["deadline"]


def test_p_states_are_counted():
    text = shown(*result_tables(solve(bag_from_dict(sound()))))
    assert "tasks by P-state: gpu P" in text


def test_advice_is_what_is_proved_and_nothing_else():
    bag = hourly(tasks=1)  # the second machine loses 1 an hour, and a third would too
    result = with_fewer(with_one_more(bag, solve(bag)))
    fewer, more = advice(result)
    assert fewer == "Fewer machines earn more: with only own 1 of 2, at least +1 EUR/h (proved)."
    assert more == "One more machine loses at least (proved), EUR/h: own 1."
    little = replace(result, value=2000.0)  # 1 an hour is not worth a line then
    assert advice(little) == [more]
    steps = OneMore("EUR/hour", FrozenDict({"a": Between(0.25, 0.3), "b": Between(-0.5, 0.9)}), sells=True)
    assert advice(replace(solve(bag), one_more=steps)) == ["One more a adds at least 0.25 EUR/h (proved)."]
    unknown = OneMore("EUR/hour", FrozenDict({"a": Between(None, 0.3), "b": Between(-0.5, None)}), sells=True)
    assert advice(replace(solve(bag), one_more=unknown)) == []
    assert advice(solve(bag)) == []


def test_a_proved_price_far_below_that_of_the_linear_program_is_explained():
    # Three tasks on two machines: a fourth one costs its wear of 4, by the linear program more.
    bag = hourly(30.0, tasks=3)
    result = with_one_more(bag, solve(bag))
    text = shown(*result_tables(result))
    assert "break-even price of one more task (proved), EUR: t 4\n" in text
    assert "one whole task more may fit into idle time" in text
    assert result.worth is not None
    assert result.one_more is not None
    worth = replace(result.worth, task_types=FrozenDict({"t": 7.0}), one_fewer=None)  # no more than twice as much
    assert "one whole task more may fit into idle time" not in shown(*result_tables(replace(result, worth=worth)))
    tiny = replace(result.one_more, task_types=FrozenDict({"t": Between(8.4171e-05, 8.41715e-05)}))
    assert "EUR: t 0.00008417 to 0.00008418\n" in shown(*result_tables(replace(result, one_more=tiny)))


def test_a_front_has_the_digits_that_its_distances_need():
    exact = replace(
        fronts.EXACT,
        vertices=(Point(3_155_677.2, 10_723.775), Point(4e6, 11_664.4)),
        measured=(Point(3_155_677.2, 10_723.775), Point(4e6, 11_673.2)),
        proofs=(HalfPlane(1.0, 0.0, 3_155_677.2), HalfPlane(0.0, 1.0, 11_665.0)),
    )
    assert exact.rows() == [
        ("1", "876.577 Wh", "2 h 58 min 43.7 s", "876.577 Wh", "2 h 58 min 43.7 s", "0 %"),
        ("2", "1.111 kWh", "3 h 14 min 24 s", "1.111 kWh", "3 h 14 min 33 s", "0.07545 %"),
    ]
    assert exact.headline().startswith(
        "verified schedules from 876.577 Wh in 2 h 59 min to 1.111 kWh in 3 h 14 min 33 s"
    )
    assert "less than 876.577 Wh, and none less than 3 h 14 min 25 s." in exact.headline()
    text = shown(*front_tables(replace(exact, stopped="interrupted")), width=100)
    assert "Above the LP vertex: in energy or makespan, whichever is more." in " ".join(text.split())
    assert max(map(len, shown(FoldingTable(FRONT_HEADERS, tuple(exact.rows()))).splitlines())) < 80
    assert "Interrupted: all vertices are there" in text


def test_a_what_if_shows_machines_only_where_they_differ_and_explains_two_sides():
    bag = bag_from_dict(sound())
    assert "machine type" not in shown(*what_if_tables(what_if(bag, {"zip": 4}, objective="makespan")))
    found = what_if(bag, {"gpu": 2, "power-cap": "2kW"})
    text = shown(*what_if_tables(found))
    assert "power cap from none to 2 kW" in text
    assert TWO_SIDED not in text
    both = shown(*what_if_tables(what_if(INSTANCES / "tiny.yaml", {"fast": 2})))
    assert "0.6 / 1.8" in both
    assert TWO_SIDED in both


def test_lines_fit_a_hundred_columns_whatever_the_width():
    bag = hourly(30.0, tasks=3)
    result = with_fewer(with_one_more(bag, solve(bag)))
    for width in (100, 10_000):
        assert max(len(line.rstrip()) for line in shown(*result_tables(result), width=width).splitlines()) <= 100


@pytest.mark.parametrize(
    ("prices", "watts", "line"),
    [
        (Prices(electricity_per_kwh=0.1), 5.0, "The bag has no price: --price AMOUNT (what the bag sells for) "),
        (Prices(electricity_per_kwh=0.0), None, "The bag has no price: --price AMOUNT (what the bag sells for) "),
        (Prices(), 5.0, "The bag has no price: with prices.electricity_per_kwh in the file, --price AMOUNT "),
        (Prices(electricity_per_kwh=0.1), None, None),  # a profit would need watts
        (Prices(electricity_per_kwh=0.1, per_bag=0.0), 5.0, None),
        (Prices(electricity_per_kwh=0.1, per_task={"t": 1.0}), 5.0, None),
    ],
)
def test_a_bag_without_a_price_is_told_how_to_give_one(prices, watts, line):
    own, types = MachineType(name="own", count=2), (TaskType(name="t", count=3),)
    bag = Bag("b", (own,), types, Table.of([[3600.0]]), None if watts is None else Table.of([[watts]]), prices)
    words = " ".join(shown(*result_tables(solve(bag, objective="makespan"))).split())
    if line is None:
        assert "no price" not in words
    else:
        assert line in words
        assert words.endswith("maximises profit, and 'lpsched price' shows it at every price.")
    if line is not None and "with prices" not in line:
        assert solve(bag, price=30.0).objective == "profit"  # as the line says
