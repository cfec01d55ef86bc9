"""Text of files, plain or gzip, in blocks of whole lines: counted while it is unpacked, and never held whole."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from lpsched.io import limits
from lpsched.io.content import as_text, one_issue, readable, require_file

BLOCK_BYTES: Final = 2**20
GZIP: Final = b"\x1f\x8b"


def chunks_of(path: Path, *, most_bytes: int, do: str, is_part: bool = False) -> Iterator[bytes]:
    """Yield the bytes of a file, gzip or not, piece by piece; raise an error with the hint `do` beyond `most_bytes`.

    A larger file is not read at all, unless a part of it is wanted.
    """
    with readable(path):
        size = require_file(path)
        if size > most_bytes and not is_part:
            raise one_issue(path, f"{size:,} bytes", f"at most {most_bytes:,} bytes", do)
        try:
            with path.open("rb") as plain:
                packed = plain.read(len(GZIP)) == GZIP
                plain.seek(0)
                file: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=plain) if packed else plain
                read = 0
                while chunk := file.read(BLOCK_BYTES):
                    read += len(chunk)
                    if read > most_bytes:
                        raise one_issue(path, f"more than {most_bytes:,} bytes of text", "fewer", do)
                    yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise one_issue(path, f"broken gzip ({error})", "a whole file", "fetch it again") from error


def require_few_lines(path: Path, *, most: int, most_bytes: int, do: str) -> None:
    """Raise an error if a file has too many lines: counting takes a second, reading up to the limit a minute."""
    lines = 0
    for chunk in chunks_of(path, most_bytes=most_bytes, do=do):
        lines += chunk.count(b"\n")
        if lines > most:
            raise one_issue(path, f"more than {most:,} lines", "fewer", do)


def whole_lines(path: Path, chunks: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """Yield chunks of a file as blocks of whole lines; `longest` is not below the size of a chunk."""
    rest: list[bytes] = []
    held = 0
    for chunk in chunks:
        if held + len(chunk.partition(b"\n")[0]) > longest:
            found = f"a line of more than {longest:,} bytes"
            raise one_issue(path, found, "lines of text", "check what kind of file it is")
        whole, newline, left = chunk.rpartition(b"\n")
        if newline:
            yield b"".join((*rest, whole, newline))
            rest, held = [left], len(left)
            continue
        held += len(chunk)
        rest.append(chunk)
    if held:
        yield b"".join((*rest, b"\n"))


def text_blocks(
    path: Path, *, most_bytes: int | None = None, do: str = "split it", longest: int | None = None
) -> Iterator[str]:
    """Yield the text of a file in UTF-8 as blocks of whole lines; raise an error if there is none, or it is no text.

    Limits are those of tables, if no others are given.
    """
    most_bytes = limits.MOST_TEXT_BYTES if most_bytes is None else most_bytes
    longest = limits.LONGEST_LINE if longest is None else longest
    lines, is_empty = 0, True
    for block in whole_lines(path, chunks_of(path, most_bytes=most_bytes, do=do), longest):
        text = as_text(path, block, lines, is_part=True)
        lines += block.count(b"\n")
        is_empty = is_empty and (not text or text.isspace())
        yield text
    if is_empty:
        as_text(path, b"")


class CsvRows:
    """The rows of a CSV in UTF-8, one by one, without empty ones; `line` is where the last one ends."""

    def __init__(
        self, path: Path, *, most_bytes: int | None = None, do: str = "split it", longest: int | None = None
    ) -> None:
        self.path = path
        self.taken = 0  # letters of the blocks so far
        self._blocks = text_blocks(path, most_bytes=most_bytes, do=do, longest=longest)
        texts = (io.StringIO(text, newline="") for text in self._counted())
        self._reader = csv.reader(chain.from_iterable(texts), strict=True)

    @property
    def line(self) -> int:
        """The number of the line that was read last."""
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the rows that are left."""
        with self._errors():
            for row in self._reader:
                if row:
                    yield row

    def pieces(self) -> Iterator[tuple[list[list[str]], Sequence[int]]]:
        """Yield the rows that are left, with the lines on which they end: few at a time, fewer where they are long."""
        with self._errors():
            piece: list[list[str]] = []
            lines: list[int] = []
            most = self.taken + limits.PIECE_BYTES
            for row in self._reader:
                if row:
                    piece.append(row)
                    lines.append(self._reader.line_num)
                if len(piece) == limits.PIECE or self.taken > most:
                    yield piece, lines
                    piece, lines, most = [], [], self.taken + limits.PIECE_BYTES
            if piece:
                yield piece, lines

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except csv.Error as error:
            raise one_issue(self.path, f"broken CSV: {error}", "CSV", "fix the file", self.line) from None

    def _counted(self) -> Iterator[str]:
        for text in self._blocks:
            self.taken += len(text)
            yield text


def whole_text(path: Path) -> str:
    """Return the text of a file, gzip or not."""
    return as_text(path, b"".join(chunks_of(path, most_bytes=limits.MOST_TEXT_BYTES, do="split it")))


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that stand there more than once, sorted.

    >>> repeated(["b", "a", "b"])
    ['b']
    """
    seen: set[str] = set()
    return sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
