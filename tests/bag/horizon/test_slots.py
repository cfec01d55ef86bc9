"""The slots of a horizon: an edge wherever a series changes, and errors where it cannot be covered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lpsched.bag.horizon import slots as slots_module
from lpsched.bag.horizon.slots import SiteSlots, slots_of, with_series
from lpsched.bag.model import Bag
from lpsched.errors import InfeasibleError, InstanceError
from lpsched.model.series import Series

HOUR = 3600
JULY = int(datetime(2024, 7, 1, tzinfo=UTC).timestamp())


def hourly(*values, start=JULY, step=HOUR):
    return Series(tuple(start + step * h for h in range(len(values))), start + step * len(values), tuple(values))


def bag_of(machines=({"name": "cpu", "count": 2, "idle_watts": 50},), **changes):
    """Return a bag of one task type that runs everywhere, at 100 W."""
    names = [each["name"] for each in machines]
    raw = {
        "name": "b",
        "machine_types": list(machines),
        "task_types": [{"name": "render", "count": 4}, {"name": "zip", "count": 1}],
        "seconds": {task: dict.fromkeys(names, 60.0) for task in ("render", "zip")},
        "watts": {task: dict.fromkeys(names, 100.0) for task in ("render", "zip")},
    }
    return Bag.model_validate(raw | changes)


def with_sites(*sites, machines=None, **changes):
    """Return a bag with a machine type at each site."""
    own = [{"name": f"cpu-{each['name']}", "count": 2, "idle_watts": 50, "site": each["name"]} for each in sites]
    return bag_of(machines or own, sites=list(sites), **changes)


def error_of(bag, **options):
    with pytest.raises(InstanceError) as caught:
        slots_of(bag, **{"horizon": 2 * HOUR, "start": JULY} | options)
    return str(caught.value)


def test_a_price_that_never_changes_makes_one_slot():
    bag = bag_of(prices={"electricity_per_kwh": 0.2}, site={"pue": 1.5})
    slots = slots_of(bag, horizon=1000)
    assert slots.edges == (0.0, 1000.0)
    assert slots.start is None
    assert slots.site_of == (0,)
    assert slots.sites == (SiteSlots("site", (0.2,), pue=1.5, cap_pue=1.5),)


def test_every_change_of_any_series_is_an_edge():
    # Tariff on the hour, carbon at half past, from 00:15 to 02:30: edges at 0:45, 1:45 (carbon), 1:00, 2:00 (tariff).
    carbon = hourly(100.0, 200.0, 300.0, 400.0, start=JULY - HOUR // 2)
    bag = bag_of(site={"tariff": hourly(0.1, -0.2, 0.3), "carbon": carbon})
    slots = slots_of(bag, horizon=8100, start=JULY + 900)
    assert slots.edges == (0.0, 900.0, 2700.0, 4500.0, 6300.0, 8100.0)
    assert slots.sites[0].tariff == (0.1, 0.1, -0.2, -0.2, 0.3)
    assert slots.sites[0].carbon == (100.0, 200.0, 200.0, 300.0, 300.0)
    assert slots.start == JULY + 900


def test_values_are_those_of_the_series_at_every_moment():
    tariff, cap = hourly(0.1, 0.1, 0.3, 0.2), hourly(500.0, 400.0, 400.0, 300.0, 600.0, step=2700)
    slots = slots_of(bag_of(site={"tariff": tariff, "power_cap": cap}), horizon=2 * HOUR + 0.5, start=JULY + 1)
    assert slots.horizon == 2 * HOUR + 0.5
    caps = slots.sites[0].cap_watts
    assert caps is not None
    for h, (edge, end) in enumerate(zip(slots.edges, slots.edges[1:], strict=False)):
        for moment in (edge, (edge + end) / 2):
            assert slots.sites[0].tariff[h] == tariff.value_at(JULY + 1 + moment)
            assert caps[h] == cap.value_at(JULY + 1 + moment)


def test_equal_neighbours_are_joined_only_if_everything_is_equal():
    site = {"tariff": hourly(0.1, 0.1, 0.1, 0.2), "carbon": hourly(5.0, 5.0, 6.0, 6.0)}
    slots = slots_of(bag_of(site=site), horizon=4 * HOUR, start=JULY)
    assert slots.edges == (0.0, 7200.0, 10800.0, 14400.0)
    assert slots.sites[0].carbon == (5.0, 6.0, 6.0)
    assert slots.sites[0].tariff == (0.1, 0.1, 0.2)


@pytest.mark.parametrize("averaged", [{"power_cap": 1}, {"demand_charge_per_kw": 9}])
def test_slots_over_which_power_is_averaged_are_never_joined(averaged):
    bag = bag_of(site={"tariff": hourly(0.1, 0.1, 0.1)} | averaged)
    assert slots_of(bag, horizon=3 * HOUR, start=JULY).edges == (0.0, 3600.0, 7200.0, 10800.0)


def test_sites_have_their_own_numbers():
    north = {"name": "north", "tariff": hourly(0.1, 0.2), "pue": 1.1, "power_cap": 3, "cap_measured_at": "it"}
    south = {"name": "south", "carbon": 50, "pue": 1.5, "power_cap": hourly(900.0, 800.0), "demand_charge_per_kw": 7}
    moving = {"moving_cost_per_task": {"zip": 0.5}}
    bag = with_sites(north, south | moving, prices={"electricity_per_kwh": 0.3})
    slots = slots_of(bag, horizon=2 * HOUR, start=JULY)
    assert slots.site_of == (0, 1)
    assert slots.sites == (
        SiteSlots("north", (0.1, 0.2), None, (3000.0, 3000.0), 1.1, 1.0),
        SiteSlots("south", (0.3, 0.3), (50.0, 50.0), (900.0, 800.0), 1.5, 1.5, 7.0, (0.0, 0.5)),
    )


def test_one_moving_cost_is_that_of_every_task_type():
    bag = with_sites({"name": "north", "moving_cost_per_task": 2, "tariff": 1})
    assert slots_of(bag, horizon=60).sites[0].moving_costs == (2.0, 2.0)


def test_what_is_missing_is_named_if_it_is_needed():
    bag = with_sites({"name": "north", "tariff": 0.1}, {"name": "south"})
    assert "sites[1].tariff: got nothing, expected what a kWh costs" in error_of(bag)
    assert "prices.electricity_per_kwh" in error_of(bag)
    assert error_of(bag, need=("tariff", "carbon")).count("got nothing") == 3
    assert slots_of(bag, horizon=60, need=()).sites[1].tariff == (0.0,)


def test_a_series_needs_a_start_and_the_error_shows_its_range():
    bag = bag_of(site={"tariff": hourly(0.1, 0.2)})
    message = error_of(bag, start=None)
    for part in ("2024-07-01T00:00Z to 2024-07-01T02:00Z", "--start", "site.start"):
        assert part in message
    begun = bag_of(site={"tariff": hourly(0.1, 0.2), "start": "2024-07-01T02:30+02:00"})
    assert slots_of(begun, horizon=HOUR).start == JULY + HOUR // 2
    assert slots_of(begun, horizon=HOUR, start=JULY).start == JULY


@pytest.mark.parametrize(("start", "horizon"), [(JULY - 1, 60), (JULY, 7201), (JULY + 7200, 1), (JULY, 7200.5)])
def test_a_horizon_beyond_a_series_is_an_error_with_both_ranges(start, horizon):
    bag = bag_of(site={"tariff": 0.1, "carbon": hourly(1.0, 2.0)})
    message = error_of(bag, start=start, horizon=horizon)
    assert "site.carbon: got values from 2024-07-01T00:00Z to 2024-07-01T02:00Z, expected values for" in message


def test_a_horizon_up_to_the_end_of_a_series_is_covered():
    assert slots_of(bag_of(site={"tariff": hourly(0.1, 0.2)}), horizon=7200, start=JULY).count == 2


@pytest.mark.parametrize("horizon", [0, -1, float("nan"), float("inf"), "1h"])
def test_a_horizon_is_a_positive_number(horizon):
    assert "horizon: got" in error_of(bag_of(site={"tariff": 1}), horizon=horizon)


def test_too_many_slots_are_rejected(monkeypatch):
    monkeypatch.setattr(slots_module, "MOST_SLOTS", 2)
    bag = bag_of(site={"tariff": hourly(0.1, 0.2, 0.3)})
    assert "3 slots, expected at most 2" in error_of(bag, horizon=3 * HOUR)
    assert slots_of(bag, horizon=2 * HOUR, start=JULY).count == 2


def test_a_cap_below_the_idle_power_of_machines_that_stay_on_is_infeasible():
    # 2 x 50 W x PUE 1.5 = 150 W at the meter, 100 W at the machines.
    site = {"tariff": 1, "pue": 1.5, "power_cap": hourly(200.0, 149.0, 150.0)}
    with pytest.raises(InfeasibleError) as caught:
        slots_of(bag_of(site=site), horizon=3 * HOUR, start=JULY)
    for part in ("149 W", "150 W", "2024-07-01T01:00Z", "2 machines"):
        assert part in str(caught.value)
    assert slots_of(bag_of(site=site | {"cap_measured_at": "it"}), horizon=3 * HOUR, start=JULY).count == 3
    assert slots_of(bag_of(site=site | {"power_cap": 0.15}), horizon=HOUR).sites[0].cap_watts == (150.0,)
    off = {"name": "cpu", "count": 2, "idle_watts": 50, "may_be_off": True}
    assert slots_of(bag_of([off], site=site | {"power_cap": 0}), horizon=HOUR).sites[0].cap_watts == (0.0,)


def test_numbers_that_look_alike_are_written_out():
    with pytest.raises(InfeasibleError, match=r"99\.999999 W .* 100\.0 W"):
        slots_of(bag_of(site={"tariff": 1, "power_cap": hourly(99.999999)}), horizon=60, start=JULY)


def test_a_cap_counts_the_machines_of_its_own_site():
    north, south = {"name": "north", "tariff": 1, "power_cap": 0.1}, {"name": "south", "tariff": 1}
    assert slots_of(with_sites(north, south), horizon=60).count == 1
    with pytest.raises(InfeasibleError, match="of 'north' is 99 W in the slot from 0 s on"):
        slots_of(with_sites(north | {"power_cap": 0.099}, south), horizon=60)


def test_machines_that_draw_less_when_they_run_may_meet_a_cap_below_idle():
    # Idle takes 2 x 50 W, running 2 x 20 W: a cap of 60 W can be met as long as they run.
    watts = {task: {"cpu": 20.0} for task in ("render", "zip")}
    bag = bag_of(watts=watts, site={"tariff": 1, "power_cap": 0.06})
    assert slots_of(bag, horizon=60).count == 1


def test_series_take_the_place_of_those_of_the_one_site():
    bag = bag_of(site={"pue": 1.5, "tariff": 0.1})
    changed = with_series(bag, tariff=hourly(0.1, 0.2), power_cap=2.5)
    assert changed.site.tariff == hourly(0.1, 0.2)
    assert slots_of(changed, horizon=2 * HOUR, start=JULY).sites[0].cap_watts == (2500.0, 2500.0)
    assert changed.site.pue == 1.5
    assert changed.content_hash != bag.content_hash
    assert with_series(bag) is bag
    with pytest.raises(InstanceError, match="values down to -1"):
        with_series(bag, carbon=hourly(-1.0))
    with pytest.raises(InstanceError, match="put them into the file"):
        with_series(with_sites({"name": "north"}), tariff=0.1)
