"""Results as JSON objects, comparisons as tables, both as data frames: what is shown is declared, how is here.

The keys of a JSON object are declared in a text of words, in their order:

    value              an attribute, by its own name
    measured.cost      an attribute of an attribute, by the last name; null where there is nothing on the way
    unit=currency      by another name
    risk?              left out where it is `None` or an empty tuple
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache, partial
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel

from lpsched.errors import install_command, raise_signal_in
from lpsched.units import (
    ROUNDING,
    are_equal,
    beside_limit,
    counted,
    finer_by,
    gap_text,
    html_table,
    number,
    paired,
    plain_text,
)

if TYPE_CHECKING:
    from lpsched.model.provenance import Provenance
    from lpsched.model.violation import Violation


EQUAL: Final = 1e-12  # values that differ by less, relative, are equal in a headline
LONGEST_REPR: Final = 300  # characters
MOST_HTML: Final = 40  # rows of a schedule in a notebook
FEW: Final = 3  # entries that a `repr` writes out
SCALARS: Final = frozenset((float, int, str, bool, type(None)))


class JsonObject:
    """A result whose JSON object is declared: the keys in `_KEYS`, or all fields; a format in `_FORMAT`, or none."""

    __slots__ = ()
    _FORMAT: ClassVar[str] = ""
    _KEYS: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Give data classes a short `repr`: they write their own unless there is one."""
        super().__init_subclass__()
        cls.__repr__ = brief  # type: ignore[method-assign]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as it appears in JSON, where a command prints it with `--json`; its keys are stable."""
        made = json_of(self, self._KEYS)
        if not self._FORMAT:
            return made
        provenance: Provenance = self.provenance  # type: ignore[attr-defined]
        return provenance.header(self._FORMAT) | made


def brief(result: Any) -> str:  # noqa: ANN401 - any data class
    """Return the `repr` of a result: its headline, or else its fields, with collections by their sizes."""
    name = type(result).__name__
    if hasattr(result, "headline"):
        return f"<{name}: {result.headline()}>"
    shown = (f"{each.name}={_sized(getattr(result, each.name))}" for each in fields(result) if each.repr)
    text = f"{name}({', '.join(shown)})"
    return text if len(text) <= LONGEST_REPR else f"{text[:LONGEST_REPR]}...)"


def placed_html(schedule: Any) -> str:  # noqa: ANN401 - a schedule of placed tasks
    """Return a table of the first tasks of a schedule, for a notebook."""
    names = [each.name for each in fields(schedule.placed[0])] if schedule.placed else []
    rows = [
        ["" if (cell := getattr(each, name)) is None else str(cell) for name in names]
        for each in schedule.placed[:MOST_HTML]
    ]
    return html_table(names, rows)


def _sized(value: object) -> str:
    if isinstance(value, Mapping | tuple | list) and len(value) > FEW:
        return f"<{len(value):,} entries>"
    return repr(value)


def json_of(result: Any, keys: str, **computed: Any) -> dict[str, Any]:  # noqa: ANN401 - any result
    """Return the declared keys of a result, or all its fields; what is `computed` is taken from there."""
    found = {}
    for key, path, is_optional in _read(keys or _fields(result.__class__)):
        if key in computed:
            value = computed[key]
        else:
            value = result
            for name in path:
                value = None if value is None else getattr(value, name)
        if not is_optional or (value is not None and value != ()):
            found[key] = value if type(value) in SCALARS else plain(value)
    return found


@cache
def _fields(kind: type) -> str:
    return " ".join(each.name for each in fields(kind))


