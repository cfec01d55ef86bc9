"""Series over time in files of their own: `.csv`, `.csv.gz` and `.parquet`; and series of pandas.

A file has a column of times and one of values. The column of values is named by its unit, exactly (`usd_per_mwh`) or in
parentheses (`Price (USD/MWh)`); the column of times is the only one that holds times. Other columns are allowed where
these two are unambiguous; else `time`, `value` and `unit` say which they are. Nothing is guessed.
"""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, LpschedWarning, Place, nearest, quote
from lpsched.io.content import csv_bytes, one_issue
from lpsched.io.parquet import opened_parquet
from lpsched.io.tables import ragged
from lpsched.io.text_files import CsvRows
from lpsched.model.fields import describe
from lpsched.model.series import KINDS, Series, SeriesKind, high_price, moment_text, zone_named
from lpsched.model.series_reader import MOST_VALUES, Origin, SeriesBuilder, SeriesTerms, as_moment, series_in

SUFFIXES: Final = (".csv", ".csv.gz", ".parquet")
SAMPLE: Final = 20  # rows in which a column of times shows itself
MOST_LISTED: Final = 20  # columns in a message
Cells = list[list[object]]  # of each column


def read_series(  # noqa: PLR0913 - options are keyword-only
    path: Path | str,
    kind: str,
    *,
    currency: str = "USD",
    time_zone: str | None = None,
    fill: bool = False,
    time: str | None = None,
    value: str | None = None,
    unit: str | None = None,
) -> Series:
    """Read a series; prices that are unusually high give a warning.

    Parameters
    ----------
    kind
        `tariff`, `carbon` or `power_cap`.
    currency
        What a tariff must be in.
    time_zone
        Of times without an offset, as the IANA database names it.
    fill
        Whether a value holds on where later ones are missing.
    time, value, unit
        The columns of times and of values, and the unit of these, where the header does not say it.

    Raises
    ------
    InstanceError
        If the file is not valid; it lists every problem.
    """
    terms = SeriesTerms(_kind(kind), currency, zone_named(time_zone), fill)
    series = read_series_file(Path(path), terms, (), time=time, value=value, unit=unit)
    if sentence := high_price(series, terms.kind, currency):
        warnings.warn(f"{path}: {sentence}", LpschedWarning, stacklevel=2)
    return series


def series_from(  # noqa: PLR0913 - options are keyword-only
    given: Any,  # noqa: ANN401 - many kinds of objects
    kind: str,
    *,
    currency: str = "USD",
    time_zone: str | None = None,
    fill: bool = False,
    unit: str | None = None,
) -> float | Series:
    """Return a number or series as a site has it: of a pandas series with times as its index, a mapping, or a file.

    The unit of a pandas series is given by `unit`; its index needs a zone, or `time_zone` says it.
    """
    if isinstance(given, Series):
        return given
    if isinstance(given, str | Path):
        return read_series(given, kind, currency=currency, time_zone=time_zone, fill=fill, unit=unit)
    terms = SeriesTerms(_kind(kind), currency, zone_named(time_zone), fill)
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    if isinstance(given, Mapping):
        series, issues = series_in(given, terms, ())
    elif hasattr(given, "index") and hasattr(given, "tolist") and hasattr(given.index, "tolist"):
        issues = list(_unit_issues(unit, terms, ()))
        builder = SeriesBuilder(terms, Origin((), ("index", "values")))
        if not issues:
            series, issues = builder.series(given.index.tolist(), given.tolist(), str(unit).lower()), builder.issues
    else:
        needed = "a number, a series of pandas, a mapping or a file"
        issues = [InputIssue((), describe(given), needed, "see help(lpsched.io.series_files)")]
    if issues:
        raise InstanceError(kind, tuple(issues[:MOST_ISSUES]))
    assert series is not None
    return series


def _kind(name: str) -> SeriesKind:
    if name not in KINDS:
        raise ValueError(f"kind is {name!r}, expected one of {', '.join(KINDS)}")
    return KINDS[name]


def series_csv(series: Series, unit: str) -> bytes:
    """Return a series as CSV; a number has all its digits."""
    return csv_bytes(("time", unit), zip(map(moment_text, series.times), series.values, strict=True))


