"""Bags with series and sites: read and written without loss, hashed, and never solved with one price for all."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from lpsched.bag.files import as_dict, read_bag, write_bag
from lpsched.bag.model import Bag
from lpsched.bag.parts import NamedSite, Site
from lpsched.bag.solve import solve
from lpsched.errors import InstanceError, LpschedWarning
from lpsched.io.templates import template
from lpsched.model.series import Series
from tests.support import SOUND, sound

START = 1719792000  # 2024-07-01T00:00Z
SHORT = Series((START, START + 3600), START + 7200, (0.1, -1 / 3))
LONG = Series(tuple(START + 900 * n for n in range(300)), START + 900 * 300, tuple(n / 70 for n in range(300)))
GAPS = Series((*LONG.times, LONG.end + 5000), LONG.end + 5001, tuple(n / 70 for n in range(301)))


def with_sites(**changes):
    """Return the sound bag's mapping with two sites."""
    cpu, gpu = SOUND["machine_types"]
    sites = [
        {"name": "north", "pue": 1.25, "tariff": SHORT, "carbon": 300, "moving_cost_per_task": {"zip": 0.5}},
        {"name": "south", "power_cap": LONG, "time_zone": "Europe/Berlin", "moving_cost_per_task": 2},
    ]
    machines = [cpu | {"site": "north", "may_be_off": True, "switch_on_cost": 0.5}, gpu | {"site": "south"}]
    return sound(machine_types=machines, sites=sites, site=...) | changes


def with_site(**site):
    return sound(site=site)


RAW = [
    with_sites(),
    with_site(tariff=SHORT, carbon=LONG, power_cap=GAPS, start="2024-07-01T00:00:00Z", demand_charge_per_kw=3),
    with_site(tariff=SHORT, grid_fee_per_kwh=0.25),
    with_site(tariff=-0.5, carbon=0, power_cap=0, time_zone="UTC"),
    sound(prices={"currency": "EUR"}, site={"tariff": LONG}),
    sound(prices={"currency": "credits"}, site={"tariff": LONG}),
    sound(prices={"currency": "credits"}, site={"tariff": SHORT}),
]


@pytest.mark.parametrize("raw", RAW, ids=range(len(RAW)))
@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_what_is_written_is_read_again(raw, suffix, tmp_path):
    bag = Bag.model_validate(raw)
    files = write_bag(bag, tmp_path / f"bag{suffix}")
    again = read_bag(files[-1])
    assert again == bag
    assert again.content_hash == bag.content_hash
    assert Bag.model_validate(bag.model_dump()) == bag
    assert Bag.model_validate(json.loads(json.dumps(as_dict(bag)))) == bag


def test_long_series_are_written_into_files_beside_the_bag(tmp_path):
    names = [each.name for each in write_bag(Bag.model_validate(RAW[0]), tmp_path / "a.yaml")]
    assert names == ["a.yaml.site-1.power_cap.csv", "a.yaml"]
    names = [each.name for each in write_bag(Bag.model_validate(RAW[1]), tmp_path / "b.json")]
    assert names == ["b.json.carbon.csv", "b.json.power_cap.csv", "b.json"]
    assert (tmp_path / "b.json.carbon.csv").read_text().splitlines()[:2] == ["time,g_per_kwh", "2024-07-01T00:00Z,0.0"]


@pytest.mark.parametrize("raw", RAW, ids=range(len(RAW)))
def test_the_schema_covers_what_is_written(raw):
    validator = jsonschema.Draft202012Validator(Bag.model_json_schema())
    bag = Bag.model_validate(raw)
    validator.validate(as_dict(bag))
    validator.validate(json.loads(json.dumps(bag.model_dump())))
    validator.validate(as_dict(bag, files={"site.tariff": "x.csv", "sites.0.tariff": "x.csv"}))


