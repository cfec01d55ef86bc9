from __future__ import annotations

from dataclasses import replace

import pytest

from lpsched.bag.pricing.result import (
    ElectricityBreakEven,
    ElectricityCurveSegment,
    MachineCurveSegment,
    MachineSensitivity,
    PriceBreakEven,
    Sensitivity,
)
from lpsched.bag.relaxation import Regime
from lpsched.model.fields import FrozenDict
from lpsched.report.figures.prices import sensitivity_figure, sensitivity_tooltips, shown_machines
from tests.report.bags import PROVENANCE

BOUND = "LP bound: no schedule earns more, proved"
ELECTRICITY = ElectricityBreakEven(
    price_per_kwh=0.5,
    earns_up_to=0.9,
    no_profit_from=1.0,
    do_not_run_from=2.0,
    pieces=(
        ElectricityCurveSegment(0.0, 1.0, Regime.PROFIT, 10.0, 0.0),
        ElectricityCurveSegment(1.0, 2.0, Regime.LOSS, 0.0, -4.0),
        ElectricityCurveSegment(2.0, None, Regime.DO_NOT_RUN, -4.0, None),
    ),
)


def need(name: str, adds: float, *pieces: MachineCurveSegment, sure: int = 0) -> MachineSensitivity:
    more = round(pieces[-1].to_count) - 3 if pieces else 0
    return MachineSensitivity(
        name, 3, 0.0, None, adds, None, None, more, 9.0, sure, 4.5 if sure else None, None, None, pieces
    )


# From 3 machines with a bound of 5: each of two more adds 1.5, each of four more 0.25.
CPU = need("$cpu$", 1.5, MachineCurveSegment(3.0, 5.0, 1.5, 5.0), MachineCurveSegment(5.0, 9.0, 0.25, 8.0), sure=4)
GPU = need("gpu", 2.0, MachineCurveSegment(3.0, 4.0, 2.0, 5.0))
NEVER = need("old", -1.0)
ALL = Sensitivity(
    unit="USD/hour",
    price=1.0,
    profit_ratio=None,
    bound=5.0,
    value=4.0,
    price_need=PriceBreakEven(0.1, None, None, None, None),
    electricity=ELECTRICITY,
    machines=(CPU, NEVER, GPU),
    notes=(),
    timings=FrozenDict({}),
    provenance=PROVENANCE,
)


def drawn(result):
    return sensitivity_figure(result).axes


def spots(axes, label):
    line = next(each for each in axes.lines if each.get_label() == label)
    return [tuple(map(float, pair)) for pair in line.get_xydata()]


def test_the_bound_falls_over_the_price_of_electricity_and_both_stops_are_named():
    first, *_ = drawn(ALL)
    assert spots(first, BOUND) == [(0.0, 10.0), (1.0, 0.0), (2.0, -4.0)]
    assert spots(first, "current") == [(0.5, 5.0)]
    assert spots(first, "no schedule earns from 1 USD/kWh")[0][0] == pytest.approx(1.0)
    assert spots(first, "best not to run from 2 USD/kWh")[0][0] == pytest.approx(2.0)
    assert [patch.get_x() for patch in first.patches] == [0.0, 1.0, 2.0]
    assert [patch.get_width() for patch in first.patches] == pytest.approx([1.0, 1.0, 0.24])  # a little beyond
    assert first.get_xlabel() == "electricity, USD/kWh"


def test_machine_types_of_which_more_pay_stand_by_what_one_more_adds_on_their_own_scales():
    assert shown_machines(ALL) == (GPU, CPU)
    _, gpu, cpu = drawn(ALL)
    assert (gpu.get_title(loc="left"), cpu.get_title(loc="left")) == ("gpu", r"\$cpu\$")
    assert spots(cpu, BOUND) == [(3.0, 5.0), (5.0, 8.0), (9.0, 9.0)]  # 8 + 4 * 0.25
    assert gpu.get_ylim() == pytest.approx((4.8, 7.2))  # from 5 to 7, and a tenth about it
    assert cpu.get_xlabel() == "machines\nworthwhile: 4 to 6 more"
    assert gpu.get_xlabel() == "machines\nworthwhile: 0 to 1 more"


def test_a_verified_schedule_with_more_machines_is_a_diamond_within_the_scale():
    _, gpu, cpu = drawn(ALL)
    assert spots(cpu, "a verified schedule with more, worthwhile") == [(7.0, 4.5)]
    assert cpu.get_ylim()[0] < 4.5
    assert "a verified schedule with more, worthwhile" not in [line.get_label() for line in gpu.lines]


def test_machines_alone_and_electricity_alone_can_be_drawn():
    assert len(drawn(replace(ALL, electricity=None))) == 2
    assert len(drawn(replace(ALL, machines=(NEVER,)))) == 1


def test_without_a_price_there_is_no_figure():
    nothing = replace(ALL, electricity=None, machines=(), bound=None)
    assert sensitivity_figure(nothing) is None
    assert sensitivity_tooltips(nothing) == ()


def test_electricity_that_no_price_stops_can_be_drawn():
    one = replace(
        ELECTRICITY,
        no_profit_from=None,
        do_not_run_from=None,
        price_per_kwh=0.0,
        pieces=(ElectricityCurveSegment(0.0, None, Regime.PROFIT, 10.0, None),),
    )
    (first,) = drawn(replace(ALL, electricity=one, machines=()))
    assert first.get_xlim() == (0.0, 1.0)


def test_where_waiting_is_best_the_line_goes_on_to_todays_price():
    waits = replace(ALL, electricity=replace(ELECTRICITY, price_per_kwh=3.0), bound=-6.0)
    first, *_ = drawn(waits)
    assert spots(first, BOUND)[-2:] == [(2.0, -4.0), (3.0, -6.0)]
    assert spots(first, "current") == [(3.0, -6.0)]


def test_a_price_today_far_beyond_all_breakpoints_does_not_squeeze_the_line():
    def ends(price):
        first, *_ = drawn(replace(ALL, electricity=replace(ELECTRICITY, price_per_kwh=price)))
        return first.get_xlim()[1], "current" in [line.get_label() for line in first.lines]

    assert ends(5.0) == (pytest.approx(5.6), True)
    assert ends(7.0) == (pytest.approx(2.24), False)  # more than three times 2


def test_of_many_machine_types_twelve_are_drawn():
    several = tuple(replace(GPU, name=f"m{k}", adds_per_hour=float(k)) for k in range(40))
    assert [each.name for each in shown_machines(replace(ALL, machines=several))][:2] == ["m39", "m38"]
    assert len(shown_machines(replace(ALL, machines=several))) == 12


def test_tooltips_stand_at_breakpoints_in_the_panel_that_shows_them():
    found = sensitivity_tooltips(ALL)
    assert [(spot.x, spot.axes) for spot in found] == [(0.0, 0), (1.0, 0), (2.0, 0), (3.0, 1), (3.0, 2), (5.0, 2)]
    assert found[1].label == "electricity at 1 USD/kWh: at most 0 USD/h"
    assert found[5].label == "$cpu$, 5 machines (LP): at most 8 USD/h; marginal value of one more 0.25 USD/h"
    alone = sensitivity_tooltips(replace(ALL, electricity=None))
    assert [spot.axes for spot in alone] == [0, 1, 1]
