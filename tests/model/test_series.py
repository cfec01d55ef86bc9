"""Series over time: stamps of any zone become seconds of UTC, units one unit, and nothing is guessed."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from lpsched.errors import InstanceError
from lpsched.model.series import CARBON, POWER_CAP, TARIFF, Series, moment_text
from lpsched.model.series_reader import SeriesTerms, series_in

HOUR = 3600
JULY = int(datetime(2024, 7, 1, tzinfo=UTC).timestamp())
BERLIN = ZoneInfo("Europe/Berlin")


def utc(day, hour, minute=0, month=10):
    return int(datetime(2024, month, day, hour, minute, tzinfo=UTC).timestamp())


def read(raw, kind=TARIFF, currency="USD", zone=None):
    """Return a series, or the messages about it."""
    series, issues = series_in(raw, SeriesTerms(kind, currency, zone), ())
    assert (series is None) == bool(issues)
    return series if series is not None else [str(each) for each in issues]


def times_of(stamps, zone=BERLIN, **more):
    return read({"times": stamps, "usd_per_kwh": [0.1] * len(stamps)} | more, zone=zone)


def regular(**values):
    return {"start": "2024-07-01T00:00Z", "step": "1h"} | values


def test_a_value_holds_until_the_next_time_and_the_last_one_for_the_usual_step():
    stamps = ["2024-07-01T00:00Z", "2024-07-01T01:00Z", "2024-07-01T01:30Z", "2024-07-01T02:30Z"]
    series = read({"times": stamps, "usd_per_kwh": [1, 2, 3, 4]})
    assert series == Series((JULY, JULY + HOUR, JULY + 5400, JULY + 9000), JULY + 9000 + HOUR, (1.0, 2.0, 3.0, 4.0))
    assert [series.value_at(JULY + s) for s in (0, 3599.9, 3600, 5400, 12599)] == [1.0, 1.0, 2.0, 3.0, 4.0]


def test_equal_steps_need_no_times():
    series = read(regular(usd_per_mwh=[31.5, -28, 0]))
    assert series == Series((JULY, JULY + HOUR, JULY + 2 * HOUR), JULY + 3 * HOUR, (0.0315, -0.028, 0.0))
    assert read(regular(usd_per_mwh=[1], step=900)).end == JULY + 900
    assert read(regular(usd_per_mwh=[1], start="2024-07-01T02:00+02:00")).start == JULY


@pytest.mark.parametrize(
    ("kind", "unit", "value"),
    [
        (TARIFF, "usd_per_kwh", 7.0),
        (TARIFF, "usd_per_mwh", 0.007),
        (TARIFF, "USD_per_MWh", 0.007),
        (TARIFF, "money_per_mwh", 0.007),
        (CARBON, "g_per_kwh", 7.0),
        (CARBON, "kg_per_mwh", 7.0),
        (CARBON, "kg_per_kwh", 7000.0),
        (POWER_CAP, "w", 7.0),
        (POWER_CAP, "kw", 7000.0),
        (POWER_CAP, "mw", 7e6),
    ],
)
def test_each_unit_has_its_factor(kind, unit, value):
    assert read(regular(**{unit: [7]}), kind).values == (value,)


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("Price (USD/MWh)", "usd_per_mwh"),
        ("(EUR/kWh)", "eur_per_kwh"),
        ("GBP_PER_KWH", "gbp_per_kwh"),
        ("Price USD/MWh", None),
        ("Price ($/MWh)", None),
        ("price", None),
        ("usd", None),
        ("Price (MWh)", None),
    ],
)
def test_a_header_names_a_unit_only_exactly_or_in_parentheses(header, unit):
    assert TARIFF.unit_in(header) == unit


def test_milliwatts_are_not_taken_for_megawatts():
    assert [POWER_CAP.unit_in(f"cap ({unit})") for unit in ("MW", "kW", "W", "mW")] == ["mw", "kw", "w", None]
    assert CARBON.unit_in("Carbon intensity gCO2eq/kWh (LCA)") is None
    assert CARBON.unit_in("carbon (g/kWh)") == "g_per_kwh"


def test_another_currency_is_rejected_and_both_are_named():
    (message,) = read(regular(eur_per_kwh=[1]))
    assert "EUR" in message
    assert "USD" in message
    assert read(regular(eur_per_kwh=[1]), currency="EUR").values == (1.0,)


def test_negative_prices_are_prices_but_negative_grams_and_watts_are_errors():
    assert read(regular(usd_per_kwh=[-1])).values == (-1.0,)
    assert "from 0" in read(regular(g_per_kwh=[1, -1]), CARBON)[0]
    assert "from 0" in read(regular(kw=[-1]), POWER_CAP)[0]
    assert read(regular(kw=[0]), POWER_CAP).values == (0.0,)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, True, "1", None, [1]])
def test_values_are_finite_numbers(value):
    if value == "1":  # cells of a .csv are texts, so that a number in quotes is one, too
        assert read(regular(usd_per_kwh=[value])).values == (1.0,)
    else:
        (message,) = read(regular(usd_per_kwh=[0.1, value]))
        assert message.startswith("usd_per_kwh[1]")


# Daylight saving in Germany: on 27 October 2024 the hour from 2 to 3 happens twice, on 31 March it does not.
def test_the_doubled_hour_is_daylight_time_first_and_standard_time_then():
    hours = times_of([f"2024-10-27T{h:02}:00" for h in (1, 2, 2, 3)])
    assert hours.times == (utc(26, 23), utc(27, 0), utc(27, 1), utc(27, 2))
    minutes = ["01:45", "02:00", "02:15", "02:30", "02:45", "02:00", "02:15", "02:30", "02:45", "03:00"]
    quarters = times_of([f"2024-10-27T{each}" for each in minutes])
    assert quarters.times == tuple(utc(26, 23, 45) + 900 * n for n in range(10))


def test_half_of_the_doubled_hour_is_an_ordinary_gap():
    (message,) = times_of([f"2024-10-27T{h:02}:00" for h in (0, 1, 2, 3, 4)])
    assert "no value for 2024-10-27T01:00Z; 1 missing" in message
    filled = times_of([f"2024-10-27T{h:02}:00" for h in (0, 1, 2, 3, 4)], fill=True)
    assert filled.value_at(utc(27, 1)) == 0.1


def test_a_third_time_is_the_same_again():
    (message,) = times_of([f"2024-10-27T{h:02}:00" for h in (1, 2, 2, 2, 3)])
    assert message.startswith("times[3]: got 2024-10-27T01:00Z once more")


def test_a_local_time_that_does_not_exist_is_an_error():
    (message,) = times_of([f"2024-03-31T{h:02}:00" for h in (1, 2, 3)])
    assert "2024-03-31T02:00, which does not exist" in message
    without = times_of([f"2024-03-31T{h:02}:00" for h in (1, 3, 4)])
    assert without.times == (utc(31, 0, month=3), utc(31, 1, month=3), utc(31, 2, month=3))


def test_times_without_offset_need_a_zone_and_those_with_one_do_not():
    (message,) = times_of(["2024-07-01T00:00", "2024-07-01T01:00"], zone=None)
    assert "time_zone" in message
    assert "2 such" in message
    mixed = times_of(["2024-07-01 02:00:00", "2024-07-01T01:00Z", "2024-07-01T05:00:00+03:00"])
    assert mixed.times == (JULY, JULY + HOUR, JULY + 2 * HOUR)


@pytest.mark.parametrize("stamp", ["2024-02-30T00:00Z", "20240701", "2024-07", "now", "", 1719792000, None, "24:00"])
def test_what_is_no_date_and_time_is_an_error(stamp):
    (message,) = times_of([stamp, "2024-07-01T01:00Z"])
    assert message.startswith("times[0]")


def test_a_gap_names_the_first_missing_time_and_counts_all():
    stamps = [f"2024-07-01T{h:02}:00Z" for h in (0, 1, 2, 5, 6, 8)]
    (message,) = times_of(stamps)
    assert "no value for 2024-07-01T03:00Z; 3 missing in all" in message
    filled = times_of(stamps, fill=True)
    assert filled.times == tuple(JULY + HOUR * h for h in (0, 1, 2, 5, 6, 8))
    assert filled.end == JULY + 9 * HOUR


def test_missing_values_hold_on_where_that_is_asked_for():
    assert "fill: true" in read(regular(usd_per_kwh=[1, None, 3]))[0]
    filled = read(regular(usd_per_kwh=[1, None, 3, None], fill=True))
    assert filled == Series((JULY, JULY + 2 * HOUR), JULY + 4 * HOUR, (1.0, 3.0))


def test_times_must_rise():
    assert "once more" in times_of(["2024-07-01T00:00Z", "2024-07-01T02:00+02:00"])[0]
    (message,) = times_of([f"2024-07-01T{h:02}:00Z" for h in (3, 2, 1)])
    assert "2 such" in message


def test_too_many_values_are_rejected_before_they_are_read():
    assert "2,000,001 values" in read(regular(usd_per_kwh=[None] * 2_000_001))[0]


@pytest.mark.parametrize(
    ("times", "end", "values"),
    [
        ((), 1, ()),
        ((0,), 0, (1.0,)),
        ((0, 0), 1, (1.0, 1.0)),
        ((0,), 1, (1.0, 2.0)),
        ((0.5,), 1, (1.0,)),
        ((0,), 1, (float("nan"),)),
        ((0,), 1, (1,)),
        ((0,), 10**15, (1.0,)),
    ],
)
def test_what_is_no_series_cannot_be_made(times, end, values):
    with pytest.raises(InstanceError, match="Series: 1 error"):
        Series(times, end, values)


@pytest.mark.parametrize(
    "series",
    [
        Series((JULY,), JULY + 1, (0.1,)),
        Series((JULY, JULY + 90, JULY + 180), JULY + 270, (0.1, -0.2, 1 / 3)),
        Series((JULY, JULY + HOUR, JULY + 5 * HOUR), JULY + 6 * HOUR, (0.1, 0.2, 0.3)),
        Series((JULY, JULY + HOUR, JULY + 5401), JULY + 6 * HOUR + 1, (0.1, 0.2, 0.3)),
    ],
)
def test_what_is_written_is_read_again(series):
    raw = series.as_dict("usd_per_kwh")
    assert read(raw) == series
    assert pickle.loads(pickle.dumps(series)) == series  # noqa: S301 - our own bytes
    assert hash(read(raw)) == hash(series)


def test_the_digest_depends_on_times_end_and_values():
    plain = Series((0, 10), 20, (1.0, 2.0))
    others = [Series((0, 11), 20, (1.0, 2.0)), Series((0, 10), 21, (1.0, 2.0)), Series((0, 10), 20, (1.0, 2.5))]
    assert len({each.digest for each in (plain, *others)}) == 4
    assert plain.digest == Series((0, 10), 20, (1.0, 2.0)).digest


def test_a_window_has_the_same_values():
    series = Series((0, 10, 20, 30), 40, (1.0, 2.0, 3.0, 4.0))
    assert series.window(0, 40) == series
    assert series.window(10, 30) == Series((10, 20), 30, (2.0, 3.0))
    assert series.window(12, 13) == Series((12,), 13, (2.0,))


def test_moments_are_written_in_utc():
    assert moment_text(utc(27, 1) + 1) == "2024-10-27T01:00:01Z"
