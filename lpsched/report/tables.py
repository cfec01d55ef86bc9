"""Tables of the command line: their one style, and those that results of all kinds have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.cells import cell_len
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from lpsched.auditing import HEADERS, OTHER_TERMS, Audit
from lpsched.model.results import without_empty
from lpsched.text import printable, printable_lines
from lpsched.units import counted

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, ConsoleRenderable
    from rich.containers import Lines
    from rich.measure import Measurement
    from rich.segment import Segment

    from lpsched.evolve.fronts import FrontEntry
    from lpsched.model.results import Comparison
    from lpsched.model.risk import Risk


Cell: TypeAlias = str | tuple[str, ...]
MOST_ROWS: Final = 40  # of task types; a screen or two
UNFINISHED: Final = "No marginal values: the linear program was not solved to the end."
# The one table style: no lines, a bold header, numbers to the right, texts exactly as they stand.
#
# Cells are made `Text`, so that a name such as ``[red]x`` or ``:smile:`` is printed and not interpreted.
# A table of many columns folds: where the terminal is narrower, its columns stand in several tables. One of counts
# is turned, so that its columns become rows, or each of its rows becomes a list.
BETWEEN: Final = 2  # empty places between two columns
WIDEST: Final = 100  # columns of a line, in a pipe too
UNIT: Final = r"(?:%|°C|(?:d|h|min|s|ms|[kM]?Wh?|J|MHz|K|[A-Z]{3}(?:/h)?)(?![\w/]))"
KEPT: Final = re.compile(rf"(?<=\d) {UNIT}(?: \d+ (?:h|min|s)\b)?|± \d")  # 46 min 44 s, 1.2 %
GLUE: Final = "\ue000"  # for a blank at which no line ends: for rich, every blank of Unicode is one


class WrappedText(Text):
    """A text whose numbers stay with their units where its lines end."""

    @property
    def glued(self) -> Text:
        """The text with other characters for blanks that stay."""
        made = self.copy()
        made.plain = KEPT.sub(lambda found: found[0].replace(" ", GLUE), self.plain)
        return made

    def wrap(self, *arguments: Any, **options: Any) -> Lines:  # noqa: ANN401 - as in `Text`
        """Break the text into lines."""
        lines = Text.wrap(self.glued, *arguments, **options)
        for line in lines:
            line.plain = line.plain.replace(GLUE, " ")
        return lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the least and the most columns that it needs."""
        return self.glued.__rich_measure__(console, options)


def table(headers: Sequence[str], rows: Sequence[Sequence[Cell]], *, numbers: Sequence[int] = ()) -> Table:
    """Return a table; the columns in `numbers` are set to the right. Empty headers show no header line.

    A cell is one line, or a tuple of lines.

    Headers may have several lines; they end on the same one. Without headers, texts in the last column fold no later
    than at `WIDEST` columns, in a pipe too.
    """
    headers = [printable_lines(header) for header in headers]
    made = Table(box=None, show_header=any(headers), header_style="bold", pad_edge=False, padding=(0, BETWEEN, 0, 0))
    lines = max((header.count("\n") for header in headers), default=0)
    for index, header in enumerate(headers):
        above = "\n" * (lines - header.count("\n"))
        made.add_column(Text(above + header), justify="right" if index in numbers else "left", overflow="fold")
    if rows and not any(headers):
        *widths, _ = widths_of((headers, *rows))
        longest = max(cell_len(word) for row in rows for word in ("", *_shown(row[-1]).split()))
        made.columns[-1].max_width = max(WIDEST - sum(widths) - BETWEEN * len(widths), longest)
    for row in rows:
        made.add_row(*(WrappedText(_shown(cell)) for cell in row))
    return made


def _shown(cell: Cell) -> str:
    """Return the text of a cell: printable, in one line unless it is a tuple of lines."""
    return printable(cell) if isinstance(cell, str) else "\n".join(map(printable, cell))


def line(*lines: str) -> ConsoleRenderable:
    """Return a text of one line or several, which folds at the width there is."""
    return Constrain(WrappedText(_shown(lines)), None)


