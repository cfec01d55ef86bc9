"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from typing import TYPE_CHECKING, BinaryIO

from lpsched.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing piece by piece; it appears under its name when all is written, or never.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    temporary = path.resolve().parent / f".lpsched-{secrets.token_hex(8)}"
    try:
        require_place(path)
        with temporary.open("xb") as file:
            yield file
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path.resolve())
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_files(contents: Mapping[Path, bytes], *, replace: bool = True) -> None:
    """Write files: each is complete beside its place before any is moved there.

    If one cannot be written, none is. The last one is moved last, so let it be the one that names the others.

    Raises
    ------
    OutputError
        If a file cannot be written, or exists and `replace` is false.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        for path, content in contents.items():
            require_place(path, replace=replace)
            target = path.resolve()  # through a link, so that the link stays one
            waiting.append((_complete(target, content), target))
        for temporary, target in waiting:
            temporary.replace(target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        for temporary, _ in waiting:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def require_place(path: Path, *, replace: bool = True) -> None:
    """Refuse a place that cannot be written to; better before long work than after it.

    Raises
    ------
    OutputError
        If it is no place for a file, or exists and `replace` is false.
    """
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


def _complete(path: Path, content: bytes) -> Path:
    """Write the content beside `path` and return where, with the rights of the file that it will replace."""
    temporary = path.parent / f".lpsched-{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
