"""Results as JSON objects, comparisons as tables, both as data frames: what is shown is declared, how is here.

The keys of a JSON object are declared in a text of words, in their order:

    value              an attribute, by its own name
    measured.cost      an attribute of an attribute, by the last name; null where there is nothing on the way
    unit=currency      by another name
    risk?              left out where it is `None` or an empty tuple
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from lpsched.units import html_table, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lpsched.model.provenance import Provenance
    from lpsched.model.violation import Violation


SCALARS: Final = frozenset((float, int, str, bool, type(None)))


class JsonObject:
    """A result whose JSON object is declared: the keys in `_KEYS`, or all fields; a format in `_FORMAT`, or none."""

    __slots__ = ()
    _FORMAT: ClassVar[str] = ""
    _KEYS: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as it appears in JSON, where a command prints it with `--json`; its keys are stable."""
        made = json_of(self, self._KEYS)
        if not self._FORMAT:
            return made
        provenance: Provenance = self.provenance  # type: ignore[attr-defined]
        return provenance.header(self._FORMAT) | made


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
        raise ImportError("a data frame needs pandas; install it: pip install pandas") from error
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


def along(count: int, most: int = 5) -> list[int]:
    """Return evenly spaced places of a list, both ends included; all where they are few.

    >>> along(100), along(4), along(1)
    ([0, 25, 50, 74, 99], [0, 1, 2, 3], [0])
    """
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]


# Comparisons: schedulers, methods or files, each beside a bound that is proved.
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
    """One column of a comparison: its header, and what it says of an entry that was measured."""

    header: str
    cell: Callable[[Any], str]


class Score(NamedTuple):
    """What an entry achieves, what none can pass, and the distance as a share of that; `None` where there is none."""

    value: float | None
    bound: float | None
    gap: float | None


class Comparison(JsonObject, Generic[SomeEntry]):
    """A bound, and every scheduler held against it; one kind of instance declares what its rows and keys are.

    `_WHO` is the header above the names; `_VALID` says whether there is a column for that.
    """

    __slots__ = ()
    _WHO: ClassVar[str] = "scheduler"
    _VALID: ClassVar[bool] = True
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

    def score(self, entry: SomeEntry) -> Score:
        """Return what an entry achieves, the bound on it, and the gap between them."""
        raise NotImplementedError

    def _columns(self) -> Sequence[Column]:
        """Return what is told of each valid entry: `_COLUMNS`, if nothing depends on the result."""
        return self._COLUMNS

    def _bound_cells(self) -> tuple[str, ...]:
        """Return the first cells of the row of the bound."""
        raise NotImplementedError

    def _has_seconds(self) -> bool:
        """Tell whether there is a column of how long everything took."""
        return True

    def _no_answer(self, _entry: SomeEntry) -> str:
        """Return what the first column says of an entry that was not measured."""
        return "-"

    def headers(self) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        last = ("valid",) * self._VALID + ("seconds",) * self._has_seconds()
        return (self._WHO, *(column.header for column in self._columns()), *last)

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for the bound, and one for each entry."""
        bound, columns = self._bound_cells(), self._columns()
        return [
            bound + ("",) * (len(self.headers()) - len(bound)),
            *(self._row(entry, columns) for entry in self.entries),
        ]

    def _row(self, entry: SomeEntry, columns: Sequence[Column]) -> tuple[str, ...]:
        if entry.measured is None:
            cells = [self._no_answer(entry), *("-" for _ in columns[1:])]
        else:
            cells = [column.cell(entry) for column in columns]
        valid = ("yes" if entry.valid else "no",) * self._VALID
        return (entry.name, *cells, *valid, *((number(entry.seconds, 3),) if self._has_seconds() else ()))

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each entry.

        Its columns are `name`, `value`, `bound` and `gap`, as in `score`, and the other keys of an entry in JSON
        that hold one value.
        """
        scores = [{"name": entry.name, **self.score(entry)._asdict()} for entry in self.entries]
        rows = [score | told for score, told in zip(scores, self.to_dict()["entries"], strict=True)]
        keys = [
            key for key in (rows[0] if rows else ()) if not any(isinstance(row.get(key), list | dict) for row in rows)
        ]
        return frame_of(keys, [[row.get(key) for key in keys] for row in rows])

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())
