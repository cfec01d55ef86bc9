"""Reading a file's bytes or text with bounded size, and the error for one that cannot be read."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from pathlib import Path

MOST_TEXT_BYTES: Final = 64 * 2**20  # of a table in text; as Python lists it takes some twenty times that


def one_fault(path: Path, found: str, needed: str, do: str, line: int | None = None) -> InstanceError:
    """Return the error for a file that cannot be read at all."""
    return InstanceError(str(path), (Fault((), found, needed, do, line=line),))


def read_bytes(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes.

    Raises
    ------
    InstanceError
        If there is no such file, it is something else, or it is too large.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a device or pipe"
            raise one_fault(path, kind, "a file", "name a file")
        if status.st_size > most:
            do = "put its tables into .npz files beside it"
            raise one_fault(path, f"{status.st_size:,} bytes", f"at most {most:,} bytes", do)
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:  # a name with a NUL character is a ValueError
        if isinstance(error, InstanceError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise one_fault(path, f"no file to read ({reason})", "a file", "check its name and rights") from error
    if len(content) > most:
        raise one_fault(path, "a file that grows", f"at most {most:,} bytes", "wait until it is complete")
    return content


def read_text(path: Path, most: int) -> str:
    """Return the text of a UTF-8 file that is not empty.

    Raises
    ------
    InstanceError
        If the file cannot be read, is empty, or is not UTF-8 text.
    """
    return as_text(path, read_bytes(path, most))


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
        raise one_fault(
            path, "a NUL character, as in binary data", "a text file", "check which file this is", line
        )
    if not text.strip():
        raise one_fault(path, "an empty file", "a file with content", "see 'lpsched new bag'")
    return text
