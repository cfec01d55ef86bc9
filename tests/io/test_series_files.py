"""Series in files: columns are found by their names and content, or not at all."""

from __future__ import annotations

import gzip
import time
import warnings
from datetime import UTC, datetime, timedelta

import pytest

from lpsched.errors import InstanceError, LpschedWarning
from lpsched.io import series_files
from lpsched.io.series_files import read_series, series_csv, series_from
from lpsched.model.series import Series

JULY = datetime(2024, 7, 1, tzinfo=UTC)
START = int(JULY.timestamp())
DAY = Series((START, START + 3600), START + 7200, (0.031, -0.002))


def written(folder, header="time,usd_per_mwh", rows=("2024-07-01T00:00Z,31", "2024-07-01T01:00Z,-2"), name="p.csv"):
    path = folder / name
    text = "\n".join([header, *rows]) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def problems(path, kind="tariff", **options):
    with pytest.raises(InstanceError) as caught:
        read_series(path, kind, **options)
    return [str(each) for each in caught.value.issues]


def arrow():
    return pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "P.CSV"])
def test_a_column_of_times_and_one_named_by_its_unit_are_enough(tmp_path, name):
    assert read_series(written(tmp_path, name=name), "tariff") == DAY


def test_other_columns_are_ignored_where_these_two_are_unambiguous(tmp_path):
    rows = ("DE,2024-07-01T00:00Z,7,31,x", "DE,2024-07-01T01:00Z,8,-2,")
    path = written(tmp_path, "zone,Datetime,eur_per_mwh,Price (USD/MWh),source", rows)
    assert read_series(path, "tariff") == DAY
    assert read_series(path, "tariff", currency="EUR") == Series(DAY.times, DAY.end, (0.007, 0.008))


def test_columns_that_could_be_either_are_listed(tmp_path):
    rows = ("2024-07-01T00:00Z,2024-07-01T02:00+02:00,31", "2024-07-01T01:00Z,2024-07-01T03:00+02:00,-2")
    path = written(tmp_path, "Datetime (UTC),Datetime (Local),Price (USD/MWh)", rows)
    (message,) = problems(path)
    assert "'Datetime (UTC)', 'Datetime (Local)'" in message
    assert read_series(path, "tariff", time="Datetime (Local)") == read_series(path, "tariff", time="Datetime (UTC)")


def test_a_unit_is_never_guessed(tmp_path):
    path = written(tmp_path, "time,Carbon Intensity gCO₂eq/kWh (LCA)", ("2024-07-01T00:00Z,7", "2024-07-01T01:00Z,8"))
    (message,) = problems(path, "carbon")
    assert "no unit in the columns 'time', 'Carbon Intensity gCO₂eq/kWh (LCA)'" in message
    assert "unit: UNIT" in message
    assert "without a unit" in problems(path, "carbon", value="Carbon Intensity gCO₂eq/kWh (LCA)")[0]
    assert read_series(path, "carbon", unit="kg_per_kwh") == Series(DAY.times, DAY.end, (7000.0, 8000.0))
    assert "usd_per_kwh" in problems(path, "carbon", unit="usd_per_kwh")[0]
    assert "no column 'LCA'" in problems(path, "carbon", value="LCA", unit="g_per_kwh")[0]


def test_a_unit_that_contradicts_the_header_is_rejected(tmp_path):
    (message,) = problems(written(tmp_path), unit="usd_per_kwh")
    assert "usd_per_mwh, as its name says" in message


def test_another_currency_is_never_converted(tmp_path):
    (message,) = problems(written(tmp_path), currency="EUR")
    assert "in USD, expected EUR" in message


def test_times_without_an_offset_need_a_zone_or_a_header_that_says_utc(tmp_path):
    rows = ("2024-07-01 00:00:00,31", "2024-07-01 01:00:00,-2")
    plain = written(tmp_path, rows=rows)
    assert problems(plain)[0].startswith("line 2: got '2024-07-01 00:00:00', without an offset")
    assert read_series(plain, "tariff", time_zone="UTC") == DAY
    assert read_series(plain, "tariff", time_zone="Europe/Berlin").start == START - 7200
    said = written(tmp_path, "Datetime (UTC),usd_per_mwh", rows)
    assert read_series(said, "tariff", time_zone="Europe/Berlin") == DAY
    assert "IANA" in problems(plain, time_zone="Mars")[0]


def test_each_problem_has_its_line(tmp_path):
    rows = ("2024-07-01T00:00Z,x", "", "yesterday,1", "2024-07-01T02:00Z,nan", '"2024-07-01\nT03:00Z",')
    lines = [each.partition(":")[0] for each in problems(written(tmp_path, rows=rows))]
    assert sorted(lines) == ["line 2", "line 4", "line 5", "line 7", "line 7"]


def test_missing_hours_are_an_error_unless_they_are_filled(tmp_path):
    path = written(tmp_path, rows=[f"2024-07-01T{h:02}:00Z,{h}" for h in (0, 1, 2, 6)])
    (message,) = problems(path)
    assert message.startswith("line 5: got no value for 2024-07-01T03:00Z; 3 missing in all")
    assert read_series(path, "tariff", fill=True).value_at(START + 5 * 3600) == 0.002


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((), "a header without rows"),
        (("2024-07-01T00:00Z,1",), "one time"),
        (("2024-07-01T00:00Z",), "a row of 1 cells"),
    ],
)
def test_a_file_with_too_little_is_an_error(tmp_path, rows, says):
    assert says in problems(written(tmp_path, rows=rows))[0]


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "e.csv").touch()
    assert "an empty file" in problems(tmp_path / "e.csv")[0]
    assert "not found" in problems(tmp_path / "none.csv")[0]
    assert "the ending '.txt'" in problems(written(tmp_path, name="p.txt"))[0]
    assert "a directory" in problems((tmp_path / "d.csv").mkdir() or tmp_path / "d.csv")[0]
    (tmp_path / "b.csv.gz").write_bytes(b"\x1f\x8bxx")
    assert "broken gzip" in problems(tmp_path / "b.csv.gz")[0]
    arrow()
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    assert "a broken file" in problems(tmp_path / "b.parquet")[0]


