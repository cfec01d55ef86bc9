"""Tables, figure and page of a plan: what can be found on paper, and how each number is known."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from lpsched.bag.horizon.bounds import bounds_beside
from lpsched.bag.horizon.result import AT_ONCE, MEAN, Baseline, MachineWorth, SlotRow
from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.slots import SiteSlots, Slots
from lpsched.bag.horizon.solve import plan
from lpsched.bag.horizon.verify import measure_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Site, TaskType
from lpsched.model.series import Series
from lpsched.model.table import Table
from lpsched.report.figures.horizon import date_texts, date_ticks, plan_curves, plan_figure, plan_tooltips, site_watts
from lpsched.report.horizon import NO_KILOWATT, Calendar, calendar_of, plan_tables
from lpsched.report.html.horizon import plan_page
from tests.report.html_reader import Reader
from tests.report.rooms import AWKWARD_NAMES
from tests.report.test_tables import shown

pytestmark = pytest.mark.rotate_tests(10)

START = 1_719_792_000  # 2024-07-01T00:00Z, two o'clock in Berlin
HOUR = 3600.0


@cache
def by_hand(zone="Europe/Berlin", names=("render",), objective="cost"):
    """Return the plan of a kWh, which fits into one hour: the second of three, at 0.1 in place of 0.3 or 0.2.

    The slots are of one hour, one hour and two.
    """
    tasks = tuple(TaskType(name, 2) for name in names)
    machines = MachineType("cpu", len(tasks), may_be_off=True)
    cells = Table.of([[1800.0]] * len(tasks)), Table.of([[1000.0]] * len(tasks))
    bag = Bag(names[-1], (machines,), tasks, *cells, site=Site(time_zone=zone))
    times = tuple(START + each for each in (0, 3600, 7200))
    tariff, carbon = Series(times, START + 14_400, (0.3, 0.1, 0.2)), Series(times, START + 14_400, (100.0, 200.0, 50.0))
    given = {"start": START, "tariff": tariff, "carbon": carbon}
    return plan(bag, horizon=4 * HOUR, objective=objective, effort="fast", **given)


def texts(result, width=100):
    return shown(*plan_tables(result), width=width)


def rows_of(result):
    """Return the lines with their blanks joined."""
    return [" ".join(line.split()) for line in texts(result, 200).splitlines()]


# Tables.
def test_the_tables_say_what_is_measured_what_is_proved_and_what_is_saved():
    lines = rows_of(by_hand())
    assert lines[0] == "Costs 0.1 USD, at least 0.1 USD in any plan (gap 0 %, proved)."
    assert lines[1].startswith("render: 2 tasks on 1 machine, 4 h from 2024-07-01T00:00Z.")
    assert "cost 0.1 USD verified: this plan" in lines
    assert "bound 0.1 USD proved: no plan costs less" in lines
    assert "carbon 200 g measured" in lines  # 1 kWh at 200 g
    assert "electricity 0.1" in lines
    # Run at once it costs 0.3, of which 0.2 are saved; a plan at the mean price of 0.2 runs at once, too.
    assert "compared with cost, USD saves carbon" in lines
    assert "this plan 0.1 200 g" in lines
    assert "all at once: the shortest schedule, from the start 0.3 66.67 % 100 g" in lines
    assert not any(line.startswith("No plan") for line in lines)


def test_a_plan_for_least_carbon_is_compared_by_its_mass():
    lines = rows_of(by_hand(objective="carbon"))  # in the third slot: 50 g, and 0.2
    assert lines[0] == "Emits 50 g, at least 50 g in any plan (gap 0 %, proved)."
    assert "compared with carbon emits less cost, USD" in lines
    assert "all at once: the shortest schedule, from the start 100 g 50 % 0.3" in lines
    assert "one more machine g over the horizon (proved), g" in lines


@pytest.mark.parametrize(("grams", "text"), [(1_234.5, "1.234 kg"), (2_000_000.0, "2 t"), (0.5, "0.5 g")])
def test_masses_have_units_that_fit(grams, text):
    result = by_hand(objective="carbon")
    assert replace(result, value=grams, bound=grams).headline().startswith(f"Emits {text}, ")


def test_costs_have_a_row_for_each_part_that_is_not_zero_and_their_sum():
    result = by_hand()
    parts = {"electricity": 18.7, "wear": 1396.2, "switching": 0.0, "cost": 1414.9}
    lines = rows_of(replace(result, value=1414.9, bound=1413.8, costs=replace(result.costs, **parts)))
    at = lines.index("USD")
    assert lines[at + 1 : at + 5] == ["electricity 18.7", "wear 1,396.2", "sum 1,414.9", lines[at + 4]]
    assert lines[at + 4].startswith("compared with")
    some = replace(result.costs, demand=0.25, moving=0.5, switching=0.125, switch_ons=3)
    words = rows_of(replace(result, costs=some))
    assert [each for each in words if each.startswith(("demand", "moving", "switching"))] == [
        "demand charge 0.250",
        "moving tasks 0.500",
        "switching on, 3 times 0.125",
    ]


def test_carbon_with_a_price_is_a_part_of_the_cost():
    result = by_hand()
    lines = rows_of(replace(result, carbon_price_per_kg=2.0, value=0.5))  # 200 g at 2 USD/kg, and 0.1
    assert "carbon, at 2 USD/kg 0.4" in lines
    assert "sum 0.5" in lines


def test_a_profit_is_revenue_less_costs():
    result = by_hand()
    costs = replace(result.costs, revenue=3.0)
    earns = replace(result, objective="profit", value=2.9, bound=2.95, gap=0.05 / 2.9, costs=costs, tasks=5)
    lines = rows_of(earns)
    assert lines[0] == "Earns 2.90 USD, at most 2.95 USD possible (gap 1.725 %, proved)."
    assert lines[1].startswith("render: 2 of 5 tasks on 1 machine")
    at = lines.index("USD")
    assert lines[at + 1 : at + 4] == ["revenue 3.0", "electricity -0.1", "profit 2.9"]
    assert "one more machine USD over the horizon (proved), USD" in lines
    assert any(line.endswith("earns") for line in lines)


def test_a_baseline_without_a_plan_has_its_reason_and_one_that_loses_money_an_amount():
    result = by_hand()
    cost = result.baselines[0].costs
    none = Baseline(AT_ONCE, "from the start", None, None, reason="it draws 2 kW, but the cap is 1 kW.")
    loses = Baseline(MEAN, "early", -0.5, cost, saves=6.8)
    lines = rows_of(replace(result, objective="profit", value=2.9, bound=2.9, baselines=(none, loses)))
    assert f"{AT_ONCE}: from the start - -" in lines
    assert f"No plan '{AT_ONCE}': it draws 2 kW, but the cap is 1 kW." in lines
    assert f"{MEAN}: early -0.5 3.4 USD" in lines  # 680 % of a loss says nothing


def test_one_more_machine_has_a_derivative_and_what_is_proved():
    given = [("cpu", 1.23456, 1.30001, 0.77777), ("gpu", 2e-17, 3e-70, -2e-17), ("old", 0.5, 0.6, None)]
    worth = tuple(MachineWorth(*each) for each in [*given, ("big", -0.5, -0.25, -0.75)])
    lines = rows_of(replace(by_hand(), machine_worth=worth))
    at = lines.index("marginal value (LP), saves")
    assert lines[at + 1 : at + 6] == [
        "one more machine USD over the horizon (proved), USD",
        "cpu 1.235 0.7777 to 1.301",  # what is proved is rounded outwards
        "gpu 0 0",
        "old 0.5 at most 0.6",
        "big -0.5 -0.75 to -0.25",
    ]
    said = " ".join(lines[at + 6 : at + 10])
    assert "The marginal value is the derivative of the bound by the number of machines, and no promise about" in said
    assert "Proved: one more machine of the type lowers the cost of the best plan by an amount in the last" in said
    assert said.rstrip().endswith("a negative amount: it rises.")


def capped(*kilowatts, start=START, zone="Europe/Berlin"):
    rows = tuple(
        SlotRow("site", HOUR * h, HOUR * (h + 1), 0.01 * h, None, 500.0, 1000.0, worth)
        for h, worth in enumerate(kilowatts)
    )
    result = by_hand(zone)
    return replace(result, slot_rows=rows, start=start, horizon_seconds=HOUR * len(rows))


def test_the_slots_in_which_a_kilowatt_is_worth_most_have_local_dates():
    lines = rows_of(capped(0.0, 0.5, 1e-17, 0.25, 1.0, 0.125, 0.0625, 0.03125))
    at = lines.index("slot (Europe/Berlin) USD/kWh (LP), USD")
    assert lines[at + 1 : at + 6] == [
        "2024-07-01 06:00 to 07:00 CEST 0.04 1",
        "2024-07-01 03:00 to 04:00 CEST 0.01 0.5",
        "2024-07-01 05:00 to 06:00 CEST 0.03 0.25",
        "2024-07-01 07:00 to 08:00 CEST 0.05 0.125",
        "2024-07-01 08:00 to 09:00 CEST 0.06 0.0625",
    ]
    assert len(lines) == at + 6
    assert rows_of(capped(0.0, 1e-17))[-1] == NO_KILOWATT
    assert "kW under" not in texts(by_hand())


def test_an_hour_that_occurs_twice_is_told_apart():
    change = int(datetime(2024, 10, 27, 0, tzinfo=UTC).timestamp())  # three o'clock in summer is two in winter
    calendar = Calendar(change, ZoneInfo("Europe/Berlin"), "Europe/Berlin")
    assert calendar.span(0.0, HOUR) == "2024-10-27 02:00 CEST to 02:00 CET"
    assert calendar.span(HOUR, 2 * HOUR) == "2024-10-27 02:00 to 03:00 CET"
    assert calendar.span(22 * HOUR, 24 * HOUR) == "2024-10-27 23:00 to 2024-10-28 01:00 CET"


def test_without_a_start_moments_count_from_it():
    result = replace(by_hand(), start=None)
    assert calendar_of(result).span(0.0, HOUR) == "0 to 1 h"
    assert calendar_of(replace(result, start=START, horizon_seconds=1e15)).start is None  # beyond the calendar
    assert calendar_of(by_hand(zone=None)).name == "UTC"


@pytest.mark.parametrize("objective", ["cost", "carbon"])
def test_no_line_is_wider_than_100_columns(objective):
    result = by_hand(objective=objective)
    long = Baseline(AT_ONCE, "a meaning " * 8, None, None, reason="a reason " * 30)
    for line in texts(replace(result, baselines=(long, *result.baselines)), 300).splitlines():
        assert len(line.rstrip()) <= 100


# The figure.
def steps(axes):
    return [patch.get_data() for patch in axes.patches]


def test_the_figure_has_a_step_for_each_slot_and_tariff_carbon_and_power_below_each_other():
    tariff, carbon, power = plan_figure(by_hand()).axes
    for axes in (power, tariff, carbon):
        for each in steps(axes):
            assert list(each.edges) == [0.0, 1.0, 2.0, 4.0]  # hours
    assert list(steps(power)[0].values) == pytest.approx([0.0, 1000.0, 0.0])  # a kWh in an hour
    assert list(steps(tariff)[0].values) == [0.3, 0.1, 0.2]
    assert list(steps(carbon)[0].values) == [100.0, 200.0, 50.0]
    assert tariff.get_ylabel() == "tariff,\nUSD/kWh"
    assert power.get_ylabel() == "power, W"
    assert power.get_title(loc="left") == "Power at the machines by task type, average of each slot"


def test_dates_are_those_of_the_zone():
    axes = plan_figure(by_hand()).axes[-1]
    assert axes.get_xlabel() == "time zone: Europe/Berlin"
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels[0] == "02:00\n1 Jul 2024"  # midnight in UTC
    assert axes.get_xticks()[0] == 0.0
    plain = plan_figure(replace(by_hand(), start=None)).axes[-1]
    assert plain.get_xlabel() == "time, hours"


@pytest.mark.parametrize("days", [1, 7, 31, 366])
def test_dates_do_not_overlap_and_are_round(days):
    result = repeated(24 * days, HOUR)
    moments = date_ticks(calendar_of(result), result.horizon_seconds)
    assert 4 <= len(moments) <= 9
    assert all((each.minute, each.second) == (0, 0) for each in moments)
    if days > 1:
        assert {each.hour for each in moments} == {0}  # midnight in summer and in winter
    figure = plan_figure(result)
    figure.canvas.draw()
    labels = figure.axes[-1].get_xticklabels()
    assert [label.get_text() for label in labels] == date_texts(moments)
    boxes = [label.get_window_extent() for label in labels]
    assert all(one.x1 + 2.0 < two.x0 for one, two in pairwise(boxes))
    assert all(box.x0 >= 0.0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_texts_of_dates_name_a_new_day_month_and_year_once():
    days = [datetime(2024, 12, 30, tzinfo=UTC), datetime(2024, 12, 31, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)]
    assert date_texts(days) == ["Mon 30\nDec 2024", "Tue 31\n", "Wed 1\nJan 2025"]
    hours = [
        datetime(2024, 12, 31, 18, tzinfo=UTC),
        datetime(2025, 1, 1, tzinfo=UTC),
        datetime(2025, 1, 1, 6, tzinfo=UTC),
    ]
    assert date_texts(hours) == ["18:00\n31 Dec 2024", "00:00\n1 Jan 2025", "06:00\n"]
    months = [datetime(2024, 11, 1, tzinfo=UTC), datetime(2024, 12, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)]
    assert date_texts(months) == ["Nov\n2024", "Dec\n", "Jan\n2025"]


def slot_rows(site, edges, joules):
    """Return the rows of a site's slots."""
    for (start, end), tariff, own in zip(pairwise(edges), site.tariff, joules, strict=True):
        yield SlotRow(site.name, start, end, tariff, None, float(own) / (end - start), None, None)


