"""Series over time: tariffs, carbon intensities and power caps that change at given moments.

A value holds from its time until the next one, the last one until the end. Times are whole seconds since 1970 UTC.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.model.fields import LARGEST, Amount, Checked, Message, describe, little_endian

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

HIGH_PRICE: Final = 10.0  # per kWh; above, the unit may be wrong
EARLIEST: Final = int(datetime(1, 1, 2, tzinfo=UTC).timestamp())  # in every zone within the years of Python
LATEST: Final = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())
# keys of a series in a file of its own
IN_FILE: Final = ("file", "time", "value", "unit", "end", "fill")


@dataclass(frozen=True, slots=True)
class Series:
    """Values over time, each from its time until the next one, the last one until the end.

    >>> day = Series((0, 3600), 7200, (0.25, 0.5))
    >>> day.value_at(3599), day.value_at(3600), day.usual_step
    (0.25, 0.5, 3600)
    """

    times: tuple[int, ...] = field(repr=False)  # seconds since 1970 UTC, rising
    end: int
    values: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        """Check what every series must satisfy."""
        wrong = ""
        if not self.times or len(self.times) != len(self.values):
            wrong = f"{len(self.times):,} times and {len(self.values):,} values"
        elif not all(type(time) is int for time in (*self.times, self.end)):
            wrong = "times that are not whole numbers"
        elif not all(one < two for one, two in pairwise((*self.times, self.end))):
            wrong = "times that do not rise up to the end"
        elif not (self.times[0] >= EARLIEST and self.end <= LATEST):
            wrong = "times outside the years 1 to 9999"
        elif not all(type(value) is float and -LARGEST <= value <= LARGEST for value in self.values):
            wrong = "values that are not finite floats"
        if wrong:
            needed = "rising seconds since 1970 UTC, and a finite float for each"
            raise InstanceError("Series", (InputIssue((), wrong, needed, "see help(Series)"),))

    @property
    def start(self) -> int:
        """When the first value begins."""
        return self.times[0]

    @property
    def span(self) -> str:
        """From when to when there are values, for messages."""
        return span_text(self.start, self.end)

    @property
    def usual_step(self) -> int | None:
        """The most common step, the shortest of several; `None` if there is one time only."""
        return usual_step(self.times)

    def value_at(self, moment: float) -> float:
        """Return the value at a moment between start and end."""
        assert self.start <= moment < self.end, "a moment within the series"
        return self.values[bisect_right(self.times, moment) - 1]

    def window(self, start: int, end: int) -> Series:
        """Return the part of the series between two moments.

        >>> Series((0, 3600), 7200, (0.25, 0.5)).window(1800, 5400) == Series((1800, 3600), 5400, (0.25, 0.5))
        True
        """
        assert self.start <= start < end <= self.end, "a span within the series"
        first, last = bisect_right(self.times, start) - 1, bisect_right(self.times, end - 1)
        return Series((start, *self.times[first + 1 : last]), end, self.values[first:last])

    @property
    def digest(self) -> str:
        """The SHA-256 of times, end and values, in hexadecimal."""
        packed = little_endian("q", array("q", (*self.times, self.end)).tobytes())
        return hashlib.sha256(packed + little_endian("d", array("d", self.values).tobytes())).hexdigest()

    def as_dict(self, unit: str) -> dict[str, Any]:
        """Return the series as a mapping of a file; its values are in this unit."""
        step = self.usual_step or self.end - self.start
        if all(two - one == step for one, two in pairwise((*self.times, self.end))):
            return {"start": moment_text(self.start), "step": _step_text(step), unit: list(self.values)}
        return {"times": [moment_text(time) for time in self.times], unit: list(self.values)} | self.not_in_rows()

    def not_in_rows(self) -> dict[str, Any]:
        """Return what rows alone do not say: the end if the last step is unusual, and that there are gaps."""
        step = self.usual_step
        said: dict[str, Any] = {} if step == self.end - self.times[-1] else {"end": moment_text(self.end)}
        return said | ({"fill": True} if any(two - one > (step or 0) for one, two in pairwise(self.times)) else {})


def usual_step(times: Sequence[int]) -> int | None:
    """Return the most common step between rising times, the shortest of several."""
    steps = Counter(two - one for one, two in pairwise(times))
    return min(steps, key=lambda step: (-steps[step], step)) if steps else None


def moment_text(seconds: float) -> str:
    """Write seconds since 1970 as a date and time of UTC.

    >>> moment_text(1719792000), moment_text(1719792001)
    ('2024-07-01T00:00Z', '2024-07-01T00:00:01Z')
    """
    moment = datetime.fromtimestamp(math.floor(seconds), UTC)
    return moment.isoformat(timespec="seconds" if moment.second else "minutes").replace("+00:00", "Z")


def span_text(start: float, end: float) -> str:
    """Write from when to when something lasts."""
    return f"{moment_text(start)} to {moment_text(end)}"


def _step_text(step: int) -> str:
    size, unit = next(each for each in ((3600, "h"), (60, "min"), (1, "s")) if step % each[0] == 0)
    return f"{step // size}{unit}"


# Kinds of series: their units, and what those are in the unit that values have once they are read.
@dataclass(frozen=True, slots=True)
class SeriesKind:
    """What a series is of; `units` are factors (multiplied, divided) to the unit of its values."""

    key: str  # of a site
    word: str
    number: Amount  # what a plain number in a file is
    values: Amount  # the values of a series
    canonical: str  # the unit of these
    units: tuple[tuple[str, tuple[float, float]], ...]
    in_header: tuple[tuple[str, str], ...]  # how units are written in parentheses

    @property
    def is_money(self) -> bool:
        """Whether its units begin with a currency."""
        return self.canonical.startswith("money")

    def factors(self, unit: str) -> tuple[float, float] | None:
        """Return what a value in this unit is multiplied and divided by; `None` if it is no unit of this kind."""
        known = dict(self.units)
        if self.is_money and (found := MONEY.fullmatch(unit)):
            unit = f"money_per_{found[2]}"
        return known.get(unit)

    def unit_in(self, header: str) -> str | None:
        """Return the unit that the header of a column names, exactly or in parentheses.

        >>> TARIFF.unit_in("Price (USD/MWh)"), TARIFF.unit_in("eur_per_kWh"), TARIFF.unit_in("price")
        ('usd_per_mwh', 'eur_per_kwh', None)
        """
        plain = header.strip().lower()
        if self.factors(plain) is not None:
            return plain
        for inner in _PARENTHESES.findall(header):
            written = dict(self.in_header).get(inner.strip())
            if written is None and self.is_money and (found := _PER.fullmatch(inner.strip().lower())):
                written = f"{found[1]}_per_{found[2]}"
            if written is not None:
                return written
        return None

    def own_unit(self, currency: str) -> str:
        """Return the unit of its values, as a file names it."""
        code = currency.lower()
        return f"{code}_per_kwh" if self.is_money and _CODE.fullmatch(code) else self.canonical

    def units_text(self, currency: str) -> str:
        """Return its units, for messages."""
        code = currency.lower() if _CODE.fullmatch(currency.lower()) else "money"
        return ", ".join(name.replace("money", code) for name, _ in self.units)


_CODE: Final = re.compile(r"[a-z]{3}")
MONEY: Final = re.compile(r"([a-z]{3}|money)_per_(kwh|mwh)")
_PER: Final = re.compile(r"([a-z]{3})/(kwh|mwh)")
_PARENTHESES: Final = re.compile(r"\(([^()]*)\)")
TARIFF: Final = SeriesKind(
    "tariff",
    "a tariff",
    Amount("money per kWh", least=-LARGEST),
    Amount("money per kWh", least=-LARGEST),
    "money_per_kwh",
    (("money_per_kwh", (1.0, 1.0)), ("money_per_mwh", (1.0, 1000.0))),
    (),
)
CARBON: Final = SeriesKind(
    "carbon",
    "a carbon intensity",
    Amount("grams of CO2 per kWh"),
    Amount("grams of CO2 per kWh"),
    "g_per_kwh",
    (("g_per_kwh", (1.0, 1.0)), ("kg_per_mwh", (1.0, 1.0)), ("kg_per_kwh", (1000.0, 1.0))),
    (("g/kWh", "g_per_kwh"), ("kg/MWh", "kg_per_mwh"), ("kg/kWh", "kg_per_kwh")),
)
POWER_CAP: Final = SeriesKind(
    "power_cap",
    "a power cap",
    Amount("kW"),
    Amount("watts"),
    "w",
    (("kw", (1000.0, 1.0)), ("w", (1.0, 1.0)), ("mw", (1_000_000.0, 1.0))),
    (("kW", "kw"), ("W", "w"), ("MW", "mw")),  # with these letters: (mW) would be milliwatts
)
KINDS: Final = {kind.key: kind for kind in (TARIFF, CARBON, POWER_CAP)}


def high_price(
    series: float | Series | None, kind: SeriesKind, currency: str, site: str = "", word: str = "tariff"
) -> str:
    """Return a warning about prices that are usual for other units; '' if there is none."""
    values = series.values if isinstance(series, Series) else (series or 0.0,)
    highest = max(values, key=abs)
    if not kind.is_money or abs(highest) <= HIGH_PRICE:
        return ""
    when = f" at {moment_text(series.times[values.index(highest)])}" if isinstance(series, Series) else ""
    whose = f" of {quote(site)}" if site else ""
    return f"the {word}{whose} is {highest:g} {currency} per kWh{when}; is the unit right?"


# Fields: a number or a series, and a time zone.
@dataclass(frozen=True, slots=True)
class Varying(Checked[Any]):
    """Metadata of a field: a number of a kind, or a series of it."""

    kind: SeriesKind

    def core(self) -> CoreSchema:
        """Return a number in the range, or a series with values in it."""
        return core_schema.no_info_plain_validator_function(self._valid)

    def _valid(self, value: object) -> float | Series:
        if not isinstance(value, Series):
            return self.kind.number(value)
        if min(value.values) < self.kind.values.least:
            raise ValueError("out of range")
        return value

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        if isinstance(value, Series):
            return f"a series with values down to {min(value.values):g}", "values from 0", "correct them"
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self.kind.number.message(value)
        needed = f"{self.kind.number.unit}: a number, or a series ({{file: NAME}}, or values with start and step)"
        return describe(value), needed, "write it as a plain number, or as a series"

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return what Pydantic checks, and how it writes a series: as a mapping of a file."""
        dumped = core_schema.plain_serializer_function_ser_schema(self._dumped)
        inner = Checked.__get_pydantic_core_schema__(self, source, handler)
        return {**inner, "serialization": dumped}

    def _dumped(self, value: float | Series) -> object:
        return value.as_dict(self.kind.canonical) if isinstance(value, Series) else value

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of a number and of the forms of a series."""
        number = {"type": "number", "minimum": self.kind.number.least, "maximum": self.kind.number.most}
        numbers = {"type": "array", "items": {"type": ["number", "null"]}, "minItems": 1}
        names = [name.replace("money", "([a-z]{3}|money)") for name, _ in self.kind.units]
        units = {f"^({'|'.join(names)})$": numbers}
        text, moment = {"type": "string"}, {"type": "string"}
        more = {"end": moment, "fill": {"type": "boolean"}}
        step = {"type": ["string", "number"]}
        forms: tuple[tuple[str, list[str], dict[str, Any], dict[str, Any]], ...] = (
            ("values in equal steps", ["start", "step"], {"start": moment, "step": step} | more, units),
            ("values from given times", ["times"], {"times": {"type": "array", "items": moment}} | more, units),
            ("in a file", ["file"], {key: text for key in IN_FILE if key not in more} | more, {}),
        )
        described = {"description": f"{self.kind.number.unit}, always the same"}
        return {
            "anyOf": [
                described | number,
                *(
                    {"description": word, "type": "object", "required": needed, "properties": keys}
                    | {"patternProperties": pattern, "additionalProperties": False}
                    for word, needed, keys, pattern in forms
                ),
            ]
        }


@dataclass(frozen=True, slots=True)
class _Zone(Checked[str]):
    """A name of the IANA time zone database."""

    def core(self) -> CoreSchema:
        return core_schema.no_info_after_validator_function(_known_zone, core_schema.str_schema(strict=True))

    def message(self, value: object) -> Message:
        return describe(value), "a time zone of the IANA database, such as Europe/Berlin or UTC", "correct it"


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # also of a folder, or of a path out of the database
        raise ValueError("no such zone") from None
    return name


check_zone: Final = _Zone()


def zone_named(name: str | None) -> ZoneInfo | None:
    """Return a time zone by its name."""
    if name is None:
        return None
    try:
        return ZoneInfo(check_zone(name))
    except PydanticCustomError as error:
        raise InstanceError("", (InputIssue(("time_zone",), **(error.context or {})),)) from None