def test_a_huge_file_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(series_files, "MOST_VALUES", 2)
    assert read_series(written(tmp_path), "tariff") == DAY
    rows = [f"2024-07-01T0{h}:00Z,1" for h in range(3)]
    assert "3 values, expected at most 2" in problems(written(tmp_path, rows=rows))[0]
    pa, pq = arrow()
    frame = pa.table({"time": [JULY] * 3, "usd_per_kwh": [1.0] * 3})
    pq.write_table(frame, tmp_path / "h.parquet")
    assert "3 values, expected at most 2" in problems(tmp_path / "h.parquet")[0]


@pytest.mark.parametrize("kind", ["nanoseconds", "berlin", "texts"])
def test_parquet_gives_the_same(tmp_path, kind):
    pa, pq = arrow()
    hours = [JULY, JULY + timedelta(hours=1)]
    times = {
        "nanoseconds": pa.array(hours, pa.timestamp("ns", "UTC")),
        "berlin": pa.array(hours, pa.timestamp("s", "Europe/Berlin")),
        "texts": pa.array(["2024-07-01T00:00Z", "2024-07-01T01:00Z"]),
    }
    table = pa.table({"zone": ["a", "b"], "time": times[kind], "usd_per_kwh": [0.031, -0.002]})
    pq.write_table(table, tmp_path / "p.parquet")
    assert read_series(tmp_path / "p.parquet", "tariff") == DAY


def test_parquet_without_zone_needs_one_and_null_is_no_value(tmp_path):
    pa, pq = arrow()
    naive = [each.replace(tzinfo=None) for each in (JULY, JULY + timedelta(hours=1))]
    pq.write_table(pa.table({"time": naive, "usd_per_kwh": [0.031, -0.002]}), tmp_path / "p.parquet")
    assert "without an offset" in problems(tmp_path / "p.parquet")[0]
    assert read_series(tmp_path / "p.parquet", "tariff", time_zone="UTC") == DAY
    pq.write_table(pa.table({"time": naive, "usd_per_kwh": [0.031, None]}), tmp_path / "n.parquet")
    assert "row[1]: got no value" in problems(tmp_path / "n.parquet", time_zone="UTC")[0]


def test_a_high_price_gives_a_warning(tmp_path):
    path = written(tmp_path, "time,usd_per_kwh")
    with pytest.warns(LpschedWarning, match="31 USD per kWh at 2024-07-01T00:00Z; is the unit right"):
        read_series(path, "tariff")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_series(written(tmp_path, "time,g_per_kwh", ("2024-07-01T00:00Z,31", "2024-07-01T01:00Z,2")), "carbon")


def test_a_year_of_hours_is_read_at_once(tmp_path):
    rows = [f"{JULY + timedelta(hours=h):%Y-%m-%d %H:%M},{h % 24}" for h in range(8760)]
    path = written(tmp_path, rows=rows)
    before = time.process_time()
    assert len(read_series(path, "tariff", time_zone="Etc/GMT-1").times) == 8760
    assert time.process_time() - before < 1.0


def test_what_is_written_is_read_again(tmp_path):
    (tmp_path / "w.csv").write_bytes(series_csv(DAY, "usd_per_kwh"))
    assert read_series(tmp_path / "w.csv", "tariff") == DAY


def test_a_series_of_pandas_needs_a_unit_and_a_zone():
    pd = pytest.importorskip("pandas")
    index = pd.date_range("2024-07-01", periods=2, freq="h")
    plain, zoned = pd.Series([31, -2], index), pd.Series([31, -2], index.tz_localize("UTC"))
    assert series_from(zoned, "tariff", unit="usd_per_mwh") == DAY
    assert series_from(plain, "tariff", unit="usd_per_mwh", time_zone="UTC") == DAY
    for given, options, says in (
        (zoned, {}, "no unit"),
        (plain, {"unit": "usd_per_mwh"}, "without an offset"),
        (zoned, {"unit": "eur_per_mwh"}, "in EUR"),
        (pd.Series([1.0, float("nan")], zoned.index), {"unit": "usd_per_mwh"}, "got NaN"),
        (pd.Series([1, 2]), {"unit": "usd_per_mwh"}, "got 0, expected a date"),
        (object(), {}, "a value of type object"),
    ):
        with pytest.raises(InstanceError, match=says):
            series_from(given, "tariff", **options)


def test_other_forms_are_taken_too(tmp_path):
    raw = {"start": "2024-07-01T00:00Z", "step": "1h", "usd_per_mwh": [31, -2]}
    path = written(tmp_path)
    assert [series_from(each, "tariff") for each in (DAY, raw, path, str(path))] == [DAY] * 4
    assert series_from(3, "tariff") == 3.0
    with pytest.raises(ValueError, match="expected one of tariff, carbon, power_cap"):
        series_from(3, "weather")