def read_series_file(  # noqa: PLR0913 - options are keyword-only
    path: Path,
    terms: SeriesTerms,
    place: Place,
    *,
    time: str | None = None,
    value: str | None = None,
    unit: str | None = None,
) -> Series:
    """Read a series that a file of another one names at `place`."""
    if not path.name.lower().endswith(SUFFIXES):
        with _errors_at(path, place):
            raise one_issue(path, f"the ending {quote(path.suffix)}", " or ".join(SUFFIXES), "convert the series")
    chosen = _Chosen(terms, time, value, unit)
    with _errors_at(path, place):
        issues = list(_unit_issues(unit, terms, ())) if unit is not None else []
        if issues:
            raise InstanceError(str(path), tuple(issues))
        read = _read_parquet if path.suffix.lower() == ".parquet" else _read_csv
        columns, lines, stamps, cells = read(path, chosen)
    zone = UTC if columns.is_utc else terms.zone
    origin = Origin(place, None, lines, path.name if place else None)
    builder = SeriesBuilder(replace(terms, zone=zone), origin)
    series = builder.series(stamps, cells, columns.unit)
    if builder.issues:
        raise InstanceError(str(path), tuple(builder.issues[:MOST_ISSUES]))
    assert series is not None
    return series


@contextmanager
def _errors_at(path: Path, place: Place) -> Iterator[None]:
    """Raise errors about the file as errors at the place that names it."""
    try:
        yield
    except InstanceError as error:
        file = path.name if place else None
        issues = tuple(replace(each, path=(*place, *each.path), file=file) for each in error.issues)
        raise InstanceError(str(path), issues) from None


def _unit_issues(unit: str | None, terms: SeriesTerms, place: Place) -> Iterator[InputIssue]:
    """Return the problems of a unit that is given beside a file or a series of pandas."""
    if unit is None or terms.kind.factors(unit.lower()) is None:
        found = "no unit" if unit is None else f"the unit {quote(unit)}"
        needed = f"a unit of {terms.kind.word}: {terms.kind.units_text(terms.currency)}"
        yield InputIssue((*place, "unit"), found, needed, "give one of these")
    else:
        yield from terms.currency_issue(unit.lower(), (*place, "unit"))