@cache
def _read(keys: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """Return of each word the key, the names of the attributes on the way, and whether it may be left out."""
    words = ((word.removesuffix("?"), word.endswith("?")) for word in keys.split())
    return tuple(
        (word.partition("=")[0].rpartition(".")[2], tuple(word.rpartition("=")[2].split(".")), may)
        for word, may in words
    )


def plain(value: Any) -> Any:  # noqa: ANN401, PLR0911 - anything that a result holds
    """Return a value in the types of JSON.

    >>> from lpsched.model.violation import Violation
    >>> plain({"rules": (Violation("late", "ends at 5 s"),), "seconds": 1.5})
    {'rules': [{'code': 'late', 'sentence': 'ends at 5 s'}], 'seconds': 1.5}
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, JsonObject):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, Fraction):
        return decimal(value)
    if is_dataclass(value):
        return value.to_dict() if hasattr(value, "to_dict") else json_of(value, "")
    return value.tolist()  # an array or a number of NumPy


def decimal(number: float | Fraction) -> str:
    """Write a double, or a fraction that is one, as its exact decimal expansion.

    >>> decimal(0.1), decimal(12.0)
    ('0.1000000000000000055511151231257827021181583404541015625', '12')
    """
    return format(Decimal(float(number)), "f")


def frame_of(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:  # noqa: ANN401 - pandas is no dependency
    """Return a pandas data frame.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise_signal_in(error)
        raise ImportError(f"a data frame needs pandas; install it:\n    {install_command('pandas')}") from error
    return pandas.DataFrame(list(rows), columns=list(columns))


def front_frame(entries: Sequence[Any], more: Mapping[str, Callable[[Any], object]]) -> Any:  # noqa: ANN401
    """Return a pandas data frame with a row for each method: its points counted, its distances, and `more`."""
    columns = ("hypervolume_ratio", "mean_distance", "largest_distance", "seconds", "generations", "ended", "refused")
    rows = [
        (
            entry.name,
            len(entry.points),
            *(getattr(entry, column) for column in columns),
            *(of(entry) for of in more.values()),
        )
        for entry in entries
    ]
    return frame_of(("name", "points", *columns, *more), rows)


def short_unit(unit: str) -> str:
    """Return a unit of JSON as it is written for people.

    >>> short_unit("USD/hour"), short_unit("reward/second"), short_unit("seconds")
    ('USD/h', 'reward/s', 'seconds')
    """
    return unit.replace("/hour", "/h").replace("/second", "/s")


def without_empty(
    headers: Sequence[str], rows: Sequence[Sequence[str]], kept: Sequence[str] = ()
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return a table without the columns in which every cell is blank or a dash, but for those `kept`.

    >>> without_empty(("name", "watts", "runs"), [("a", "-", "3"), ("b", "", "-")])
    (('name', 'runs'), [('a', '3'), ('b', '-')])
    """
    full = [header in kept or any(row[at] not in {"", "-"} for row in rows) for at, header in enumerate(headers)]
    return tuple(compress(headers, full)), [tuple(compress(row, full)) for row in rows]


def along(count: int, most: int = 5) -> list[int]:
    """Return evenly spaced places of a list, both ends included; all where they are few.

    >>> along(100), along(4), along(1)
    ([0, 25, 50, 74, 99], [0, 1, 2, 3], [0])
    """
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]


def gap_words(gap: float | None) -> str:
    """Return a gap as a part of a headline.

    >>> gap_words(0.25), gap_words(3e-9), gap_words(None)
    ('gap 25 %, ', 'gap under 0.001 %, ', '')
    """
    return "" if gap is None else f"gap {gap_text(gap)}, "


def optimal_words(gap: float | None) -> str:
    """Return how near to its bound a result of status `optimal` is: that means within the gap asked for, no more.

    >>> optimal_words(0.0), optimal_words(5e-4)
    ('Optimal.', 'Optimal within the gap asked for.')
    """
    return "Optimal." if gap is not None and gap <= ROUNDING else "Optimal within the gap asked for."


def stopped_words(why: str) -> str:
    """Return what a result that was cut short says of it, if it was.

    >>> stopped_words("interrupted"), stopped_words("")
    ('Interrupted; a rerun may differ.', 'Stopped before the end; a rerun may differ.')
    """
    return f"{(why or 'stopped before the end').capitalize()}; a rerun may differ."


def run_time(seconds: float | None) -> str:
    """Write a run time in seconds, to the millisecond.

    >>> run_time(0.000635), run_time(0.0123456), run_time(12.3456), run_time(None)
    ('<0.001', '0.012', '12.3', '-')
    """
    return "<0.001" if seconds is not None and seconds < 0.001 else number(seconds and round(seconds, 3), 3)  # noqa: PLR2004


def best_of(values: Sequence[tuple[str, float]], noun: str, plural: str = "") -> str:
    """Return the beginning of a headline about names and their values, the best first; equal ones are counted.

    >>> best_of([("lp", 3.0), ("olb", 3.0), ("met", 1.0)], "scheduler"), best_of([("lp", 3.0)], "scheduler")
    ('Best of 3 schedulers: lp and 1 other, ', 'lp: ')
    """
    (name, best), *others = values
    if not others:
        return f"{name}: "
    equal = sum(abs(value - best) <= EQUAL * abs(best) for _, value in others)
    also = f" and {counted(equal, 'other')}" if equal else ""
    return f"Best of {counted(len(values), noun, plural)}: {name}{also}, "


# Comparisons: schedulers, methods or files, each with the gap to a bound.
class Compared:
    """One scheduler, method or file: what was measured of it, or the rules that it breaks."""

    __slots__ = ()
    if TYPE_CHECKING:
        name: str
        measured: Any
        seconds: float | None  # that it took; not there where nothing is ever run
        violations: tuple[Violation, ...]

    @property
    def valid(self) -> bool:
        """Whether it breaks no rule."""
        return not self.violations


SomeEntry = TypeVar("SomeEntry", bound=Compared)


class Column(NamedTuple):
    """One column of a comparison: its header, and the cell of an entry that was measured."""

    header: str
    cell: Callable[[Any], str]


class Score(NamedTuple):
    """What an entry achieves, its bound, and the gap, |value - bound| / |bound|; `None` where there is none."""

    value: float | None
    bound: float | None
    gap: float | None


class Comparison(JsonObject, Generic[SomeEntry]):
    """A bound, and schedulers compared with it; each kind of instance declares its rows and JSON keys."""

    __slots__ = ()
    _WHO: ClassVar[str] = "scheduler"  # the header of the names
    _TERMS: ClassVar[str] = ""  # under which a bound holds, where each entry has its own
    _UNIT: ClassVar[str] = ""  # after a value, for people
    _COLUMNS: ClassVar[tuple[Column, ...]] = ()
    if TYPE_CHECKING:
        entries: tuple[SomeEntry, ...]
        provenance: Provenance

    @property
    def valid(self) -> bool:
        """Whether every entry is valid."""
        return all(entry.valid for entry in self.entries)

    @property
    def quantity(self) -> str:
        """What is compared, with its unit."""
        raise NotImplementedError

    @property
    def is_upper(self) -> bool:
        """Whether the bound is from above."""
        return True

    @property
    def common_bound(self) -> float | None:
        """The bound of all entries; `None` where each has its own."""
        raise NotImplementedError

    @property
    def proof(self) -> str:
        """How the bound is known."""
        return "proved"

    def score(self, entry: SomeEntry) -> Score:
        """Return what an entry achieves, the bound on it, and the gap between them."""
        raise NotImplementedError

    def amount_text(self, value: float | Fraction, /, *, upper: bool | None = None, finer: int = 0) -> str:
        """Write a value without its unit of money or reward; a bound, `upper` or lower, is rounded to its side."""
        return plain_text(value, upper=upper, finer=finer)

    @property
    def unit_text(self) -> str:
        """What follows a value in a sentence."""
        return self._UNIT

    def _finer(self, entry: SomeEntry) -> int:
        """Return how many more digits than usual the value of an entry and the common bound need."""
        value, bound = self.score(entry).value, self.common_bound
        if value is None or bound is None:
            return 0
        return finer_by(value, bound, upper=self.is_upper, write=self.amount_text)

    def value_text(self, entry: SomeEntry) -> str:
        """Write what an entry achieves, in the table below the common bound; as that where it is reached."""
        value, bound = self.score(entry).value, self.common_bound
        if value is None:
            return "-"
        if bound is None:
            return self.amount_text(value)
        limit = self.limit_text()
        finer = self._finer(entry), max(map(self._finer, self.entries))
        beside = partial(beside_limit, upper=self.is_upper, finer=finer, write=self.amount_text)
        return limit if are_equal(value, bound) else beside(value, limit)

    def limit_text(self) -> str:
        """Write the common bound, in the table above what is achieved: with the digits that any of it needs."""
        assert self.common_bound is not None
        finer = max(map(self._finer, self.entries), default=0)
        return self.amount_text(self.common_bound, upper=self.is_upper, finer=finer)

    def ranked(self) -> Self:
        """Return the same comparison with the best entry first, and those without a value last."""
        sign = -1.0 if self.is_upper else 1.0

        def place(entry: SomeEntry) -> tuple[bool, float]:
            value = self.score(entry).value
            return value is None, sign * (value or 0.0)

        return replace(self, entries=tuple(sorted(self.entries, key=place)))  # type: ignore[type-var]

    def headline(self) -> str:
        """Return the best entry, its value, the bound and the gap in one sentence."""
        scores = [(entry.name, self.score(entry)) for entry in self.ranked().entries]
        known = [(name, score) for name, score in scores if score.value is not None]
        if not known:
            return f"No {self._WHO} has a valid result."
        values = [(name, float(score.value or 0.0)) for name, score in known]
        _, bound, gap = known[0][1]
        what = "" if self._UNIT else f"{self.quantity.partition(',')[0]} "
        best, limit = self.amount_text(values[0][1]), ""
        reached = gap is not None and gap <= ROUNDING
        if bound is not None and not reached:
            best, limit = paired(values[0][1], bound, upper=self.is_upper, write=self.amount_text)
        text, limit = f"{best_of(values, self._WHO)}{what}{best}{self.unit_text}", f"{limit}{self.unit_text}"
        if bound is None:
            return f"{text}."
        if reached:
            return f"{text}; optimal{self._TERMS} ({self.proof})."
        terms = f"at most {limit} possible" if self.is_upper else f"at least {limit} in any schedule"
        return f"{text}; {terms}{self._TERMS} ({gap_words(gap)}{self.proof})."

    def _columns(self) -> Sequence[Column]:
        """Return the columns of each valid entry: `_COLUMNS`, if nothing depends on the result."""
        return self._COLUMNS

    def _bound_cells(self) -> tuple[str, ...]:
        """Return the first cells of the row of the bound."""
        raise NotImplementedError

    def headers(self) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        return self._table()[0]

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for the bound, and one for each entry."""
        return self._table()[1]

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return headers and rows without empty columns."""
        columns, bound = self._columns(), self._bound_cells()
        headers = (self._WHO, *(column.header for column in columns), "seconds")
        rows = [bound + ("",) * (len(headers) - len(bound))]
        for entry in self.entries:
            cells = ["invalid" if entry.violations else "none", *("-" for _ in columns[1:])]
            if entry.measured is not None:
                cells = [column.cell(entry) for column in columns]
            rows.append((entry.name, *cells, run_time(getattr(entry, "seconds", None))))
        return without_empty(headers, rows)

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each entry.

        Its columns are `name`, `value`, `bound` and `gap`, as in `score`, and the other keys of an entry in JSON
        that hold one value.
        """
        scores = [{"name": entry.name, **self.score(entry)._asdict()} for entry in self.entries]
        rows = [score | entry for score, entry in zip(scores, self.to_dict()["entries"], strict=True)]
        keys = [
            key for key in (rows[0] if rows else ()) if not any(isinstance(row.get(key), list | dict) for row in rows)
        ]
        return frame_of(keys, [[row.get(key) for key in keys] for row in rows])

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())
