"""The lines of a study: one JSON object for each run; how they are kept safe is in `added_lines.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.files.added_lines import AddedLines, LineKind, read_lines
from lpsched.result.study_run import FORMAT, StudyRun, run_from

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING: Final = ".runs.jsonl"
RUNS: Final = LineKind("run", "lines of a study", "lpsched study run", (FORMAT,))


def lines_of(study: Path | str) -> Path:
    """Return where the lines of a study file go, if nobody says: beside it.

    >>> lines_of("studies/sweep.yaml").as_posix()
    'studies/sweep.runs.jsonl'
    """
    path = Path(study)
    return path.with_name(path.stem + ENDING)


def read_runs(path: Path | str) -> Iterator[StudyRun]:
    """Yield the runs of a file, one after another; of two lines for one run, both.

    A last line that was cut is left out.

    Raises
    ------
    InstanceError
        If it cannot be read, or a line is no run.
    """
    return read_lines(Path(path), RUNS, run_from)


class RunLines(AddedLines):
    """The file of a study that is open for more runs; a context manager.

    Raises
    ------
    OutputError
        If the file is there and is not to be gone on with, another process adds to it, or it cannot be
        written.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        super().__init__(path, RUNS, resume=resume)

    def add(self, run: StudyRun) -> None:
        """Write a run; it is on the disk when this returns.

        Raises
        ------
        OutputError
            If the disk is full or gone; what was written before stays.
        """
        self.add_line(run.to_dict())