def two_sites():
    """Return a bag of two sites, a plan by hand that straddles slots, and what the verifier measures of it."""
    machines = (MachineType("cpu", 3, 10.0, p_states=("fast", "slow")), MachineType("gpu", 2, 50.0, may_be_off=True))
    bag = Bag(
        "two sites",
        machines,
        (TaskType("a", 7), TaskType("b", 2)),
        Table.of([[30.0, 50.0, 20.0], [90.0, None, 45.0]]),
        Table.of([[100.0, 60.0, 300.0], [120.0, None, 280.0]]),
    )
    made = Plan(
        (
            PlanGroup("cpu", 2, (TimedRun(5.0, "a", 1, "slow"), TimedRun(60.0, "a", 1, "fast"))),
            PlanGroup("cpu", 1, (TimedRun(0.0, "b", 1, "fast"),)),
            PlanGroup("gpu", 1, (TimedRun(10.0, "b", 1), TimedRun(55.0, "a", 3)), (IdleSpan(0.0, 70.0),)),
        )
    )
    sites = (
        SiteSlots("here", (0.1, 0.2, -0.1), cap_watts=(440.0, 880.0, 440.0), cap_pue=1.1, pue=1.1),
        SiteSlots("there", (0.3, 0.2, 0.1), carbon=(1.0, 2.0, 3.0)),
    )
    slots = Slots((0.0, 15.0, 75.0, 120.0), sites, (0, 1), START)
    measured = measure_plan(bag, slots, made)
    rows = [row for site, own in zip(sites, measured.joules, strict=True) for row in slot_rows(site, slots.edges, own)]
    return replace(
        by_hand(zone=None), bag=bag, plan=made, slots=slots, slot_rows=tuple(rows), horizon_seconds=120.0
    ), measured


