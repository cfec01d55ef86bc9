"""Schedules that others wrote into files, or into a folder of files, checked as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.compare.outside import unreadable
from lpsched.compare.schedulers import Ran
from lpsched.errors import InstanceError
from lpsched.files.schedules import read_schedule
from lpsched.files.task_rows import SUFFIXES as ROWS
from lpsched.files.task_rows import read_rows
from lpsched.verify.bag import Examined, examine
from lpsched.verify.tasks import gather

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.instance import Bag


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
