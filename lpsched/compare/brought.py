"""Schedules that others wrote into files, or into a folder of files, checked as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.compare.schedulers import Ran
from lpsched.errors import Fault, InstanceError
from lpsched.files.documents import SUFFIXES as DOCUMENTS
from lpsched.files.schedules import read_schedule
from lpsched.files.task_rows import SUFFIXES as ROWS
from lpsched.files.task_rows import read_rows
from lpsched.verify.bag import Examined, Violation, examine
from lpsched.verify.tasks import gather

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lpsched.instance import Bag

ENDINGS: Final = (*ROWS, *DOCUMENTS)  # of schedule files


def is_path(method: str, path: Path, names: Sequence[str]) -> bool:
    """Tell a file or folder from the name of a heuristic: it has an ending of schedules, or is there."""
    return method not in names and (path.suffix.lower() in ENDINGS or path.exists())


def files_at(path: Path) -> list[Path]:
    """Return a file, or all schedule files in a folder, by name.

    Raises
    ------
    InstanceError
        If there is none in the folder.
    """
    if not path.is_dir():
        return [path]
    files = sorted(each for each in path.iterdir() if each.suffix.lower() in ENDINGS)
    if not files:
        needed = f"files that end in {', '.join(ENDINGS)}"
        raise InstanceError(str(path), (Fault((), "a folder without schedules", needed, "add some"),))
    return files


def read_and_checked(bag: Bag, path: Path, *, may_wait: bool = False) -> Ran:
    """Return the schedule in a file, checked; one that cannot be read breaks the first rule of all."""
    try:
        if path.suffix.lower() not in ROWS:
            schedule = read_schedule(path)
            return Ran(examine(bag, schedule, may_wait=may_wait), None, schedule)
        gathered = gather(bag, read_rows(path))
    except InstanceError as error:
        return Ran(Examined(unreadable(error), None), None)
    if gathered.violations:
        return Ran(Examined(gathered.violations, None), None)
    return Ran(examine(bag, gathered.schedule, may_wait=may_wait), None, gathered.schedule)


def unreadable(error: InstanceError) -> tuple[Violation, ...]:
    """Return the faults of a file as rules that it breaks."""
    return tuple(Violation("unreadable", str(fault)) for fault in error.faults)
