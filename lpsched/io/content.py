"""The bytes of files: read with limits, written whole or not at all; files of lines that grow."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import itertools
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, TypeAlias, TypeVar

from lpsched.errors import InputIssue, InstanceError, OutputError
from lpsched.io import limits
from lpsched.model.fields import describe
from lpsched.text import harmless_cell, json_value

try:
    import fcntl
except ImportError:  # no such locks on Windows: there two processes may disturb each other
    fcntl = None  # type: ignore[assignment]


# Reading a file's bytes or text with bounded size, and the error for one that cannot be read.
CHECK: Final = "check which file this is"


def one_issue(path: Path, found: str, needed: str, do: str, line: int | None = None) -> InstanceError:
    """Return the error for a file that cannot be read at all."""
    return InstanceError(str(path), (InputIssue((), found, needed, do, line=line),))


def read_bytes(path: Path, most: int, *, do: str = "put its tables into .npz files beside it") -> bytes:
    """Return the bytes of a regular file of at most `most` bytes; `do` is what to do with a larger one."""
    with readable(path):
        size = require_file(path)
        if size > most:
            raise one_issue(path, f"{size:,} bytes", f"at most {most:,} bytes", do)
        with path.open("rb") as file:
            content = file.read(most + 1)
    if len(content) > most:
        raise one_issue(path, "a file that grows", f"at most {most:,} bytes", "wait until it is complete")
    return content


def require_file(path: Path) -> int:
    """Return the size of a regular file in bytes; raise an error for anything else, and for what the command writes."""
    status = path.stat()
    if (files := _FILES.get()) is not None:
        if identity(path) in files.written:
            raise one_issue(path, "a file that the same command writes", "one that it only reads", OTHER_NAME)
        files.read.add(identity(path))
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a device or pipe"
        raise one_issue(path, kind, "a file", "name a file")
    return status.st_size


# Files of one command: none may be both read and written, under whatever names, also of a sidecar that a file names.
OTHER_NAME: Final = "choose another name for the output"


@dataclass(frozen=True, slots=True)
class _Files:
    written: frozenset[object]
    read: set[object]


_FILES: Final[ContextVar[_Files | None]] = ContextVar("_FILES", default=None)


def identity(path: Path) -> object:
    """Return a value that is the same for all names of a file: other spellings, links and hard links."""
    try:
        status = path.stat()
    except OSError:  # it does not exist yet
        return path.resolve()
    return status.st_dev, status.st_ino


@contextlib.contextmanager
def files_apart(outputs: Iterable[Path]) -> Iterator[None]:
    """Within the block, reading one of these files is an error, and so is writing one that was read."""
    before = _FILES.set(_Files(frozenset(map(identity, outputs)), set()))
    try:
        yield
    finally:
        _FILES.reset(before)


@contextlib.contextmanager
def readable(path: Path, needed: str = "a file", do: str = "") -> Iterator[None]:
    """Raise errors of reading a file as `InstanceError`."""
    try:
        yield
    except (OSError, ValueError) as error:  # a name with a NUL character is a ValueError
        if isinstance(error, InstanceError):
            raise
        if isinstance(error, FileNotFoundError):
            raise one_issue(path, "no file of this name (not found)", needed, do or "check the name") from error
        reason = getattr(error, "strerror", None) or str(error)
        raise one_issue(path, f"no file to read ({reason})", needed, do or "check its name and rights") from error


def as_text(path: Path, content: bytes, before: int = 0, *, is_part: bool = False) -> str:
    """Decode the UTF-8 content of a file; raise an error if it is no text or, unless it is a part, empty.

    `before` is how many lines come before a part.
    """
    try:
        text = content.decode("utf-8" if before else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = before + content.count(b"\n", 0, error.start) + 1
        raise one_issue(path, "bytes that are not UTF-8 text", "a text file", CHECK, line) from None
    if "\0" in text:
        line = before + text.count("\n", 0, text.index("\0")) + 1
        raise one_issue(path, "a NUL character, as in binary data", "a text file", CHECK, line)
    if not is_part and not text.strip():
        raise one_issue(path, "an empty file", "a file with content", "see 'lpsched new bag'")
    return text


def require_few_values(
    path: Path, content: bytes, before: tuple[int, int] = (0, 0), *, times: int = 1, line: int | None = None
) -> tuple[int, int]:
    """Raise an error for JSON of more values than can be held, by its commas and brackets, before any is built.

    Return how many there are of both, with those `before`; files of lines may have `times` as many.
    """
    values = before[0] + content.count(b",")
    brackets = before[1] + content.count(b"[") + content.count(b"{")
    for found, most, word in (
        (values, times * limits.MOST_JSON_VALUES, "values"),
        (brackets, times * limits.MOST_JSON_BRACKETS, "lists and mappings"),
    ):
        if found > most:
            raise one_issue(path, f"{found:,} {word}", f"at most {most:,}", "divide the file", line)
    return values, brackets


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing piece by piece; it appears under its name when all is written, or never."""
    temporary = path.resolve().parent / f".lpsched-{secrets.token_hex(8)}"
    try:
        require_place(path)
        with temporary.open("xb") as file:
            yield file
        _take_rights(temporary, path)
        temporary.replace(path.resolve())
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_files(contents: Mapping[Path, bytes], *, replace: bool = True) -> None:
    """Write files: each is complete beside its place before any is moved there.

    If one cannot be written, none is. The last one is moved last, so let it be the one that names the others.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        for path, content in contents.items():
            require_place(path, replace=replace)
            target = path.resolve()  # through a link, so that the link stays one
            temporary = target.parent / f".lpsched-{secrets.token_hex(8)}"
            waiting.append((temporary, target))
            with temporary.open("xb") as file:
                file.write(content)
            _take_rights(temporary, target)
        for temporary, target in waiting:
            temporary.replace(target)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        for temporary, _ in waiting:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _take_rights(temporary: Path, path: Path) -> None:
    """Give a file the rights of the one that it will replace."""
    if path.exists():
        temporary.chmod(stat.S_IMODE(path.stat().st_mode))


def require_place(path: Path, *, replace: bool = True) -> None:
    """Raise an error if a file cannot be written, before long work rather than after it."""
    try:
        _check_place(path, replace=replace)
    except RuntimeError as error:  # what pathlib raises for links in a circle
        raise cannot_write(path, OSError(errno.ELOOP, os.strerror(errno.ELOOP))) from error
    except OSError as error:  # a folder above it that may not be searched
        raise cannot_write(path, error) from error


def _check_place(path: Path, *, replace: bool) -> None:
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "a device or pipe"
        raise OutputError(f"cannot write {path}: it is {kind}; name a file")
    if (files := _FILES.get()) is not None and identity(path) in files.read:
        raise OutputError(f"cannot write {path}: it is what is read; choose another name")
    if not replace and path.exists():
        raise OutputError(f"cannot write {path}: it exists; remove it, or choose another name")
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"cannot write {path}: it is read-only; choose another name")
    folder = path.resolve().parent
    reason = errno.ENOTDIR if folder.exists() else errno.ENOENT
    if folder.is_dir():
        reason = 0 if os.access(folder, os.W_OK) else errno.EACCES
    if reason == errno.ENOENT:
        raise OutputError(f"cannot write {path}: there is no folder {folder}; create it, or choose another")
    if reason:
        raise cannot_write(path, OSError(reason, os.strerror(reason)))


def cannot_write(path: Path, error: OSError, do: str = "choose a folder that you may write to") -> OutputError:
    """Return the error for a file that the system does not let us write; one of ours as it is."""
    if isinstance(error, OutputError):
        return error
    return OutputError(f"cannot write {path}: {error.strerror or error}; {do}")


def csv_bytes(header: Iterable[str], rows: Iterable[Iterable[Any]], *, for_people: bool = False) -> bytes:
    """Return rows as CSV; see `write_csv`."""
    out = io.BytesIO()
    write_csv(header, rows, out, for_people=for_people)
    return out.getvalue()


def write_csv(
    header: Iterable[str],
    rows: Iterable[Iterable[Any]],
    file: BinaryIO,
    *,
    for_people: bool = False,
    line_end: str = "\n",
) -> None:
    """Write rows as CSV: a double with all its digits, `None` as an empty cell.

    In a table `for_people`, which no program of ours reads, texts are printable and no formulas; else they keep every
    byte, so that names are the same when they are read again.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    writer = csv.writer(text, lineterminator=line_end)
    for row in itertools.chain([header], rows):
        writer.writerow(map(harmless_cell, row) if for_people else row)
    text.flush()
    text.detach()


