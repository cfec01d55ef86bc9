"""The jobs of Slurm's accounting as columns of numbers: a hundred bytes for each, whatever its line holds."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.traces.slurm_cells import Energy

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from lpsched.traces.sacct import SacctLog

JOULES: Final = "joules"


@dataclass(frozen=True, slots=True, eq=False)
class JobRows:
    """The jobs' own lines: where they stand in the log, what they say, and the energy of each and its steps.

    A number that a line does not say is NaN; what no line of the log says is not among the values.
    """

    log: SacctLog
    places: NDArray[np.int64]
    values: Mapping[str, NDArray[np.float64]]
    joules: NDArray[np.float64]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.places)

    def numbers(self, meaning: str, usual: float = np.nan) -> NDArray[np.float64]:
        """Return what all lines say of something; `usual` if the log has no such column."""
        found = self.values.get(meaning)
        return np.full(len(self), usual) if found is None else found

    def cells(self, column: int) -> list[str]:
        """Return the cells of a column; equal ones are one text."""
        known: dict[str, str] = {}
        cells = (self.log.cell(place, column) for place in self.places.tolist())
        return [known.setdefault(cell, cell) for cell in cells]

    def taken(self, which: NDArray[np.bool_]) -> JobRows:
        """Return some of them."""
        values = {meaning: numbers[which] for meaning, numbers in self.values.items()}
        return JobRows(self.log, self.places[which], values, self.joules[which])


def job_rows(log: SacctLog) -> tuple[JobRows, int, int]:
    """Return the jobs, how many lines are of a run that a later line is of too, and how many steps belong to none."""
    column = log.place("JobID")
    assert column is not None, "the reader asks for it"
    made = _Making(log)
    readers = log.readers()
    at, joules_of = readers.get(JOULES, (column, None))
    orphans = 0
    for place in range(len(log.lines)):
        cells = log.cells(place)
        job, dot, step = cells[column].partition(".")
        if not dot:
            made.add(job, place, cells)
        row = made.latest.get(job)
        if row is None:
            orphans += 1
        elif joules_of is not None and (joules := joules_of(cells[at])) is not None:
            made.energies.setdefault(row, Energy()).take(step if dot else None, joules)
    return made.rows(), made.repeated, orphans


class _Making:
    """The rows so far, and the row of each job's last line."""

    def __init__(self, log: SacctLog) -> None:
        self.log, self.readers = log, log.readers()
        self.places = array("q")
        self.values = {meaning: array("d") for meaning in self.readers}
        self.energies: dict[int, Energy] = {}
        self.latest: dict[str, int] = {}
        self.runs: dict[str, dict[Hashable, int]] = {}  # of jobs with several lines: the row of each run
        self.repeated = 0

    def add(self, job: str, place: int, cells: tuple[str, ...]) -> None:
        """Add a job's own line; it replaces an earlier one of the same run."""
        row = len(self.places)
        self.places.append(place)
        for meaning, (at, read) in self.readers.items():
            value = read(cells[at])
            self.values[meaning].append(math.nan if value is None else value)
        if job in self.latest:
            known = self.runs.setdefault(job, {})
            if not known:
                known[self._run(self.latest[job])] = self.latest[job]
            before = known.setdefault(self._run(row), row)
            if before != row:
                self.repeated += 1
                self.places[before] = self.places.pop()
                for numbers in self.values.values():
                    numbers[before] = numbers.pop()
                self.energies.pop(before, None)
                row = before
        self.latest[job] = row

    def _run(self, row: int) -> Hashable:
        """Return what two lines of one run of a job have in common."""
        start = self.values["start"][row] if "start" in self.values else math.nan
        return self.log.cells(self.places[row]) if math.isnan(start) else start

    def rows(self) -> JobRows:
        """Return all of them."""
        joules = np.full(len(self.places), np.nan)
        for row, energy in self.energies.items():
            joules[row] = np.nan if energy.joules is None else energy.joules
        values = {meaning: np.array(numbers) for meaning, numbers in self.values.items()}
        return JobRows(self.log, np.array(self.places, np.int64), values, joules)
