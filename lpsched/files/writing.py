"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import TYPE_CHECKING

from lpsched.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


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
            if path.exists() and not path.is_file():
                kind = "a directory" if path.is_dir() else "a device or pipe"
                raise OutputError(f"cannot write {path}: it is {kind}; name a file")
            if not replace and path.exists():
                raise OutputError(f"cannot write {path}: it exists; remove it, or choose another name")
            if path.exists() and not os.access(path, os.W_OK):
                raise OutputError(f"cannot write {path}: it is read-only; choose another name")
            target = path.resolve()  # through a link, so that the link stays one
            waiting.append((_complete(target, content), target))
        for temporary, target in waiting:
            temporary.replace(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        reason = error.strerror or str(error)
        raise OutputError(f"cannot write {path}: {reason}; choose a folder that you may write to") from error
    finally:
        for temporary, _ in waiting:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


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