# Which columns hold times and values.
@dataclass(frozen=True, slots=True)
class _Columns:
    time: int
    value: int
    unit: str
    is_utc: bool  # times without an offset are UTC, as their header says


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Finds the columns of times and values; `time`, `value` and `unit` are what the user says about them."""

    terms: SeriesTerms
    time: str | None
    value: str | None
    unit: str | None

    def columns(self, path: Path, header: Sequence[str], sample: Cells) -> _Columns:
        """Return the columns, given the first cells of each."""
        time = self._time(path, header, sample)
        value, unit = self._value(path, header, time)
        issues = tuple(self.terms.currency_issue(unit, ()))
        if issues:
            raise InstanceError(str(path), issues)
        return _Columns(time, value, unit, header[time].strip().upper().endswith("(UTC)"))

    def _time(self, path: Path, header: Sequence[str], sample: Cells) -> int:
        if self.time is not None:
            return _named(path, header, self.time, "time")
        found = [
            n
            for n, cells in enumerate(sample)
            if header[n] != self.value and any(as_moment(cell) is not None for cell in cells)
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            got, do = f"no times in {_listed(header)}", "write times such as 2024-07-01T00:00Z"
            raise one_issue(path, got, "a column of times", f"{do}, or name their column (time: COLUMN)")
        got = f"times in {_listed([header[n] for n in found])}"
        raise one_issue(path, got, "one column of times", f"name it (time: {quote(header[found[0]])})")

    def _value(self, path: Path, header: Sequence[str], time: int) -> tuple[int, str]:
        kind, currency = self.terms.kind, self.terms.currency
        given = None if self.unit is None else self.unit.lower()
        needed = kind.units_text(currency)
        if self.value is not None:
            column = _named(path, header, self.value, "value")
            own = kind.unit_in(header[column])
            if own is None and given is None:
                found = f"the column {quote(self.value)} without a unit"
                raise one_issue(path, found, f"one of {needed}", "give it (unit: UNIT), or rename the column")
        else:
            units = {n: unit for n, name in enumerate(header) if n != time and (unit := kind.unit_in(name))}
            fitting = [n for n, unit in units.items() if not [*self.terms.currency_issue(unit, ())]] or list(units)
            others = [n for n in range(len(header)) if n != time]
            if not units and given is not None and len(others) == 1:
                fitting = others
            if len(fitting) != 1:
                found = "several units" if fitting else "no unit"
                do = "rename it, or say which it is (value: COLUMN, unit: UNIT)"
                raise one_issue(
                    path, f"{found} in the columns {_listed(header)}", f"one column named by its unit: {needed}", do
                )
            column, own = fitting[0], units.get(fitting[0])
        if own is not None and given is not None and own != given:
            found = f"the unit {given} for the column {quote(header[column])}"
            raise one_issue(path, found, f"{own}, as its name says", "correct one of them")
        return column, given or str(own)


def _named(path: Path, header: Sequence[str], name: str, key: str) -> int:
    places = [n for n, each in enumerate(header) if each.strip() == name.strip()]
    if len(places) == 1:
        return places[0]
    found = f"{len(places)} columns of the name {quote(name)}" if places else f"no column {quote(name)}"
    do = nearest(name, header) or "correct the name"
    raise InstanceError(str(path), (InputIssue((key,), found, f"one of {_listed(header)}", do),))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(map(quote, names[:MOST_LISTED])) + more


# The two kinds of files: where the columns are, lines if there are any, stamps, cells.
_Read = tuple[_Columns, "Sequence[int] | None", Sequence[object], Sequence[object]]


def _read_csv(path: Path, chosen: _Chosen) -> _Read:
    reader = CsvRows(path)
    rows = iter(reader)
    header = next(rows)
    uneven: list[InputIssue] = []
    body = _even(reader, rows, header, uneven)
    sample = list(islice(body, SAMPLE))
    if not (sample or uneven):
        _require_few(path, 0)
    first: Cells = [list(cells) for cells in zip(*(row for _, row in sample), strict=True)]
    columns = None if uneven else chosen.columns(path, header, first)
    lines, stamps, cells = array("q"), [], []
    for line, row in chain(sample, body):
        lines.append(line)
        _require_few(path, len(lines))
        if columns is not None:
            stamps.append(row[columns.time])
            cells.append(row[columns.value].strip())
    if uneven or columns is None:
        raise InstanceError(str(path), tuple(uneven))
    return columns, lines, stamps, cells


def _even(
    reader: CsvRows, rows: Iterator[list[str]], header: list[str], uneven: list[InputIssue]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are as long as the header, with their lines; the errors of others are added to the list."""
    for row in rows:
        if len(row) == len(header):
            yield reader.line, row
        else:
            uneven.append(InputIssue((), *ragged(row, header), line=reader.line))
            if len(uneven) == MOST_ISSUES:
                return


def _read_parquet(path: Path, chosen: _Chosen) -> _Read:
    with opened_parquet(path) as file:
        _require_few(path, file.rows)
        plain = [place for place in range(len(file.names)) if file.is_plain(place)]
        sample = dict(zip(plain, next(file.batches(plain, size=SAMPLE)), strict=True))
        columns = chosen.columns(path, file.names, [sample.get(place, []) for place in range(len(file.names))])
        for place in (columns.time, columns.value):
            if place not in plain:
                found = f"the column {quote(file.names[place])} of {file.kind(place)}"
                raise one_issue(path, found, "times, or numbers", "convert it")
        stamps: list[object] = []
        cells: list[object] = []
        both = sorted((columns.time, columns.value))
        for batch in file.batches(both):
            stamps += batch[both.index(columns.time)]
            cells += batch[both.index(columns.value)]
        return columns, None, stamps, cells


def _require_few(path: Path, rows: int) -> None:
    if rows == 0:
        raise one_issue(path, "a header without rows", "at least one value", "add them")
    if rows > MOST_VALUES:
        do = "use longer steps, or a part of it"
        raise one_issue(path, f"{rows:,} values", f"at most {MOST_VALUES:,}", do)
