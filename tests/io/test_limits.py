"""Each limit of a reader, at it and just above it; and the memory that files take which unpack to much."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from lpsched.bag.files import read_bag, read_rows
from lpsched.cli import main
from lpsched.errors import InstanceError
from lpsched.io import limits, tables
from lpsched.io import text_files as text_module
from lpsched.io.content import LineKind, read_lines
from lpsched.io.documents import read_document
from lpsched.io.parquet import opened_parquet
from lpsched.io.rows import read_pieces
from lpsched.io.tables import read_matrix_file
from lpsched.io.text_files import CsvRows, whole_lines
from lpsched.model import table
from lpsched.model.fields import Amount
from lpsched.text import DEEPEST_JSON
from lpsched.traces import sacct, swf
from lpsched.traces.etc import read_etc
from lpsched.traces.sacct import read_sacct
from lpsched.traces.slurm_cells import count_nodes
from lpsched.traces.slurm_system import read_system
from lpsched.traces.swf import read_swf

JOB = "1 0 0 1 1 0 0 1 1 0 1 0 0 0 0 0 0 0\n"
SACCT = "JobID|State|Elapsed\n"
SACCT_JSON = '{"jobs": [{"job_id": 1, "state": "COMPLETED", "time": {"elapsed": 1}}]}'
NODES = "a|1||p|idle\nb|1||p|idle\nc|1||p|idle\nd|1||p|idle\n"
ROWS = "task_type,machine_type,machine\n"
LINES = LineKind("line", "lines", "lpsched study run", ("x/1",))


def bag(seconds):
    names = [{"name": "a", "count": 1}, {"name": "b", "count": 1}]
    return {"format": "lpsched-bag/1", "name": "x", "machine_types": names, "task_types": names, "seconds": seconds}


def lines_of(path):
    return list(read_lines(path, LINES, dict))


# What is set, to what, how the file is read, a text at the limit and one just above it, and what is said of that.
CASES = {
    "yaml bytes": ("MOST_YAML_BYTES", 10, "a.yaml", read_document, "a: 123456\n", "a: 1234567\n", "11 bytes"),
    "json bytes": ("MOST_JSON_BYTES", 9, "a.json", read_document, '{"a": 12}', '{"a": 123}', "10 bytes"),
    "json values": ("MOST_JSON_VALUES", 2, "a.json", read_document, "[1,2,3]", "[1,2,3,4]", "3 values"),
    "json brackets": ("MOST_JSON_BRACKETS", 2, "a.json", read_document, "[[]]", "[[],{}]", "3 lists and mappings"),
    "yaml nesting": ("DEEPEST", 12, "a.yaml", read_document, "[" * 12 + "]" * 12, "[" * 13 + "]" * 13, "nested more"),
    "json nesting": (
        "DEEPEST", 12, "a.json", read_document, "[" * 60 + "]" * 60, "[" * 61 + "]" * 61, "nested very deeply",
    ),
    "lines of json": (
        "MOST_JSON_VALUES", 1, "a.jsonl", lines_of, '{"format":"x/1","a":1}\n' * 8, '{"format":"x/1","a":1}\n' * 9,
        "line 9: got 9 values",
    ),
    "file of lines": (
        "MOST_LINES_BYTES", 34, "a.jsonl", lines_of, '{"format":"x/1"}\n' * 2, '{"format":"x/1"}\n{"format": "x/1"}\n', "35 bytes",
    ),
    "line of json": (
        "LONGEST_JSON_LINE", 17, "a.jsonl", lines_of, '{"format":"x/1"}\n', '{"format": "x/1"}\n', "a line without end",
    ),
    "text": ("MOST_TEXT_BYTES", 8, "a.csv", lambda path: list(CsvRows(path)), "a,b\n1,2\n", "a,b\n1,23\n", "9 bytes"),
    "text unpacked": (
        "MOST_TEXT_BYTES", 400, "a.csv.gz", lambda path: list(CsvRows(path)), "a,b\n" * 100, "a,b\n" * 101,
        "more than 400 bytes of text",
    ),
    "rows of a file": (
        "MOST_ROWS_BYTES", 37, "a.csv", lambda path: list(read_rows(path)), ROWS + "a,b,1\n", ROWS + "a,b,12\n",
        "38 bytes",
    ),
    "rows": (
        "MOST_ROWS", 2, "a.csv", lambda path: list(read_rows(path)), ROWS + "a,b,1\n" * 2, ROWS + "a,b,1\n" * 3,
        "more than 2 rows",
    ),
    "swf bytes": ("MOST_SWF_BYTES", 2 * len(JOB), "a.swf", read_swf, JOB * 2, JOB * 3, "bytes"),
    "swf unpacked": ("MOST_SWF_BYTES", 99 * len(JOB), "a.swf.gz", read_swf, JOB * 99, JOB * 100, "bytes of text"),
    "swf lines": ("MOST_SWF_LINES", 3, "a.swf", read_swf, JOB + ";\n\n", JOB + ";\n\n\n", "more than 3 lines"),
    "swf comments": ("MOST_SWF_COMMENTS", 2, "a.swf", read_swf, ";\n;\n" + JOB, ";\n;\n;\n" + JOB, "more than 2 comments"),
    "sacct lines": (
        "MOST_SACCT_LINES", 3, "a.txt", read_sacct, SACCT + "1|COMPLETED|01:00\n" * 2,
        SACCT + "1|COMPLETED|01:00\n" * 3, "more than 3 lines",
    ),
    "sacct bytes": (
        "MOST_SACCT_BYTES", 38, "a.txt", read_sacct, SACCT + "1|COMPLETED|01:00\n", SACCT + "11|COMPLETED|01:00\n",
        "39 bytes",
    ),
    "sacct json": (
        "MOST_SACCT_LINES", 2, "a.json", read_sacct, json.dumps({"jobs": [{"job_id": 1, "state": "COMPLETED", "time": {"elapsed": 1}}] * 2}),
        json.dumps({"jobs": [{"job_id": 1, "state": "COMPLETED", "time": {"elapsed": 1}}] * 3}), "more than 2 lines",
    ),
    "nodes bytes": ("MOST_NODES_BYTES", 14, "a.txt", read_system, "a|1||p|idle\n\n\n", "a|1||p|idle\n\n\n\n", "15 bytes"),
    "a job of sacct json": (
        "LONGEST_JSON_LINE", 59, "a.json", read_sacct, SACCT_JSON, SACCT_JSON.replace('"job_id": 1', '"job_id": 12'),
        "a job of 60 letters",
    ),
    "a job of sacct json without end": (
        "LONGEST_JSON_LINE", 59, "a.json", read_sacct, SACCT_JSON, SACCT_JSON.replace("1", '"' + "x" * 200), "a job of",
    ),
    "all nodes": ("MOST_NODES", 3, "a.txt", read_system, NODES[:36], NODES, "more than 3 nodes"),
    "nodes": ("MOST_NODES", 3, "a.txt", read_system, "a[1-3]|1||p|idle\n", "a[1-4]|1||p|idle\n", "'a[1-4]'"),
    "etc cells": ("MOST_MATRIX_CELLS", 4, "a.txt", read_etc, "2 2\n1\n2\n3\n4\n", "5 1\n1\n2\n3\n4\n5\n", "a table of 5 x 1"),
    "etc rows": ("MOST_MATRIX_ROWS", 2, "a.csv", read_etc, "t,a\nx,1\ny,2\n", "t,a\nx,1\ny,2\nz,3\n", "a table of 3 x 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_at_a_limit_is_read_and_what_is_above_it_is_refused(tmp_path, monkeypatch, case):
    name, limit, file, read, within, above, said = CASES[case]
    monkeypatch.setattr(limits, name, limit)
    for text, path in ((within, tmp_path / file), (above, tmp_path / f"b-{file}")):
        path.write_bytes(gzip.compress(text.encode()) if file.endswith(".gz") else text.encode())
    read(tmp_path / file)
    with pytest.raises(InstanceError) as error:
        read(tmp_path / f"b-{file}")
    assert said in str(error.value)


def test_a_line_may_be_as_long_as_its_limit_over_several_chunks(tmp_path):
    chunks = [b"x" * 10, b"y" * 10 + b"\nz"]
    assert b"".join(whole_lines(tmp_path, chunks, 20)) == b"".join(chunks) + b"\n"
    for given in (chunks, [b"x" * 10, b"y" * 10]):
        with pytest.raises(InstanceError, match="a line of more than 19 bytes"):
            list(whole_lines(tmp_path, given, 19))


@pytest.mark.parametrize(
    ("name", "read"), [("LONGEST_LINE", lambda path: list(CsvRows(path))), ("LONGEST_LOG_LINE", read_sacct)]
)
def test_a_line_that_goes_on_over_several_blocks_has_its_limit(tmp_path, monkeypatch, name, read):
    monkeypatch.setattr(text_module, "BLOCK_BYTES", 4)
    monkeypatch.setattr(limits, name, len(SACCT) - 1)
    (tmp_path / "a.csv").write_text(SACCT + "1|COMPLETED|01:00\n" * 5)
    read(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text(SACCT + "1|COMPLETED|01:00".ljust(len(SACCT) + 8) + "\n")
    with pytest.raises(InstanceError, match="a line of more than 19 bytes"):
        read(tmp_path / "b.csv")


@pytest.mark.parametrize(("rows", "letters", "sizes"), [(2, 10**6, [2, 2, 1]), (10, 8, [3, 2]), (10, 3, [1] * 5)])
def test_rows_are_held_in_small_pieces(tmp_path, monkeypatch, rows, letters, sizes):
    monkeypatch.setattr(limits, "PIECE", rows)
    monkeypatch.setattr(limits, "PIECE_BYTES", letters)
    monkeypatch.setattr(text_module, "BLOCK_BYTES", 4)
    (tmp_path / "a.csv").write_text("a,b\n" * 5)  # 20 letters
    assert [len(piece) for piece, _ in CsvRows(tmp_path / "a.csv").pieces()] == sizes


def test_an_archive_and_a_parquet_file_may_be_as_large_as_their_limit(parquet, tmp_path, monkeypatch):
    (tmp_path / "b.json").write_text(json.dumps(bag({"file": "t.npz"})))
    np.savez(tmp_path / "t.npz", seconds=np.ones((2, 2)))
    table_file = parquet({"a": [1.0]})
    for path, read in (
        (tmp_path / "t.npz", lambda: read_bag(tmp_path / "b.json")),
        (table_file, lambda: cells_of(table_file)),
    ):
        size = path.stat().st_size
        monkeypatch.setattr(limits, "MOST_ARCHIVE_BYTES", size)
        read()
        monkeypatch.setattr(limits, "MOST_ARCHIVE_BYTES", size - 1)
        with pytest.raises(InstanceError, match=f"got {size:,} bytes, expected at most {size - 1:,} bytes"):
            read()


@pytest.mark.parametrize(
    ("file", "read", "text", "said"),
    [
        ("a.json", read_document, "%s", "nested very deeply"),
        ("a.jsonl", lines_of, '{"format":"x/1","a":%s}\n', "a line that is no JSON"),
    ],
)
def test_json_is_nested_to_its_limit_and_no_deeper(tmp_path, file, read, text, said):
    outer = text.count("[") + text.count("{")
    for deep in (DEEPEST_JSON, DEEPEST_JSON + 1):
        inner = "[" * (deep - outer) + "]" * (deep - outer)
        (tmp_path / file).write_text(text % inner)
        if deep == DEEPEST_JSON:
            read(tmp_path / file)
    with pytest.raises(InstanceError, match=said):
        read(tmp_path / file)


def test_a_table_has_its_limit_in_every_form(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("task_type,a,b\na,1,2\nb,3,4\n")
    for seconds in ([[1, 2], [3, 4]], {"a": {"a": 1}, "b": {"b": 1}}, {"file": "t.csv"}):
        (tmp_path / "b.json").write_text(json.dumps(bag(seconds)))
        monkeypatch.setattr(table, "MOST_CELLS", 4)
        read_bag(tmp_path / "b.json")
        monkeypatch.setattr(table, "MOST_CELLS", 3)
        with pytest.raises(InstanceError, match="seconds: got 2 x 2 cells, expected at most 3"):
            read_bag(tmp_path / "b.json")


@pytest.mark.parametrize("form", ["csv", "dense", "triplets"])
def test_a_matrix_has_its_limit_in_every_form(tmp_path, monkeypatch, form):
    ones = np.ones((2, 2))
    path = tmp_path / ("m.csv" if form == "csv" else "m.npz")
    if form == "csv":
        path.write_text("1,1\n1,1\n")
    elif form == "dense":
        np.savez(path, matrix=ones)
    else:
        np.savez(path, rows=[0, 0, 1, 1], columns=[0, 1, 0, 1], values=[1.0] * 4)
    monkeypatch.setattr(tables, "MOST_CELLS", 4)
    assert read_matrix_file(path, ("mixing",), Amount("a number"), 2).entries == 4
    monkeypatch.setattr(tables, "MOST_CELLS", 3)
    with pytest.raises(InstanceError, match="4 entries, expected at most 3"):
        read_matrix_file(path, ("mixing",), Amount("a number"), 2)


def test_an_array_with_a_long_header_is_rejected(tmp_path):
    (tmp_path / "b.json").write_text(json.dumps(bag({"file": "t.npz"})))
    for length, is_read in ((tables.LONGEST_HEADER, True), (tables.LONGEST_HEADER + 1, False)):
        text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"
        head = b"\x93NUMPY\x02\x00" + length.to_bytes(4, "little") + text.ljust(length - 1).encode() + b"\n"
        with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
            archive.writestr("seconds.npy", head + np.ones((2, 2)).tobytes())
        if is_read:
            read_bag(tmp_path / "b.json")
        else:
            with pytest.raises(InstanceError, match="with a huge header"):
                read_bag(tmp_path / "b.json")


def test_an_archive_has_few_arrays(tmp_path, monkeypatch):
    cells = np.ones((2, 2))
    (tmp_path / "b.json").write_text(json.dumps(bag({"file": "t.npz"})))
    monkeypatch.setattr(limits, "MOST_ARRAYS", 2)
    np.savez(tmp_path / "t.npz", seconds=cells, watts=cells)
    read_bag(tmp_path / "b.json")
    np.savez(tmp_path / "t.npz", seconds=cells, watts=cells, more=cells)
    with pytest.raises(InstanceError, match="got 3 arrays, expected at most 2"):
        read_bag(tmp_path / "b.json")


def test_an_archive_that_declares_a_huge_array_unpacks_nothing(tmp_path):
    (tmp_path / "b.json").write_text(json.dumps(bag({"file": "t.npz"})))
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)})
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("seconds.npy", header.getvalue())
    with pytest.raises(InstanceError, match="of shape 1000000000 x 1000000000"):
        read_bag(tmp_path / "b.json")


# Parquet.
@pytest.fixture
def parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def write(columns, **options):
        pq.write_table(pa.table(columns), path := tmp_path / "a.parquet", **options)
        return path

    return write


def cells_of(path):
    with opened_parquet(path) as file:
        return list(file.batches(range(len(file.names))))


@pytest.mark.parametrize(
    ("name", "limit", "said"),
    [
        ("MOST_FOOTER_BYTES", 100, "a footer of"),
        ("LONGEST_LINE", 4, "5 bytes of text"),
        ("MOST_ROWS_BYTES", 4_999, "5,000 bytes of text"),
    ],
)
def test_a_parquet_file_is_measured_before_it_is_read(parquet, monkeypatch, name, limit, said):
    monkeypatch.setattr(limits, "PIECE_BYTES", 1_000)
    path = parquet({"a": ["xxxxx"] * 1000, "b": np.arange(1000.0)}, use_dictionary=["a"])
    assert sum(len(batch[0]) for batch in cells_of(path)) == 1000
    assert {cell for batch in cells_of(path) for cell in batch[0]} == {"xxxxx"}
    assert max(len(batch[0]) for batch in cells_of(path)) <= 200  # 1,000 bytes of text
    monkeypatch.setattr(limits, name, limit)
    with pytest.raises(InstanceError, match=said):
        cells_of(path)


def test_pages_and_footer_of_a_parquet_file_may_be_as_large_as_their_limits(parquet, monkeypatch):
    # 2 columns of doubles without absent cells: a page each, of 1,000 x 8 bytes and at most some levels
    path = parquet({"a": np.arange(1000.0), "b": np.arange(1000.0)}, use_dictionary=False, compression="none")
    with opened_parquet(path) as file:
        chunk = file._groups[0].column(0)  # noqa: SLF001
        page = file._header(chunk.data_page_offset).unpacked  # noqa: SLF001
    assert 8_000 <= page < 8_100
    footer = int.from_bytes(path.read_bytes()[-8:-4], "little")
    for name, size, said in (
        ("MOST_PAGES", 2, "more than 1 pages"),
        ("MOST_PAGE_BYTES", page, f"a page of {page:,} bytes"),
        ("MOST_FOOTER_BYTES", footer, f"a footer of {footer:,} bytes"),
        ("MOST_ARCHIVE_BYTES", max(2 * page, path.stat().st_size), None),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, size)
            cells_of(path)
            if said is not None:
                patch.setattr(limits, name, size - 1)
                with pytest.raises(InstanceError, match=said):
                    cells_of(path)


def test_pages_that_unpack_to_much_are_refused_though_the_file_is_small(parquet, monkeypatch):
    path = parquet({"a": np.zeros(100_000)}, use_dictionary=False, compression="zstd")
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(limits, "MOST_ARCHIVE_BYTES", 700_000)
    with pytest.raises(InstanceError, match="more than 700,000 bytes unpacked"):
        cells_of(path)
    monkeypatch.setattr(limits, "MOST_ARCHIVE_BYTES", 900_000)
    assert sum(len(batch[0]) for batch in cells_of(path)) == 100_000


@pytest.mark.parametrize("pages", ["1.0", "2.0"])
def test_texts_as_differences_are_refused(parquet, pages):
    options = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}, "data_page_version": pages}
    path = parquet({"a": ["x" * 99, "x" * 99 + "y"]}, **options)
    with pytest.raises(InstanceError, match="texts as differences"):
        cells_of(path)


def test_long_texts_that_many_rows_share_are_never_all_there(parquet):
    pa = pytest.importorskip("pyarrow")
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4096, np.int32)), pa.array(["x" * 200_000]))
    path = parquet({"task_type": long, "machine_type": long, "machine": np.ones(4096, np.int64)}, store_schema=False)
    assert path.stat().st_size < 400_000  # and 1.6 GB of text
    pieces = read_pieces(path, ("task_type", "machine_type", "machine"), ())
    assert len(next(pieces).columns["machine"]) <= 12  # 4 MiB of text


# Time: what was quadratic.
@pytest.mark.parametrize("width", [40_000])
def test_headers_of_many_columns_take_no_time(tmp_path, width):
    (tmp_path / "a.csv").write_text(",".join(f"c{n}" for n in range(width)) + "\n")
    (tmp_path / "b.csv").write_text("c," * width + "\n")
    began = time.process_time()
    for name in ("a.csv", "b.csv"):
        with pytest.raises(InstanceError) as error:
            list(read_rows(tmp_path / name))
        assert len(error.value.issues) <= 1000
    assert time.process_time() - began < 5


def test_nodes_of_a_list_are_counted_without_their_names():
    began = time.process_time()
    assert count_nodes("n[1-1000000]") == 1_000_000
    for cell in ("n[1-1000001]", "n[0-999][0-999][0-1]", "n[1-9]" * 10_000):
        with pytest.raises(ValueError, match="n"):
            count_nodes(cell)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("read", "inside", "case"),
    [
        (read_swf, (swf, "read_lines"), ("MOST_SWF_LINES", JOB * 4)),
        (read_sacct, (sacct, "whole_lines"), ("MOST_SACCT_LINES", SACCT + "1|COMPLETED|01:00\n" * 3)),
    ],
)
def test_lines_are_counted_before_one_is_read(tmp_path, monkeypatch, read, inside, case):
    name, text = case
    monkeypatch.setattr(limits, name, 3)
    monkeypatch.setattr("lpsched.io.text_files.BLOCK_BYTES", len(JOB))  # so that there are several blocks
    monkeypatch.setattr(*inside, None)
    (tmp_path / "a").write_text(text)
    with pytest.raises(InstanceError, match="more than 3 lines"):
        read(tmp_path / "a")


def test_lines_are_counted_while_the_first_jobs_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_SWF_LINES", 3)
    monkeypatch.setattr("lpsched.io.text_files.BLOCK_BYTES", len(JOB))
    (tmp_path / "a.swf").write_text(JOB * 5)
    assert len(read_swf(tmp_path / "a.swf", first=2)) == 2
    with pytest.raises(InstanceError, match="more than 3 lines"):
        read_swf(tmp_path / "a.swf", first=4)


# Memory, measured in a process of its own.
def peak_megabytes(folder, *words):
    """Return the exit code of a command, what it printed, and the most memory that it took."""
    code = """