@pytest.mark.parametrize(
    "change",
    [
        {"site": {"tariff": "high"}},
        {"site": {"carbon": -1}},
        {"site": {"tariff": {"start": "2024-07-01T00:00Z", "usd_per_kwh": [1]}}},
        {"site": {"tariff": {"start": "2024-07-01T00:00Z", "step": "1h", "g_per_kwh": [1]}}},
        {"site": {"carbon": {"file": "x.csv", "colour": "red"}}},
        {"sites": [{"pue": 1.5}]},
        {"sites": [{"name": "north", "moving_cost_per_task": "much"}]},
    ],
)
def test_the_schema_rejects_what_the_reader_rejects(change):
    assert not jsonschema.Draft202012Validator(Bag.model_json_schema()).is_valid(sound(**change))
    with pytest.raises(InstanceError):
        Bag.model_validate(sound(**change))


def test_the_hash_covers_series_and_sites():
    bags = [Bag.model_validate(raw) for raw in (*RAW, SOUND, with_site(tariff=LONG), with_site(carbon=LONG))]
    moved = Series((START + 1, START + 3600), START + 7200, SHORT.values)
    bags += [Bag.model_validate(with_site(tariff=each)) for each in (SHORT, moved)]
    assert len({bag.content_hash for bag in bags}) == len(bags)
    sites = with_sites()["sites"]
    others = [
        [sites[0] | {"carbon": 301}, sites[1]],
        [sites[0], sites[1] | {"power_cap": SHORT.window(START, START + 9)}],
    ]
    several = [Bag.model_validate(with_sites(sites=each)).content_hash for each in (sites, *others)]
    assert len(set(several)) == 3
    spelled = sound(site={"pue": 1.5, "tariff": None, "demand_charge_per_kw": 0}, sites=[])
    assert Bag.model_validate(spelled).content_hash == Bag.model_validate(SOUND).content_hash


def test_series_are_read_from_files_in_the_folder_and_below(tmp_path):
    (tmp_path / "data").mkdir()
    rows = "hour,price\n2024-07-01 02:00,100\n2024-07-01 03:00,-200\n"
    (tmp_path / "data" / "p.csv").write_text(rows)
    named = {"file": "data/p.csv", "time": "hour", "value": "price", "unit": "usd_per_mwh"}
    raw = with_site(time_zone="Europe/Berlin", tariff=named)
    (tmp_path / "bag.json").write_text(json.dumps(raw))
    assert read_bag(tmp_path / "bag.json").site.tariff == Series(SHORT.times, SHORT.end, (0.1, -0.2))
    with pytest.raises(InstanceError, match="read it from a file"):
        Bag.model_validate(raw)
    (tmp_path / "data" / "bag.json").write_text(json.dumps(with_site(tariff={"file": "../p.csv"})))
    with pytest.raises(InstanceError, match="a file in the folder of the bag"):
        read_bag(tmp_path / "data" / "bag.json")


def test_problems_of_series_come_with_all_others_and_with_their_lines(tmp_path):
    (tmp_path / "bag.yaml").write_text(
        "format: lpsched-bag/1\nname: b\nmachine_types: [{name: cpu, count: 0}]\ntask_types: [{name: a, count: 1}]\n"
        "seconds: [[1]]\nsite:\n  pue: 0\n  tariff:\n    start: 2024-07-01T00:00Z\n    step: 1h\n    usd_per_kwh: [x]\n"
    )
    with pytest.raises(InstanceError) as caught:
        read_bag(tmp_path / "bag.yaml")
    assert [each.location for each in caught.value.issues] == [
        "line 3, machine_types[0].count",
        "line 7, site.pue",
        "line 11, site.tariff.usd_per_kwh[0]",
    ]


