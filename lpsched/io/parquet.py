"""Parquet files with limits: what their pages unpack to is counted before any is unpacked, and text before it is built.

A few bytes of such a file may stand for any number of values: pages are compressed, runs of equal values are counted,
and a text is written once for all rows that have it. What the footer says is a claim. So the headers of all pages that
will be read are read first, since a page never unpacks to more than its header says; rows are read in batches and
counted; and texts are read as places in a list of different ones, whose lengths are added up first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from lpsched.errors import InstanceError, MissingExtraError, quote, raise_signal_in
from lpsched.io import limits
from lpsched.io.content import one_issue, readable, require_file

ErrorOf = Callable[[str, str, str], InstanceError]
TAIL: Final = 8  # bytes at the end: the length of the footer, and the letters PAR1
AGAIN: Final = "write it again"


def load_arrow(purpose: str) -> tuple[Any, Any]:
    """Return PyArrow and its Parquet module."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise_signal_in(error)
        raise MissingExtraError(purpose, "parquet") from error
    return pa, pq


def parquet_bytes(table: Any) -> bytes:  # noqa: ANN401 - PyArrow has no types
    """Return a table of PyArrow as Parquet."""
    pa, pq = load_arrow("writing Parquet")
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    content: bytes = out.getvalue().to_pybytes()
    return content


@contextmanager
def opened_parquet(path: Path, error_of: ErrorOf | None = None) -> Iterator[ParquetRows]:
    """Open a file; errors about it are made by `error_of`."""
    error_of = error_of or partial(one_issue, path)
    pa, _ = load_arrow(f"reading {path.name}")
    with readable(path):
        size = require_file(path)
    if size > limits.MOST_ARCHIVE_BYTES:
        raise error_of(f"{size:,} bytes", f"at most {limits.MOST_ARCHIVE_BYTES:,} bytes", "take a part of it")
    try:
        with path.open("rb") as file:
            yield ParquetRows(path, file, size, error_of)
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, InstanceError | MemoryError):
            raise
        reason = quote(str(error).partition("\n")[0])
        raise error_of(f"a broken file ({reason})", "a Parquet file", AGAIN) from None


