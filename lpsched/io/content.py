"""The bytes of files: read with limits, written whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import secrets
import stat
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from lpsched.errors import Fault, InstanceError, MissingExtraError, OutputError, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path


# Reading a file's bytes or text with bounded size, and the error for one that cannot be read.
MOST_TEXT_BYTES: Final = 64 * 2**20  # of a table in text; as Python lists it takes some twenty times that


def one_fault(path: Path, found: str, needed: str, do: str, line: int | None = None) -> InstanceError:
    """Return the error for a file that cannot be read at all."""
    return InstanceError(str(path), (Fault((), found, needed, do, line=line),))


def read_bytes(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes."""
    with readable(path):
        size = require_file(path)
        if size > most:
            do = "put its tables into .npz files beside it"
            raise one_fault(path, f"{size:,} bytes", f"at most {most:,} bytes", do)
        with path.open("rb") as file:
            content = file.read(most + 1)
    if len(content) > most:
        raise one_fault(path, "a file that grows", f"at most {most:,} bytes", "wait until it is complete")
    return content


def require_file(path: Path) -> int:
    """Refuse what is no regular file; return its size in bytes."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a device or pipe"
        raise one_fault(path, kind, "a file", "name a file")
    return status.st_size


@contextlib.contextmanager
def readable(path: Path, needed: str = "a file", do: str = "check its name and rights") -> Iterator[None]:
    """Tell it as a fault of a file if it cannot be read."""
    try:
        yield
    except (OSError, ValueError) as error:  # a name with a NUL character is a ValueError
        if isinstance(error, InstanceError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise one_fault(path, f"no file to read ({reason})", needed, do) from error


def as_text(path: Path, content: bytes) -> str:
    """Decode the UTF-8 content of a file, and refuse an empty one or junk."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise one_fault(
            path, "bytes that are not UTF-8 text", "a text file", "check which file this is", line
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise one_fault(path, "a NUL character, as in binary data", "a text file", "check which file this is", line)
    if not text.strip():
        raise one_fault(path, "an empty file", "a file with content", "see 'lpsched new bag'")
    return text


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
        raise _cannot_write(path, error) from error
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
        raise _cannot_write(path, error) from error
    finally:
        for temporary, _ in waiting:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _take_rights(temporary: Path, path: Path) -> None:
    """Give a file the rights of the one that it will replace."""
    if path.exists():
        temporary.chmod(stat.S_IMODE(path.stat().st_mode))


def require_place(path: Path, *, replace: bool = True) -> None:
    """Refuse a place that cannot be written to; better before long work than after it."""
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "a device or pipe"
        raise OutputError(f"cannot write {path}: it is {kind}; name a file")
    if not replace and path.exists():
        raise OutputError(f"cannot write {path}: it exists; remove it, or choose another name")
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"cannot write {path}: it is read-only; choose another name")
    folder = path.resolve().parent
    reason = errno.ENOTDIR if folder.exists() else errno.ENOENT
    if folder.is_dir():
        reason = 0 if os.access(folder, os.W_OK) else errno.EACCES
    if reason:
        raise _cannot_write(path, OSError(reason, os.strerror(reason)))


def _cannot_write(path: Path, error: OSError) -> OutputError:
    if isinstance(error, OutputError):
        return error
    reason = error.strerror or str(error)
    return OutputError(f"cannot write {path}: {reason}; choose a folder that you may write to")


def load_arrow(purpose: str) -> tuple[Any, Any]:
    """Return PyArrow and its Parquet module."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(purpose, "parquet") from error
    return pa, pq


@contextlib.contextmanager
def parquet_is_broken(pa: Any, refusal: Callable[[str, str, str], InstanceError]) -> Iterator[None]:  # noqa: ANN401 - PyArrow
    """Tell what PyArrow finds wrong with a Parquet file as a fault of it, made by `refusal`."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        if isinstance(error, InstanceError):
            raise
        reason = quote(str(error).partition("\n")[0])
        raise refusal(f"a broken file ({reason})", "a Parquet file", "write it again") from None


def parquet_bytes(table: Any) -> bytes:  # noqa: ANN401 - PyArrow has no types
    """Return a table of PyArrow as Parquet."""
    pa, pq = load_arrow("writing Parquet")
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    content: bytes = out.getvalue().to_pybytes()
    return content


def csv_bytes(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """Return rows as CSV: a double is written with all its digits, `None` as an empty cell."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()