def test_what_the_template_shows_can_be_read(tmp_path):
    keys = "tariff|carbon|power_cap|demand_charge_per_kw|grid_fee_per_kwh|time_zone|start"
    shown = re.sub(rf"^  # ({keys}):", r"  \1:", template("bag"), flags=re.MULTILINE)
    (tmp_path / "carbon.csv").write_text("time,g_per_kwh\n2024-07-01T00:00Z,5\n2024-07-01T01:00Z,4\n")
    (tmp_path / "one.yaml").write_text(shown)
    site = read_bag(tmp_path / "one.yaml").site
    assert all(getattr(site, key) for key in keys.split("|"))
    several = re.sub(r"^(# (?=  - |sites:))", "", template("bag"), flags=re.MULTILINE).replace("pue: 1.3 ", "pue: 1.0 ")
    several = several.replace("idle_watts: 45", "site: north").replace("idle_watts: 60", "site: north")
    (tmp_path / "north.csv").write_text("time,usd_per_kwh\n2024-07-01T00:00Z,5\n2024-07-01T01:00Z,4\n")
    (tmp_path / "several.yaml").write_text(several)
    assert read_bag(tmp_path / "several.yaml").sites[0].moving_cost("render") == 0.02


def test_a_high_tariff_gives_a_warning(tmp_path):
    write_bag(Bag.model_validate(with_site(tariff=11)), tmp_path / "bag.yaml")
    with pytest.warns(LpschedWarning, match="11 USD per kWh; is the unit right"):
        read_bag(tmp_path / "bag.yaml")
    assert Bag.model_validate(with_site(tariff=-10)).remarks() == ()
    (sentence,) = (
        Bag.model_validate(with_sites(site=None, watts=None) | {"prices": {"currency": "EUR"}})
        .model_copy(update={"sites": (NamedSite("north", tariff=-11), NamedSite("south"))})
        .remarks()
    )
    assert "the tariff of 'north' is -11 EUR" in sentence


def test_frames_and_arrays_take_sites_and_series():
    machines = [{"name": "cpu", "count": 1, "site": "north"}]
    tariff = SHORT.as_dict("usd_per_kwh")
    bag = Bag.from_arrays([[1.0]], tasks=[1], machines=machines, sites=[{"name": "north", "tariff": tariff}])
    assert bag.sites[0].tariff == SHORT
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"cpu": [1.0]}, index=["a"])
    assert Bag.from_frames(frame, tasks={"a": 1}, machines={"cpu": 1}, site={"tariff": tariff}).site.tariff == SHORT


def test_a_tariff_over_time_is_no_price_of_a_kwh():
    with pytest.raises(InstanceError, match="--horizon"):
        solve(Bag.model_validate(sound(prices={"per_bag": 1}, site={"tariff": SHORT})))


def test_parts_take_series_and_reject_what_is_out_of_range():
    assert Site(tariff=SHORT).tariff == SHORT
    assert NamedSite("north", carbon=LONG).carbon == LONG
    with pytest.raises(InstanceError, match="carbon: got a series with values down to"):
        Site(carbon=SHORT)


def test_only_makespans_are_solved_where_sites_differ():
    bag = Bag.model_validate(with_sites())
    result = solve(bag, objective="makespan")
    plain = solve(Bag.model_validate(sound(site=...)), objective="makespan")
    assert (result.value, result.bound) == (plain.value, plain.bound)
    assert result.measured.profit_per_hour is None
    assert plain.measured.profit_per_hour is not None
    assert result.breakdown.per_hour.electricity is None
    for objective in ("energy", "profit", None):
        with pytest.raises(InstanceError, match="plan over a horizon"):
            solve(bag, objective=objective)


def test_task_types_that_cost_differently_to_move_are_not_merged():
    cpu = [{"name": "cpu", "count": 1, "site": "north"}]
    tasks = [{"name": name, "count": 1} for name in ("a", "b", "c")]
    sites = [{"name": "north", "moving_cost_per_task": {"a": 1, "c": 1}}]
    raw = {"name": "m", "machine_types": cpu, "task_types": tasks, "seconds": [[1], [1], [1]], "sites": sites}
    merged = Bag.model_validate(raw).merged()
    assert [(each.name, each.count) for each in merged.task_types] == [("a", 2), ("b", 1)]
    assert merged.sites[0].moving_cost_per_task == {"a": 1.0}