def test_the_power_of_task_types_is_what_the_verifier_measures():
    result, measured = two_sites()
    lengths = np.diff(result.slots.edges)
    expected = np.array([[float(each) for each in row] for row in measured.task_joules]) / lengths
    assert site_watts(result).sum(axis=0) == pytest.approx(expected, rel=1e-9)
    drawn = plan_curves(result)
    idle = sum(site.watts[-1] for site in drawn.sites)
    assert idle == pytest.approx(np.array([float(each) for each in measured.idle_joules]) / lengths, rel=1e-9)
    assert site_watts(result)[1, 1] == pytest.approx([280.0 * 5 / 15, 280.0 * 40 / 60, 0.0])  # b at there: 10 to 55 s


def test_each_site_has_a_row_of_panels_with_its_own_cap():
    result, _ = two_sites()
    tariff, first, _, carbon, second = plan_figure(result).axes
    assert tariff.get_title(loc="left") == "here"
    assert first.get_title(loc="left").startswith("here: power at the machines")
    assert second.get_title(loc="left").startswith("there: power")
    (cap,) = [patch for patch in first.patches if patch.get_label() == "power cap"]
    assert list(steps(first)[-1].values) == pytest.approx([400.0, 800.0, 400.0])  # at the machines
    assert cap is first.patches[-1]
    assert cap.get_edgecolor() == pytest.approx([0xC1 / 255, 0x27 / 255, 0x2D / 255, 1.0])
    assert carbon.get_ylabel() == "carbon,\ng/kWh"
    assert tariff.get_ylim()[0] < 0.0 < tariff.get_ylim()[1]
    assert first.get_ylim()[0] == second.get_ylim()[0] == 0.0
    tooltips = plan_tooltips(result)
    assert [each.axes for each in tooltips] == [1, 1, 1, 4, 4, 4]
    assert tooltips[5].label.splitlines()[1:3] == ["there", "266.7 W at the machines"]  # 40 of 45 s at 300 W


