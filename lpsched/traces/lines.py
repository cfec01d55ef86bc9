"""Long text files, plain or gzip, as blocks of whole lines: memory stays bounded, whatever the file is."""

from __future__ import annotations

import gzip
import stat
import zlib
from typing import TYPE_CHECKING, BinaryIO, Final

from lpsched.errors import InstanceError
from lpsched.io.content import one_fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK_BYTES: Final = 2**20
GZIP: Final = b"\x1f\x8b"


def line_blocks(path: Path, *, most_bytes: int, do: str) -> Iterator[bytes]:
    """Yield a file as blocks that end where lines do; a gzip file is unpacked on the way.

    Parameters
    ----------
    most_bytes
        Of text, unpacked: more is refused, after as many have been yielded.
    do
        The advice to whoever brings more.
    """
    try:
        _require_file(path)
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield from _blocks(unpacked, path, most_bytes, do)
            else:
                yield from _blocks(file, path, most_bytes, do)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise one_fault(path, f"broken gzip ({error})", "a whole file", "fetch it again") from error
    except (OSError, ValueError) as error:  # a name with a NUL character is a ValueError
        if isinstance(error, InstanceError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise one_fault(path, f"no file to read ({reason})", "a file", "check its name and rights") from error


def _require_file(path: Path) -> None:
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "a device or pipe"
        raise one_fault(path, kind, "a file", "name a file")


def _blocks(file: BinaryIO | gzip.GzipFile, path: Path, most: int, do: str) -> Iterator[bytes]:
    rest, read = b"", 0
    while piece := file.read(BLOCK_BYTES):
        read += len(piece)
        if read > most:
            raise one_fault(path, f"more than {most:,} bytes of text", "fewer", do)
        whole, newline, left = piece.rpartition(b"\n")
        if newline:
            yield rest + whole + newline
            rest = left
        elif len(rest) + len(piece) > 2 * BLOCK_BYTES:
            found = f"a line of more than {BLOCK_BYTES:,} bytes"
            raise one_fault(path, found, "lines of text", "check what kind of file it is")
        else:
            rest += piece
    if rest:
        yield rest + b"\n"