@dataclass(frozen=True, slots=True)
class Printable:
    """What rich can show, in printable characters only, whichever text it holds."""

    shown: ConsoleRenderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Yield the segments with their text made printable; the ends of lines are layout."""
        for segment in console.render(self.shown, options):
            yield segment if segment.control else segment._replace(text=printable_lines(segment.text))


@dataclass(frozen=True, slots=True)
class FoldingTable:
    """A table of many columns, the first few texts; all tables that it folds into have those."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1  # columns that stand in every table
    has_numbers: bool = True  # in the other columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        """Fold for the width there is; rows that say nothing in some columns are left out there."""
        for place, columns in enumerate(self.columns_within(options.max_width)):
            if place:
                yield Text()
            kept = [row for row in self.rows if not place or any(row[column] for column in columns)]
            headers, *cells = [
                [*row[: self.labels], *(row[column] for column in columns)] for row in (self.headers, *kept)
            ]
            yield table(headers, cells, numbers=range(self.labels, len(headers)) if self.has_numbers else ())

    def columns_within(self, width: int) -> list[list[int]]:
        """Return the columns of each of the tables, as many in each as fit, at least one.

        >>> folding = FoldingTable(("name", "a", "b", "c"), (("four", "1", "22", "3"),))
        >>> folding.columns_within(14), folding.columns_within(13), folding.columns_within(1)
        ([[1, 2, 3]], [[1, 2], [3]], [[1], [2], [3]])
        """
        widths = widths_of((self.headers, *self.rows))
        pieces: list[list[int]] = [[]]
        used = first = sum(widths[: self.labels]) + BETWEEN * (self.labels - 1)
        for column in range(self.labels, len(widths)):
            wide = BETWEEN + widths[column]
            if pieces[-1] and used + wide > width:
                pieces.append([])
                used = first
            pieces[-1].append(column)
            used += wide
        return pieces

    def shortened(self, most: int = MOST_ROWS) -> list[ConsoleRenderable]:
        """Return the table with its first rows, and how many are left out; nothing if it has none."""
        return [replace(self, rows=self.rows[:most]), *cut(self.rows, most)] if self.rows else []


def widths_of(rows: Iterable[Sequence[Cell]]) -> list[int]:
    """Return how wide the columns of a table are; the headers are its first row."""
    headers, *cells = rows
    shown = (
        [printable_lines(each) if isinstance(each, str) else _shown(each) for each in headers],
        *(map(_shown, row) for row in cells),
    )
    return [max(cell_len(each) for cell in column for each in cell.split("\n")) for column in zip(*shown, strict=True)]