# Files of lines that grow: one JSON object each, added at once and read again.
#
# A line is on the disk before the next one is written (`fsync`). A process killed while writing leaves a last
# line that is cut: it is noticed when the file is opened again, cut away, and its run made again. Two
# processes cannot add to one file: the first holds a lock on it, which goes when it ends, however it ends.
LineContent: TypeAlias = "dict[str, Any]"

Made = TypeVar("Made")
BLOCK: Final = 2**20
CHECK_LINE: Final = f"{CHECK}, or drop the line"
MAKE_ROOM: Final = "make room, or choose another place"


@dataclass(frozen=True, slots=True)
class LineKind:
    """What the lines of a file are, for messages.

    >>> RUNS = LineKind("run", "lines of a study", "lpsched study run", ("lpsched-run/1",))
    """

    word: str
    whole: str
    command: str  # the one that writes them
    formats: tuple[str, ...]


def read_lines(path: Path, kind: LineKind, make: Callable[[LineContent], Made]) -> Iterator[Made]:
    """Yield the content of each line of a file; a truncated last line is left out."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(readable(path, kind.whole, f"see '{kind.command}'"))
        size = require_file(path)
        if size > limits.MOST_LINES_BYTES:
            raise one_issue(path, f"{size:,} bytes", f"at most {limits.MOST_LINES_BYTES:,} bytes", "divide the file")
        file = stack.enter_context(path.open("rb"))
        counts = 0, 0
        for number in itertools.count(1):
            line = file.readline(limits.LONGEST_JSON_LINE + 1)
            if len(line) > limits.LONGEST_JSON_LINE:
                raise one_issue(
                    path, "a line without end", f"at most {limits.LONGEST_JSON_LINE:,} bytes", CHECK, number
                )
            if not line.endswith(b"\n"):
                return
            counts = require_few_values(path, line, counts, times=limits.TIMES_IN_LINES, line=number)
            content = _content(path, number, line, kind)
            try:
                made = make(content)
            except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
                found = f"a {kind.word} without {error}"
                raise one_issue(path, found, f"all keys of a {kind.word}", CHECK_LINE, number) from None
            yield made


def _content(path: Path, number: int, line: bytes, kind: LineKind) -> LineContent:
    try:
        content = json_value(line)
    except (ValueError, RecursionError):
        raise one_issue(path, "a line that is no JSON", f"one {kind.word} as JSON", CHECK_LINE, number) from None
    if not isinstance(content, dict) or content.get("format") not in kind.formats:
        found = describe(content.get("format") if isinstance(content, dict) else content)
        needed = " or ".join(f"'{each}'" for each in kind.formats)
        raise InstanceError(str(path), (InputIssue(("format",), found, needed, CHECK_LINE, line=number),))
    return content


def _line(content: Mapping[str, Any]) -> bytes:
    line = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return f"{line}\n".encode()
    except UnicodeEncodeError:  # halves of characters, as in names of files that are not text
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode() + b"\n"


class AddedLines:
    """A file of lines that is open for more; a context manager. Unless it resumes, it may `overwrite` lines."""

    def __init__(self, path: Path, kind: LineKind, *, resume: bool, overwrite: bool = False) -> None:
        require_place(path)
        if not (resume or overwrite) and path.exists() and path.stat().st_size:
            raise OutputError(f"{path} exists; choose another name or add --resume or --force")
        self.path, self.kind, self._is_new = path, kind, not path.exists()
        try:
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise cannot_write(path, error, MAKE_ROOM) from error
        try:
            self._lock()
            if not resume:  # what is there may be overwritten
                self._file.truncate(0)
            self.cut = self._cut_last_line()
        except OSError as error:
            self._file.close()
            raise cannot_write(path, error, MAKE_ROOM) from error

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file, which lets go of the lock; a new one without lines is removed."""
        with contextlib.suppress(OSError):
            if self._is_new and not self._file.seek(0, os.SEEK_END):
                self.path.unlink()
        self._file.close()

    def add_line(self, line: Mapping[str, Any]) -> None:
        """Write a line; it is on the disk when this returns."""
        content = memoryview(_line(line))
        before = self._file.tell()
        try:
            while content:
                content = content[self._file.write(content) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):  # or it will be noticed when the file is opened again
                self._file.truncate(before)  # without the part of a line for which there was no room
            raise cannot_write(self.path, error, MAKE_ROOM) from error

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
        """Remove a truncated last line; return whether there was one."""
        size = keep = self._file.seek(0, os.SEEK_END)
        while keep:
            start = max(0, keep - BLOCK)
            self._file.seek(start)
            if (found := self._file.read(keep - start).rfind(b"\n")) >= 0:
                keep = start + found + 1
                break
            keep = start
        if keep < size:
            self._file.truncate(keep)
        self._file.seek(keep)
        return keep < size