class ParquetRows:
    """The rows of one file: numbers, texts, moments and truth values; columns of anything else have no cells."""

    def __init__(self, path: Path, file: BinaryIO, size: int, error_of: ErrorOf) -> None:
        self._pa, self._pq = load_arrow(f"reading {path.name}")
        self._file, self._error = file, error_of
        self._pages = self._letters = 0  # so far
        file.seek(max(0, size - TAIL))
        footer = int.from_bytes(file.read(4), "little")
        if footer > limits.MOST_FOOTER_BYTES and file.read() == b"PAR1":
            raise error_of(
                f"a footer of {footer:,} bytes", f"at most {limits.MOST_FOOTER_BYTES:,}", "drop other columns"
            )
        file.seek(0)
        self._metadata = self._pq.read_metadata(file)
        schema = self._pq.ParquetFile(file, metadata=self._metadata).schema_arrow
        self._groups = [self._metadata.row_group(group) for group in range(self._metadata.num_row_groups)]
        self.names: list[str] = list(schema.names)
        self._types = list(schema.types)  # a new list each time it is asked for
        self.rows = sum(group.num_rows for group in self._groups)
        if self.rows != self._metadata.num_rows or any(group.num_rows < 0 for group in self._groups):
            raise error_of("a footer that contradicts itself", "a Parquet file", AGAIN)
        if self._metadata.num_columns != len(self.names):
            nested = [name for name, kind in zip(self.names, self._types, strict=True) if kind.num_fields]
            raise error_of(f"lists or groups in {', '.join(map(quote, nested[:3]))}", "plain cells", "drop the column")

    def is_text(self, place: int) -> bool:
        """Return whether a column holds texts."""
        types, kind = self._pa.types, self._types[place]
        kind = kind.value_type if types.is_dictionary(kind) else kind
        return bool(types.is_string(kind) or types.is_large_string(kind))

    def is_number(self, place: int) -> bool:
        """Return whether a column holds numbers, or nothing."""
        types, kind = self._pa.types, self._types[place]
        return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_null(kind))

    def is_plain(self, place: int) -> bool:
        """Return whether the cells of a column can be read."""
        types, kind = self._pa.types, self._types[place]
        others = (types.is_boolean, types.is_timestamp, types.is_date, types.is_decimal128)
        return self.is_text(place) or self.is_number(place) or any(is_kind(kind) for is_kind in others)

    def kind(self, place: int) -> str:
        """Return the type of a column in words."""
        return str(self._types[place])

    def batches(self, places: Sequence[int], *, size: int = limits.PIECE) -> Iterator[list[list[Any]]]:
        """Yield the cells of these columns as lists, at most `size` rows at a time, and fewer where texts are long."""
        for batch in self._arrow(places, size):
            columns = batch.columns
            for start, length in self._parts(columns, batch.num_rows):
                yield [self._cells(column.slice(start, length)) for column in columns]

    def table(self, places: Sequence[int]) -> list[Any]:
        """Return whole columns of numbers as doubles; what is absent is NaN."""
        batches = list(self._arrow(places, max(1, self.rows)))
        doubles = self._pa.float64()
        return [
            self._pa.chunked_array([batch.column(n) for batch in batches]).cast(doubles, safe=False).to_numpy()
            for n in range(len(places))
        ]

    def _arrow(self, places: Sequence[int], size: int) -> Iterator[Any]:
        """Yield record batches of some columns in their order, of pages that were looked at; the rows are counted."""
        if list(places) != sorted(places):
            raise ValueError("columns in another order than in the file")
        self._require_small(places)
        texts = [self.names[place] for place in places if self.is_text(place)]
        self._file.seek(0)
        parquet = self._pq.ParquetFile(self._file, metadata=self._metadata, read_dictionary=texts, pre_buffer=False)
        groups, read = range(len(self._groups)), 0
        for batch in parquet.reader.iter_batches(size, groups, column_indices=list(places), use_threads=False):
            read += batch.num_rows
            yield batch
        if read != self.rows and places:
            raise self._error(f"{read:,} rows", f"{self.rows:,}, as its footer says", AGAIN)

    def _cells(self, column: Any) -> list[Any]:  # noqa: ANN401 - an array of PyArrow
        if not self._pa.types.is_dictionary(column.type):
            return list(column.to_pylist())
        if len(column.dictionary) > len(column):
            return list(column.dictionary_decode().to_pylist())
        texts = [*column.dictionary.to_pylist(), None]  # each is made once, for all its rows
        return list(map(texts.__getitem__, column.indices.fill_null(-1).to_numpy().tolist()))

    def _parts(self, columns: Sequence[Any], rows: int) -> Iterator[tuple[int, int]]:
        """Yield begin and length of parts of a batch, each with few bytes of text; a long one may be in all rows."""
        import pyarrow.compute as pc  # noqa: PLC0415 - as PyArrow

        lengths = np.zeros(rows, np.int64)
        for column in columns:
            if self._pa.types.is_dictionary(column.type) and column.dictionary.nbytes * rows > limits.PIECE_BYTES:
                letters = pc.binary_length(column.dictionary).take(column.indices)
                lengths += letters.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        longest, total = int(lengths.max(initial=0)), int(lengths.sum())
        self._letters += total
        if longest > limits.LONGEST_LINE or self._letters > limits.MOST_ROWS_BYTES:
            found, most = (
                (longest, limits.LONGEST_LINE)
                if longest > limits.LONGEST_LINE
                else (self._letters, limits.MOST_ROWS_BYTES)
            )
            raise self._error(f"{found:,} bytes of text", f"at most {most:,}", "write shorter texts")
        number = (
            (np.cumsum(lengths) - lengths) // limits.PIECE_BYTES
            if total > limits.PIECE_BYTES
            else np.zeros(rows, np.int64)
        )
        starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist()]
        yield from ((start, end - start) for start, end in zip(starts, [*starts[1:], rows], strict=True) if end > start)

    def _require_small(self, places: Sequence[int]) -> None:
        """Raise an error if the pages of these columns unpack to too much."""
        left = limits.MOST_ARCHIVE_BYTES
        for group, place in product((group for group in self._groups if group.num_rows), places):
            left -= self._unpacked(group.column(place))
            if left < 0:
                found = f"more than {limits.MOST_ARCHIVE_BYTES:,} bytes unpacked"
                raise self._error(found, "fewer", "drop other columns, or take a part of it")

    def _unpacked(self, chunk: Any) -> int:  # noqa: ANN401 - metadata of PyArrow
        """Return what the pages of a column in a row group unpack to, by their headers."""
        starts = [chunk.data_page_offset]
        if chunk.has_dictionary_page and chunk.dictionary_page_offset:
            starts.append(chunk.dictionary_page_offset)
        at, end = min(starts), min(starts) + chunk.total_compressed_size
        unpacked = 0
        while at < end:
            header = self._header(at)
            self._pages += 1
            if self._pages > limits.MOST_PAGES:
                raise self._error(f"more than {limits.MOST_PAGES:,} pages", "fewer", AGAIN)
            if header.unpacked > limits.MOST_PAGE_BYTES:
                raise self._error(f"a page of {header.unpacked:,} bytes", f"at most {limits.MOST_PAGE_BYTES:,}", AGAIN)
            if header.encoding == DELTA_BYTE_ARRAY:
                raise self._error("texts as differences (DELTA_BYTE_ARRAY)", "plain texts", AGAIN)
            unpacked += header.unpacked
            at += header.length + header.packed
        return unpacked

    def _header(self, at: int) -> PageHeader:
        for length in (USUAL_HEADER, LONGEST_HEADER):
            self._file.seek(at)
            with suppress(IndexError):
                return PageHeader(self._file.read(length))
        raise ValueError("the header of a page has no end")


