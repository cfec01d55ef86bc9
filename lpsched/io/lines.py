"""Files of lines that grow: one JSON object each, added at once and read again.

A line is on the disk before the next one is told (`fsync`). Whoever is killed while writing leaves a last
line that is cut: it is noticed when the file is opened again, cut away, and what it told made again. Two
processes cannot add to one file: the first holds a lock on it, which goes when it ends, however it ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar

from lpsched.errors import Fault, InstanceError, OutputError
from lpsched.io.content import one_fault, readable, require_place
from lpsched.model.fields import describe

try:
    import fcntl
except ImportError:  # no such locks on Windows: there two processes may disturb each other
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO


Told: TypeAlias = "dict[str, Any]"

Made = TypeVar("Made")
LONGEST_LINE: Final = 64 * 2**20  # bytes
BLOCK: Final = 2**20
DO: Final = "check which file this is, or drop the line"


@dataclass(frozen=True, slots=True)
class LineKind:
    """What the lines of a file are, for messages.

    >>> RUNS = LineKind("run", "lines of a study", "lpsched study run", ("lpsched-run/1",))
    """

    word: str
    whole: str
    command: str  # the one that writes them
    formats: tuple[str, ...]


def read_lines(path: Path, kind: LineKind, make: Callable[[Told], Made]) -> Iterator[Made]:
    """Yield what the lines of a file tell, one after another; a last line that was cut is left out."""
    with readable(path, kind.whole, f"see '{kind.command}'"), path.open("rb") as file:
        for number, line in _whole_lines(path, file):
            told = _told(path, number, line, kind)
            try:
                made = make(told)
            except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
                found = f"a {kind.word} without {error}"
                raise one_fault(path, found, f"all keys of a {kind.word}", DO, number) from None
            yield made


def _whole_lines(path: Path, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that have an end, with their numbers."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            found, needed = "a line without end", f"at most {LONGEST_LINE:,} bytes"
            raise one_fault(path, found, needed, "check which file this is", number)
        if line.endswith(b"\n"):
            yield number, line


def _told(path: Path, number: int, line: bytes, kind: LineKind) -> Told:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise one_fault(path, "a line that is no JSON", f"one {kind.word} as JSON", DO, number) from None
    if not isinstance(told, dict) or told.get("format") not in kind.formats:
        found = describe(told.get("format") if isinstance(told, dict) else told)
        needed = " or ".join(f"'{each}'" for each in kind.formats)
        raise InstanceError(str(path), (Fault(("format",), found, needed, DO, line=number),))
    return told


def _line(told: Mapping[str, Any]) -> bytes:
    line = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return f"{line}\n".encode()
    except UnicodeEncodeError:  # halves of characters, as in names of files that are not text
        return json.dumps(told, allow_nan=False, separators=(",", ":")).encode() + b"\n"


class AddedLines:
    """A file of lines that is open for more; a context manager."""

    def __init__(self, path: Path, kind: LineKind, *, resume: bool) -> None:
        require_place(path)
        if not resume and path.exists() and path.stat().st_size:
            do = "go on with it by --resume, or choose another name"
            raise OutputError(f"cannot write {path}: it has lines already; {do}")
        self.path = path
        self.kind = kind
        try:
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise self._refused(error) from error
        try:
            self._lock()
            self.cut = self._cut_last_line()
        except OSError as error:
            self._file.close()
            raise self._refused(error) from error

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file, which lets go of the lock."""
        self._file.close()

    def add_line(self, told: Mapping[str, Any]) -> None:
        """Write a line; it is on the disk when this returns."""
        content = memoryview(_line(told))
        before = self._file.tell()
        try:
            while content:
                content = content[self._file.write(content) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):  # or it will be noticed when the file is opened again
                self._file.truncate(before)  # without the part of a line for which there was no room
            raise self._refused(error) from error

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                other, do = self.kind.command.removeprefix("lpsched "), "wait for it, or choose another name"
                raise OutputError(f"cannot write {self.path}: another {other} adds to it; {do}") from None
            # a file system without locks: better without than not at all

    def _cut_last_line(self) -> bool:
        """Cut away a last line without an end; tell whether there was one."""
        size = self._file.seek(0, os.SEEK_END)
        keep = size
        while keep:
            start = max(0, keep - BLOCK)
            self._file.seek(start)
            found = self._file.read(keep - start).rfind(b"\n")
            if found >= 0:
                keep = start + found + 1
                break
            keep = start
        if keep < size:
            self._file.truncate(keep)
        self._file.seek(keep)
        return keep < size

    def _refused(self, error: OSError) -> OutputError:
        if isinstance(error, OutputError):
            return error
        reason = error.strerror or str(error)
        return OutputError(f"cannot write {self.path}: {reason}; make room, or choose another place")