def test_a_cap_that_is_far_above_is_named_and_not_drawn():
    result, _ = two_sites()
    sites = (replace(result.slots.sites[0], cap_watts=(1e6,) * 3, cap_pue=1.0), result.slots.sites[1])
    axes = plan_figure(replace(result, slots=replace(result.slots, sites=sites))).axes[1]
    assert [text.get_text() for text in axes.texts] == ["power cap: 1 MW, far above"]
    assert not [patch for patch in axes.patches if patch.get_label() == "power cap"]
    assert axes.get_ylim()[1] < 1000.0


def repeated(count, seconds):
    """Return a plan of equal slots, at prices of 0, 1, 2, 0, 1, 2, ..."""
    result = by_hand()
    prices = tuple(float(h % 3) for h in range(count))
    edges = tuple(seconds * h for h in range(count + 1))
    slots = Slots(edges, (SiteSlots("site", prices),), (0,), START)
    (joules,) = measure_plan(result.bag, slots, result.plan).joules
    rows = tuple(slot_rows(slots.sites[0], edges, joules))
    return replace(result, slots=slots, slot_rows=rows, horizon_seconds=edges[-1])


def test_many_slots_are_drawn_as_means_and_the_figure_says_so():
    drawn = plan_curves(repeated(24 * 50, HOUR))
    assert (drawn.means, len(drawn.edges) - 1) == ("daily means", 50)
    assert drawn.sites[0].tariff == pytest.approx(np.ones(50))
    assert drawn.sites[0].watts[0, 0] == pytest.approx(1000.0 / 24.0)  # a kWh in a day
    assert "daily means" in plan_figure(repeated(24 * 50, HOUR)).axes[-1].get_title(loc="left")
    assert plan_curves(repeated(1000, HOUR)).means == ""
    assert plan_curves(repeated(1001, 300.0)).means == "hourly means"
    last = plan_curves(repeated(24 * 50 + 2, HOUR))  # the last step is of two hours, at 0 and 1
    assert (len(last.edges) - 1, last.sites[0].tariff[-1]) == (51, pytest.approx(0.5))


