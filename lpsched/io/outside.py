"""Schedules that others wrote: their files, and why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError, LpschedError
from lpsched.io.documents import SUFFIXES as DOCUMENTS
from lpsched.io.rows import SUFFIXES as ROWS
from lpsched.model.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FAILED: Final = "failed"
NOT_RUN: Final = "not-run"
LONGEST: Final = 500  # letters of a reason


ENDINGS: Final = (*ROWS, *DOCUMENTS)  # of schedule files


def is_path(method: str, path: Path, names: Sequence[str]) -> bool:
    """Tell a file or folder from the name of a heuristic: it has an ending of schedules, or is there."""
    return method not in names and (path.suffix.lower() in ENDINGS or path.exists())


def files_at(path: Path) -> list[Path]:
    """Return a file, or all schedule files in a folder, by name."""
    if not path.is_dir():
        return [path]
    files = sorted(each for each in path.iterdir() if each.suffix.lower() in ENDINGS)
    if not files:
        needed = f"files that end in {', '.join(ENDINGS)}"
        raise InstanceError(str(path), (Fault((), "a folder without schedules", needed, "add some"),))
    return files


def unreadable(error: InstanceError) -> tuple[Violation, ...]:
    """Return the faults of a file as rules that it breaks."""
    return tuple(Violation("unreadable", str(fault)) for fault in error.faults)


def reason(error: Exception) -> str:
    """Return why there is no schedule: in our own words, or in the stranger's."""
    if isinstance(error, InstanceError):  # one of ours cannot do this bag
        return "; ".join(map(str, error.faults))
    return str(error) if isinstance(error, LpschedError) else f"{type(error).__name__}: {error}"


def plain_words(sentence: str) -> str:
    r"""Return strangers' words, cut and made plain: what would steer the terminal is shown as its code.

    >>> print(plain_words("no\ttabs"))
    no\ttabs
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in sentence[:LONGEST])