import re, sys
from lpsched.cli.main import run
code = run(sys.argv[1:])
peak = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())  # getrusage would count this test's process too
print("PEAK", code, int(peak[1]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=False)
    _, exit_code, peak = done.stdout.split()[-3:]
    return int(exit_code), done.stderr, int(peak)


BLOCK = 2**22


def packed(head, row, total):
    block = row * (BLOCK // len(row))
    return gzip.compress(head) + gzip.compress(block) * (total // len(block))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "head", "row", "total"),
    [
        (("import", "swf"), b"; MaxProcs: 9\n", JOB.encode(), 400 << 20),
        (("import", "swf"), b"", b";\n", 400 << 20),
        (("import", "swf"), b"", b"\n", 400 << 20),
        (("import", "slurm"), SACCT.encode(), b"1|COMPLETED|00:00:01\n", 250 << 20),
        (("import", "slurm"), b'{"jobs": [', b'{"job_id": 1},', 1 << 22),
        (("import", "etc"), b"", b"10,11,12,13,14\n", 60 << 20),
        (("import", "etc"), b"4000 1000\n", b"10\n11\n12\n", 60 << 20),
        (("import", "gavel"), b'{"v100":[', b"[],", 60 << 20),
    ],
)
def test_a_file_that_unpacks_to_much_takes_little_memory(tmp_path, words, head, row, total):
    (tmp_path / "a.gz").write_bytes(packed(head, row, total))
    code, err, peak = peak_megabytes(tmp_path, *words, "a.gz", "-o", "out.yaml")
    assert (code, "Traceback" in err) == (2, False)
    assert peak < 500


@pytest.mark.slow
def test_a_sparse_file_is_refused_by_its_size(tmp_path):
    with (tmp_path / "a.csv").open("wb") as file:
        file.truncate(3 << 30)
    for words in (("import", "swf"), ("import", "slurm"), ("import", "etc"), ("import", "runs")):
        code, err, peak = peak_megabytes(tmp_path, *words, "a.csv", "-o", "out.yaml")
        assert (code, "3,221,225,472 bytes" in err) == (2, True)
        assert peak < 300


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
def test_memory_that_runs_out_is_said(tmp_path):
    (tmp_path / "b.json").write_text('{"format": "lpsched-bag/1", "name": "x", "z": [' + "[0.5,0.5]," * 700_000 + "1]}")
    code = """
import resource, sys
import lpsched.instances, lpsched.bag.files, numpy
from lpsched.cli.main import run
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 60_000_000,) * 2)
sys.exit(run(["show", "b.json", "--json"]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "memory ran out: " in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["error"]["code"] == "out-of-memory"


def test_memory_that_runs_out_is_no_broken_file(parquet, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")

    def full(*_):
        raise MemoryError

    (tmp_path / "b.json").write_text(json.dumps(bag({"file": "t.npz"})))
    np.savez(tmp_path / "t.npz", seconds=np.ones((2, 2)))
    monkeypatch.setattr("lpsched.io.tables.array_of", full)
    with pytest.raises(MemoryError):
        read_bag(tmp_path / "b.json")
    with pytest.raises(MemoryError), opened_parquet(parquet({"a": [1.0]})):
        raise pa.ArrowMemoryError("malloc failed")


@pytest.mark.parametrize(
    ("kind", "said"), [(ImportError, "x.so: failed to map segment"), (RuntimeError, "can't start new thread")]
)
def test_memory_that_runs_out_in_a_library_is_said(monkeypatch, capsys, kind, said):
    def full(_):
        raise kind(said)  # as it is now

    monkeypatch.setattr(main, "_run", full)
    assert main.run(["show", "b.json"]) == 1
    assert "memory ran out: " in capsys.readouterr().err
    said = "another cause"
    with pytest.raises(kind):
        main.run([])