@dataclass(frozen=True, slots=True)
class CountTable:
    """How many things of each row are in each column, e.g. tasks on machine types, with other columns around them.

    Where it does not fit, it is turned; where that does not fit either, what is in a row's columns becomes a list.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    counts: tuple[int, int]  # the columns of counts: from, and up to without
    listed: str  # the header above the lists

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """Yield the first layout that fits."""
        width = min(options.max_width, WIDEST)
        plain = tuple(header.replace("\n", " ") for header in self.headers)
        for headers, *rows in ((self.headers, *self.rows), tuple(zip(plain, *self.rows, strict=True))):
            if sum(widths_of((headers, *rows))) + BETWEEN * (len(headers) - 1) <= width:
                yield table(headers, rows, numbers=range(1, len(headers)))
                return
        yield self.lists(width)

    def lists(self, width: int) -> Table:
        """Return the table in which the counts of a row are a list, over as many lines as it takes."""
        first, last = self.counts
        others = [index for index in range(len(self.headers)) if not first <= index < last]
        taken = widths_of([[row[index] for index in others] for row in (self.headers, *self.rows)])
        left = max(30, width - sum(taken) - BETWEEN * len(others))
        cells: list[list[Cell]] = []
        for row in self.rows:
            counts = zip(self.headers[first:last], row[first:last], strict=True)
            found = [(name, count) for name, count in counts if count != "-"]
            found.sort(key=lambda each: -int(each[1].replace(",", "")))
            cells.append([*(row[index] for index in others), tuple(lines_of(named(found), left))])
        headers = [*(self.headers[index] for index in others), self.listed]
        return table(headers, cells, numbers=range(1, len(others)))


def named(counts: Sequence[tuple[str, str]], most: int = 6) -> list[str]:
    """Return the first counts with their names, and how many others there are.

    >>> named([("a", "7"), ("b", "5"), ("c", "1"), ("d", "1")], most=2)
    ['a 7', 'b 5', '2 more types']
    """
    shown = [f"{name} {count}" for name, count in counts[: most if len(counts) > most + 1 else None]]
    return shown if len(shown) == len(counts) else [*shown, f"{len(counts) - most:,} more types"]


def lines_of(words: Sequence[str], width: int) -> list[str]:
    """Return words with commas between them, in lines that are no wider where a word is not.

    >>> lines_of(["gpu 20", "cpu 7", "old 1"], 14)
    ['gpu 20, cpu 7,', 'old 1']
    """
    lines = [""]
    for place, word in enumerate(words):
        part = word + ("," if place < len(words) - 1 else "")
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(part) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + part
    return lines


def cut(rows: Sequence[object], most: int = MOST_ROWS) -> list[ConsoleRenderable]:
    """Return how many rows are left out, if any are."""
    left = len(rows) - most
    return [line(f"... and {left:,} more (--json has all)")] if left > 0 else []


def cut_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = (), most: int = MOST_ROWS
) -> list[ConsoleRenderable]:
    """Return a table of the first rows, and how many are left out."""
    return [table(headers, rows[:most], numbers=numbers), *cut(rows, most)]


def full_columns(
    headers: Sequence[str], rows: Sequence[Sequence[str]], most: int = MOST_ROWS
) -> list[ConsoleRenderable]:
    """Return names with their numbers, cut, without columns that say nothing; nothing without rows."""
    kept, full = without_empty(headers, rows)
    return cut_table(kept, full, numbers=range(1, len(kept)), most=most) if rows else []


def hash_table(instance: Any) -> Table:  # noqa: ANN401 - of any kind
    """Return the content hash of an instance, the last of what `lpsched show` prints."""
    return table(("", ""), [("hash", instance.content_hash)])


def risks_tables(risks: Sequence[tuple[str, Risk | None]], quantities: Sequence[str]) -> list[ConsoleRenderable]:
    """Return the distributions of schedulers if times and powers scatter: a table for each quantity; or nothing."""
    known = [(name, risk) for name, risk in risks if risk is not None]
    tables: list[ConsoleRenderable] = [line(risk.heading()) for _, risk in known[:1]]
    for quantity in quantities if known else ():
        first, rows = known[0][1], tuple((name, *risk.of(quantity)) for name, risk in known)
        tables.append(fitted(FoldingTable((first.name_of(quantity), *first.heads()), rows)))
    return tables


def broken_rules(what: str, broken: Sequence[tuple[str, str, str]]) -> list[ConsoleRenderable]:
    """Return the rules that schedules or allocations break: name, code, sentence; or nothing."""
    return cut_table((what, "violation", ""), broken) if broken else []


def compared_tables(
    result: Comparison[Any],
    heading: str,
    *notes: ConsoleRenderable,
    quantities: Sequence[str] = (),
    what: str = "schedule",
) -> list[ConsoleRenderable]:
    """Return the headline, each scheduler with its gap, notes, sampled risks, and the rules that are broken."""
    sampled = risks_tables([(entry.name, entry.risk) for entry in result.entries], quantities) if quantities else []
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    answer = FoldingTable(result.headers(), tuple(result.rows()))
    return [fitted(result.headline()), fitted(heading), fitted(answer), *notes, *sampled, *broken_rules(what, broken)]


def fitted(shown: ConsoleRenderable | str, *more: str) -> Constrain:
    """Return a table, or a text of one line or several, that folds no later than at `WIDEST` columns, in a pipe too."""
    return Constrain(WrappedText(_shown((shown, *more))) if isinstance(shown, str) else shown, WIDEST)


def audit_tables(result: Audit) -> list[ConsoleRenderable]:
    """Return how many files are accepted, the verdict on each, and why some are not."""
    reasons = [(each.name, reason) for each in result.files for reason in each.reasons]
    rejected = cut_table(("rejected", "because"), reasons) if reasons else []
    terms = [(each.name, other) for each in result.files for other in each.other_terms if not each.reasons]
    others = cut_table((OTHER_TERMS, "it holds only with"), terms) if terms else []
    headers, rows = without_empty(HEADERS, [each.row() for each in result.files])
    verdicts = FoldingTable(headers, tuple(map(tuple, rows)), has_numbers=False)
    return [fitted(result.headline()), verdicts, *others, *rejected]


def front_warnings(entries: Iterable[FrontEntry[Any, Any]]) -> list[ConsoleRenderable]:
    """Return how evolutions ended, and what is wrong with the methods that have no schedules or invalid ones."""
    found: list[ConsoleRenderable] = []
    broken: list[tuple[str, str, str]] = []
    for entry in entries:
        if entry.generations is not None:
            ended = {"generations": "stopped at the generation limit", "time": "stopped at the time limit"}
            why = ended.get(entry.ended or "", entry.ended or "")
            found.append(line(f"{entry.name}: {why} after {counted(entry.generations, 'generation')}"))
        if entry.refused > 1:
            found.append(line(f"{entry.name}: {entry.refused:,} of its schedules break a rule; the first:"))
        broken += [(entry.name, each.code, each.sentence) for each in entry.violations]
    return [*found, *broken_rules("scheduler", broken)]
