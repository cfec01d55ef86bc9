"""Reading of series over time: stamps and cells become times and values, and every problem has its place.

A value holds from its time until the next one, the last one for the usual (most common) step. Local times are resolved
as they are read. The unit is part of a key, of a column's name or of `unit`: it is never guessed, nor is a zone or a
currency. Forms in a file, beside a plain number:

    {start: 2024-07-01T00:00Z, step: 1h, usd_per_mwh: [31.5, 28.0]}
    {times: [2024-07-01T00:00Z, 2024-07-01T06:00Z], usd_per_mwh: [31.5, 28.0]}
    {file: prices.csv}    with `time`, `value` and `unit` where its header does not say which columns these are

`end` says when the last value ends, `fill: true` lets a value hold on where others are missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final, cast
from zoneinfo import ZoneInfo

from pydantic_core import CoreSchema, PydanticCustomError

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, Place, quote
from lpsched.model.base import Entries, FieldReader, Reader
from lpsched.model.fields import Message, describe, shown_number
from lpsched.model.series import IN_FILE, KINDS, LATEST, MONEY, Series, SeriesKind, check_zone, moment_text, usual_step
from lpsched.text import as_double
from lpsched.units import duration, parse_quantity

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler

MOST_VALUES: Final = 2_000_000
STAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?"
)
NEEDED_STAMP: Final = "a date and time such as 2024-07-01T00:00Z"
INLINE: Final = ("start", "step", "times", "end", "fill")  # keys of a series inside a file, besides its unit


@dataclass(frozen=True, slots=True)
class SeriesTerms:
    """What is known about a series before it is read."""

    kind: SeriesKind
    currency: str = "USD"
    zone: tzinfo | None = None  # of times without an offset
    fill: bool = False
    end: object = None  # a stamp

    def currency_issue(self, unit: str, place: Place) -> Iterator[InputIssue]:
        """Return the problem of a unit with another currency than the bag's."""
        found = MONEY.fullmatch(unit) if self.kind.is_money else None
        if found and found[1] not in ("money", self.currency.lower()):
            got, needed = f"{unit}, in {found[1].upper()}", f"{self.currency}, the currency of the prices"
            yield InputIssue(place, got, needed, "convert the values, or correct the currency")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the times and values of a series stand: in keys of a mapping, or in rows of a file."""

    place: Place
    keys: tuple[str, str] | None = None  # of times and values; `None` in a file
    lines: Sequence[int] | None = None
    file: str | None = None

    def issue(self, n: int, column: int, found: str, needed: str, do: str) -> InputIssue:
        """Return a problem of the nth time (column 0) or value (column 1)."""
        if self.keys is not None:
            return InputIssue((*self.place, self.keys[column], n), found, needed, do)
        if self.lines is not None:
            return InputIssue(self.place, found, needed, do, line=self.lines[n], file=self.file)
        return InputIssue((*self.place, "row", n), found, needed, do, file=self.file)

    def whole(self, found: str, needed: str, do: str) -> InputIssue:
        """Return a problem of the series as a whole."""
        return InputIssue(self.place, found, needed, do, file=self.file)


def as_moment(stamp: object) -> datetime | None:
    """Return the date and time that a stamp is; `None` if it is none."""
    if isinstance(stamp, datetime):
        return stamp if stamp == stamp else None  # noqa: PLR0124 - pandas has a time that is none, and unequal to itself
    if isinstance(stamp, date):
        return datetime(stamp.year, stamp.month, stamp.day)  # noqa: DTZ001 - its zone comes later
    if not isinstance(stamp, str) or not STAMP.fullmatch(stamp.strip()):
        return None
    try:
        return datetime.fromisoformat(stamp.strip())
    except ValueError:  # such as the 30th of February
        return None


class SeriesBuilder:
    """Makes a series of stamps and cells, and collects every problem."""

    def __init__(self, terms: SeriesTerms, origin: Origin) -> None:
        self.terms, self.origin = terms, origin
        self.issues: list[InputIssue] = []

    def series(self, stamps: Sequence[object], cells: Sequence[object], unit: str) -> Series | None:
        """Return the series of as many stamps as cells; `None` if there are problems."""
        if not self._countable(len(stamps)):
            return None
        rows = self._present(cells)
        times, values = self._times(stamps, rows), self._values(cells, rows, unit)
        self._order(times, rows)
        return self._made(times, values)

    def regular(self, start: object, step: int, cells: Sequence[object], unit: str) -> Series | None:
        """Return the series of cells in equal steps from a start."""
        if not self._countable(len(cells)):
            return None
        first, rows = self.moment(start, "start"), self._present(cells)
        values = self._values(cells, rows, unit)
        if first is None or self.issues:
            return None
        end = first + step * len(cells)
        if end > LATEST:
            self.issues.append(self.origin.whole("steps beyond the year 9999", "an earlier end", "correct the step"))
            return None
        return self._made([first + n * step for n in rows], values, usual=end)

    def _present(self, cells: Sequence[object]) -> Sequence[int]:
        """Return which cells count: where values hold on, those that are there."""
        if not self.terms.fill:
            return range(len(cells))
        return [n for n, cell in enumerate(cells) if cell is not None and cell != ""]

    def moment(self, stamp: object, key: str) -> int | None:
        """Return a single stamp of a mapping in seconds."""
        before = len(self.issues)
        inner = SeriesBuilder(self.terms, Origin((*self.origin.place, key), None, None, self.origin.file))
        times = inner._times([stamp], [0])
        self.issues += [InputIssue(each.path[:-2], each.got, each.expected, each.hint) for each in inner.issues]
        return times[0] if len(self.issues) == before else None

    def _countable(self, count: int) -> bool:
        if count == 0:
            self.issues.append(self.origin.whole("no values", "at least one", "add them"))
        elif count > MOST_VALUES:
            found, do = f"{count:,} values", "use longer steps, or a part of it"
            self.issues.append(self.origin.whole(found, f"at most {MOST_VALUES:,}", do))
        return not self.issues

    def _add(self, n: int, column: int, found: str, needed: str, do: str) -> None:
        if len(self.issues) < MOST_ISSUES:
            self.issues.append(self.origin.issue(n, column, found, needed, do))

    def _times(self, stamps: Sequence[object], rows: Sequence[int]) -> list[int]:
        """Return seconds since 1970; 0 where there is a problem."""
        times: list[int] = []
        zoneless: list[int] = []
        last = -math.inf
        for n in rows:
            moment = as_moment(stamps[n])
            seconds = 0.0
            if moment is None:
                self._add(n, 0, describe(stamps[n]), NEEDED_STAMP, "write it as ISO 8601 does")
            elif moment.tzinfo is None and self.terms.zone is None:
                zoneless.append(n)
            elif moment.microsecond or getattr(moment, "nanosecond", 0):
                self._add(n, 0, f"{stamps[n]}, within a second", "whole seconds", "round it")
            elif not 1 < moment.year < 9999:  # noqa: PLR2004 - the last years of Python, in any zone
                self._add(n, 0, describe(str(stamps[n])), "a year from 2 to 9998", "correct it")
            else:
                seconds = moment.timestamp() if moment.tzinfo is not None else self._local(n, moment, last)
                last = seconds
            times.append(int(seconds))
        if zoneless:
            found = f"{quote(str(stamps[zoneless[0]]))}, without an offset"
            found += f"; {len(zoneless):,} such in all" if len(zoneless) > 1 else ""
            do = "give time_zone (such as Europe/Berlin), write Z or an offset, or end the column's name in (UTC)"
            self._add(zoneless[0], 0, found, "a time whose zone is known", do)
        return times

    def _local(self, n: int, moment: datetime, last: float) -> float:
        """Return a local time in seconds; the doubled hour in autumn is resolved by order."""
        here = moment.replace(tzinfo=self.terms.zone)
        first, second = here.timestamp(), here.replace(fold=1).timestamp()
        if first > second:
            needed = "a time that clocks show"
            do = f"{self.terms.zone} skips it when daylight saving begins; correct it, or the time zone"
            self._add(n, 0, f"{moment:%Y-%m-%dT%H:%M}, which does not exist there", needed, do)
        return first if first > last else second

    def _values(self, cells: Sequence[object], rows: Sequence[int], unit: str) -> list[float]:
        """Return the values in the unit of their kind; texts are those of a .csv."""
        factors, check = self.terms.kind.factors(unit), self.terms.kind.values
        assert factors is not None, "the unit has been looked at"
        up, down = factors
        values = []
        for n in rows:
            value = as_double(cells[n])
            number = value * up / down + 0.0 if value is not None else math.nan
            if not check.least <= number <= check.most:
                self._add(n, 1, *self._wrong_value(cells[n], value, unit))
            values.append(number)
        return values

    def _wrong_value(self, cell: object, value: float | None, unit: str) -> Message:
        if cell is None or cell == "":
            return "no value", f"a number of {unit}", "add it, or let the value before hold on (fill: true)"
        if value is None:
            return describe(cell), f"a number of {unit}", "write it as a plain number"
        least = "from 0" if self.terms.kind.values.least == 0 else "of any sign"
        return shown_number(value), f"a finite number of {unit}, {least}", "correct it"

    def _order(self, times: Sequence[int], rows: Sequence[int]) -> None:
        """Check that times rise, without gaps unless they are filled."""
        if self.issues:
            return  # times that could not be read have no order
        wrong = [n for n, (one, two) in enumerate(pairwise(times), start=1) if two <= one]
        if wrong:
            n = wrong[0]
            same = times[n] == times[n - 1]
            found = f"{moment_text(times[n])} {'once more' if same else f'after {moment_text(times[n - 1])}'}"
            found += f"; {len(wrong):,} such in all" if len(wrong) > 1 else ""
            self._add(rows[n], 0, found, "times that rise", "remove one of the two" if same else "sort them")
            return
        step = usual_step(times)
        gaps = [n for n, (one, two) in enumerate(pairwise(times), start=1) if step and two - one > step]
        if gaps and step and not self.terms.fill:
            missing = sum(-(-(times[n] - times[n - 1]) // step) - 1 for n in gaps)
            found = f"no value for {moment_text(times[gaps[0] - 1] + step)}; {missing:,} missing in all"
            do = "add what is missing, or let the value before hold on (fill: true)"
            self._add(rows[gaps[0]], 0, found, f"one every {duration(step)}", do)

    def _made(self, times: Sequence[int], values: Sequence[float], usual: int | None = None) -> Series | None:
        """Return the series, unless there are problems; `usual` is when it ends where nothing else is said."""
        end = None if self.terms.end is None else self.moment(self.terms.end, "end")
        if self.issues or not self._countable(len(times)):
            return None
        if self.terms.end is None and usual is None and (step := usual_step(times)) is not None:
            usual = times[-1] + step
        end = usual if end is None else end
        if end is None:
            needed = "at least two, so that the step is known"
            self.issues.append(self.origin.whole("one time", needed, "add times, or say when it ends (end: ...)"))
        elif end <= times[-1]:
            place = (*self.origin.place, "end")
            found, needed = moment_text(end), f"a time after the last one, {moment_text(times[-1])}"
            self.issues.append(InputIssue(place, found, needed, "correct it"))
        else:
            return Series(tuple(times), end, tuple(values))
        return None


def series_in(raw: Mapping[str, Any], terms: SeriesTerms, place: Place) -> tuple[Series | None, list[InputIssue]]:
    """Read a series that stands inside a file; return it, or its problems."""
    kind = terms.kind
    issues = [issue for key in ("fill",) if key in raw for issue in _yes_or_no(raw[key], (*place, key))]
    others = [str(key) for key in raw if key not in INLINE]
    units = [key for key in others if kind.factors(key.lower()) is not None]
    names = kind.units_text(terms.currency)
    for key in islice((key for key in others if key not in units), MOST_ISSUES):
        needed = f"one of {', '.join(INLINE)}, file, or a unit of {kind.word}: {names}"
        issues.append(InputIssue((*place, key), "an unknown key", needed, "correct or remove it"))
    if len(units) != 1 and not (issues and not units):
        found = f"the units {', '.join(units)}" if units else "no unit"
        issues.append(InputIssue(place, found, f"one list of values, named by its unit: {names}", "name it so"))
    regular = "start" in raw and "step" in raw and "times" not in raw
    if not regular and ("times" not in raw or "start" in raw or "step" in raw):
        needed = "either start and step, or times"
        issues.append(InputIssue(place, ", ".join(map(str, raw)), needed, "say when the values hold"))
    issues += [
        InputIssue((*place, key), describe(raw[key]), "a list", "write it in brackets")
        for key in (*units, *(["times"] if "times" in raw else []))
        if not isinstance(raw[key], list | tuple)
    ]
    if issues:
        return None, issues
    unit, cells = units[0].lower(), raw[units[0]]
    issues += terms.currency_issue(unit, (*place, units[0]))
    origin = Origin(place, ("times", units[0]))
    terms = SeriesTerms(kind, terms.currency, terms.zone, bool(raw.get("fill", terms.fill)), raw.get("end", terms.end))
    builder = SeriesBuilder(terms, origin)
    builder.issues += issues
    if regular:
        step = _step(raw["step"], (*place, "step"), builder.issues)
        return builder.regular(raw["start"], step, cells, unit) if not builder.issues else None, builder.issues
    if len(raw["times"]) != len(cells):
        found = f"{len(raw['times']):,} times and {len(cells):,} values"
        builder.issues.append(InputIssue(place, found, "as many of each", "complete them"))
    return builder.series(raw["times"], cells, unit) if not builder.issues else None, builder.issues


def _yes_or_no(value: object, place: Place) -> Iterator[InputIssue]:
    if not isinstance(value, bool):
        yield InputIssue(place, describe(value), "true or false", "write one of these, without quotes")


def _step(raw: object, place: Place, issues: list[InputIssue]) -> int:
    try:
        seconds = parse_quantity(raw, "time") if isinstance(raw, str) else as_double(raw)
    except ValueError:
        seconds = None
    if seconds is None or not 1 <= seconds <= LATEST or seconds != int(seconds):
        needed = "whole seconds, or a time such as 15min or 1h"
        issues.append(InputIssue(place, describe(raw), needed, "correct it"))
        return 1
    return int(seconds)


# The reader of sites, which reads their series before Pydantic sees them.
@dataclass(frozen=True)
class OverTime(FieldReader):
    """Metadata of a site, or with `entries` of a list of them: its series are read first, with its time zone."""

    entries: Entries | None = None

    def read_field(self, reader: Reader, key: str, raw: object) -> object:
        """Return what the field holds; a series with problems is left out of it."""
        if self.entries is None:
            return reader.validated(key, self._with_series(reader, (key,), raw))
        if isinstance(raw, list | tuple):
            few = enumerate(islice(raw, self.entries.most))
            raw = [*(self._with_series(reader, (key, n), entry) for n, entry in few), *raw[self.entries.most :]]
        return self.entries.read_field(reader, key, raw)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of the site, or of the list with its limits."""
        if self.entries is None:
            return dict(handler(core))
        return self.entries.__get_pydantic_json_schema__(core, handler)

    def _with_series(self, reader: Reader, place: Place, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        found = dict(raw)
        name = raw.get("time_zone")
        try:
            zone = ZoneInfo(check_zone(name)) if name is not None else None
        except PydanticCustomError:
            return {key: value for key, value in raw.items() if key not in KINDS or not isinstance(value, Mapping)}
        prices = reader.valid.get("prices")
        for key, kind in KINDS.items():
            if isinstance(given := raw.get(key), Mapping) and (prices is not None or not kind.is_money):
                terms = SeriesTerms(kind, getattr(prices, "currency", ""), zone)
                series, issues = self._read(reader, given, terms, (*place, key))
                reader.problems += issues[:MOST_ISSUES]
                found[key] = series
            elif isinstance(given, Mapping):
                del found[key]  # the problems of prices are reported; without the currency it cannot be read
        return found

    def _read(
        self, reader: Reader, raw: Mapping[str, Any], terms: SeriesTerms, place: Place
    ) -> tuple[Series | None, list[InputIssue]]:
        if "file" not in raw:
            return series_in(raw, terms, place)
        issues = list(file_key_issues(raw, place))
        if not issues and reader.context is None:
            issues.append(InputIssue((*place, "file"), describe(raw["file"]), "the values", "read it from a file"))
        if issues:
            return None, issues
        terms = SeriesTerms(terms.kind, terms.currency, terms.zone, raw.get("fill", False), raw.get("end"))
        named = {key: raw.get(key) for key in ("time", "value", "unit")}
        read: Callable[..., Series] = cast("Any", reader.context).series  # of a `Sidecars` of `io/`
        try:
            return read(raw["file"], terms, place, **named), []
        except InstanceError as error:
            return None, list(error.issues)


def file_key_issues(raw: Mapping[str, Any], place: Place) -> Iterator[InputIssue]:
    """Return the problems of the keys beside ``file``."""
    for key in islice(raw, MOST_ISSUES):
        if key not in IN_FILE:
            needed = f"one of {', '.join(IN_FILE)}"
            yield InputIssue((*place, str(key)), "an unknown key", needed, "correct or remove it")
        elif key == "fill":
            yield from _yes_or_no(raw[key], (*place, key))
        elif key != "end" and not (isinstance(raw[key], str) and raw[key]):
            word = "the name of a file" if key == "file" else "a unit" if key == "unit" else "the name of a column"
            yield InputIssue((*place, key), describe(raw[key]), word, "put it in quotes")