def test_more_task_types_than_colours_are_one():
    result = by_hand(names=tuple(f"type {i}" for i in range(10)))
    drawn = plan_curves(result)
    assert drawn.names[-2:] == ("all others", "idle, but on")
    assert len(drawn.names) == 9
    assert drawn.sites[0].watts.sum(axis=0) == pytest.approx([row.average_watts for row in result.slot_rows])
    labels = [patch.get_label() for patch in plan_figure(result).axes[-1].patches]
    assert "idle, but on" not in labels  # all machines are off
    assert labels.count("all others") == 1


# The page.
COMMANDS = (("lpsched verify bag.yaml plan.json", "verify the plan"),)


@cache
def page_by_hand():
    return plan_page(by_hand(), bounds=bounds_beside(by_hand()), commands=COMMANDS)


def test_the_page_has_its_parts_in_order_and_is_the_same_each_time():
    read = Reader(page_by_hand())
    assert not read.issues
    assert read.of("h1") == ["render"]
    assert read.of("p")[0] == by_hand().headline()
    assert read.of("h2") == [
        "The answer",
        "Power over time",
        "In detail",
        "What it pays for",
        "Compared with other plans",
        "What more would be worth",
        "At other carbon prices",
        "With other deadlines",
        "All slots",
        "How to check",
    ]
    tiles = dict(zip(read.of("dt"), read.of("dd"), strict=True))
    assert tiles["cost (verified)"] == "0.1 USD"
    assert tiles["at least (proved)"] == "0.1 USD"
    assert tiles["saves, compared with 'all at once'"] == "66.67 %"
    assert "2024-07-01 04:00 to 06:00 CEST" in read.of("td")
    assert "lpsched verify bag.yaml plan.json" in read.of("td")
    assert page_by_hand() == plan_page(by_hand(), bounds=bounds_beside(by_hand()), commands=COMMANDS)


def test_the_page_says_all_that_the_terminal_says():
    said = " ".join(text for _, text in Reader(page_by_hand()).texts).replace("\u00a0", " ")
    for line in texts(by_hand(), 200).splitlines():
        for cell in re.split(r"  +", line.strip()):
            assert cell in said


def test_the_policy_of_the_page_holds_and_it_asks_for_nothing():
    read = Reader(page_by_hand())
    (policy,) = [tag["content"] for name, tag in read.tags if name == "meta" and "http-equiv" in tag]
    digest = base64.b64encode(hashlib.sha256(read.of("script")[-1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert not [tag for tag, _ in read.tags if tag in {"link", "img", "iframe", "base"}]
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    links = [attributes["href"] for tag, attributes in read.tags if tag == "a"]
    assert all(link.startswith("#") for link in links)
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)


def test_awkward_names_appear_as_they_stand():
    result = by_hand(names=AWKWARD_NAMES[:2])
    read = Reader(plan_page(result))
    assert not read.issues
    assert read.of("h1") == [AWKWARD_NAMES[1]]
    assert "At other carbon prices" not in read.of("h2")
    assert len(read.of("script")) == 1
    assert any(AWKWARD_NAMES[0] in text for text in read.of("li"))