# The header of a page, in Thrift's compact protocol: 1 type, 2 bytes unpacked, 3 bytes packed, 5 and 8 the headers of
# data pages of either version, in which 2 and 4 are the encoding.
# Source: parquet.thrift of Apache Parquet; "Thrift Compact protocol encoding".
USUAL_HEADER: Final = 2**8
LONGEST_HEADER: Final = 2**16  # bytes; statistics of long texts are in it
DELTA_BYTE_ARRAY: Final = 7
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_NUMBERS: Final = (4, 5, 6)
DEEPEST: Final = 4
MORE: Final = 128


class PageHeader:
    """What a header says: bytes of the page, unpacked and packed, its encoding, and the length of the header."""

    def __init__(self, content: bytes) -> None:
        self._content, self.length = content, 0
        self.unpacked, self.packed, self.encoding = -1, -1, -1
        self._struct(())
        if self.unpacked < 0 or self.packed < 0:
            raise ValueError("a page without a size")

    def _struct(self, path: tuple[int, ...]) -> None:
        if len(path) > DEEPEST:
            raise ValueError("the header of a page is nested")
        field = 0
        while byte := self._byte():
            field = field + (byte >> 4) if byte >> 4 else self._number()
            self._value(byte & 15, (*path, field))

    def _value(self, kind: int, path: tuple[int, ...]) -> None:
        if kind in _NUMBERS:
            number = self._number()
            match path:
                case (2,):
                    self.unpacked = number
                case (3,):
                    self.packed = number
                case (5, 2) | (8, 4):
                    self.encoding = number
        elif kind == _STRUCT:
            self._struct(path)
        elif kind in {_LIST, _SET}:
            raise ValueError("a list in the header of a page")
        elif kind not in {_TRUE, _FALSE}:
            skipped = {_BYTE: 1, _DOUBLE: 8}[kind] if kind != _BINARY else self._varint()
            self.length += skipped

    def _byte(self) -> int:
        byte = self._content[self.length]
        self.length += 1
        return byte

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & MORE:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _number(self) -> int:
        coded = self._varint()
        return (coded >> 1) ^ -(coded & 1)
