from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError, OutputError
from lpsched.io import limits, text_files
from lpsched.traces import swf
from lpsched.traces.swf import FIELDS, WHOLE, read_lines, read_swf, write_swf

SMALL = Path(__file__).parent.parent / "data" / "small.swf"
LINE = "1 0 5 100 4 -1 -1 4 200 -1 1 1 1 7 0 1 -1 -1"


def same(one, other):
    return one.comments == other.comments and all((one[name] == other[name]).all() for name in FIELDS)


def test_every_field_of_every_job_is_read():
    trace = read_swf(SMALL)
    assert len(trace) == 8
    assert trace["job"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert trace["submit_seconds"].tolist() == [0, 10, 10, 20, 15, 30, 40, 50]
    assert trace["run_seconds"].tolist() == [100, 50, -1, 0, 30, 10, 70, 12.5]
    assert trace["requested_processors"].tolist() == [4, 2, 4, 1, 8, 1, -1, 3]
    assert [trace[name][0] for name in FIELDS] == [float(word) for word in LINE.split()]
    assert {name for name in FIELDS if trace[name].dtype == np.int64} == set(WHOLE)


def test_comments_keep_their_places_and_the_header_can_be_asked():
    trace = read_swf(SMALL)
    assert [at for at, _ in trace.comments] == [0] * 7 + [3]  # the last stands before the fourth job
    assert trace.comments[-1][1] == "; a comment in the middle"
    assert trace.said("computer") == "Hand made"
    assert (trace.size("MaxNodes"), trace.size("MaxProcs"), trace.size("MaxQueues")) == (4, 8, None)


@pytest.mark.parametrize("said", ["many", "0", "-4", "12.5", "1" + "0" * 20, ""])
def test_a_size_that_is_none_is_not_guessed(written, said):
    assert read_swf(written("a.swf", f"; MaxNodes: {said}\n{LINE}\n")).size("MaxNodes") is None


@pytest.mark.parametrize("name", ["again.swf", "again.swf.gz"])
def test_what_is_written_reads_the_same(tmp_path, name):
    trace = read_swf(SMALL)
    write_swf(trace, tmp_path / name)
    assert same(read_swf(tmp_path / name), trace)
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")


def test_a_log_with_more_lines_than_a_block_reads_like_one_with_fewer(tmp_path, monkeypatch):
    whole = read_swf(SMALL)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 100)
    assert same(read_swf(SMALL), whole)
    monkeypatch.setattr(swf, "CHUNK_JOBS", 2)
    write_swf(whole, tmp_path / "again.swf")
    assert same(read_swf(tmp_path / "again.swf"), whole)


def test_windows_line_ends_tabs_and_a_missing_last_line_end_do_not_matter(written):
    text = SMALL.read_text().replace("\n", "\r\n").replace("  ", "\t").removesuffix("\r\n")
    assert same(read_swf(written("a.swf", text)), read_swf(SMALL))


def test_only_the_first_jobs_are_read_if_so_asked(written):
    trace = read_swf(SMALL, first=3)
    assert trace["job"].tolist() == [1, 2, 3]
    assert len(trace.comments) == 8
    dirty_after = written("a.swf", f"{LINE}\nnonsense\n")
    assert len(read_swf(dirty_after, first=1, skip_dirty=True)) == 1


FIELD = {name: place for place, name in enumerate(FIELDS)}


def with_field(name, word):
    words = LINE.split()
    words[FIELD[name]] = word
    return " ".join(words)


DIRTY = [
    ("1 2 3", "3 fields", "18 numbers", "not 18 fields"),
    (LINE + " 9", "19 fields", "18 numbers", "not 18 fields"),
    (with_field("run_seconds", "ten"), "'ten' as run_seconds", "a number", "a field that is no number"),
    (with_field("run_seconds", "nan"), "nan as run_seconds", "a number", "a field that is no number"),
    (with_field("run_seconds", "1_0"), "'1_0' as run_seconds", "a number", "a field that is no number"),
    (with_field("run_seconds", "-7"), "-7 as run_seconds", "or -1", "a negative number other than -1"),
    (with_field("processors", "2.5"), "2.5 as processors", "whole", "a fraction where a whole number belongs"),
    (with_field("user", "1e17"), "1e+17 as user", "2^53", "a number beyond 2^53"),
    (with_field("user", "9" * 25), "as user", "2^53", "a number beyond 2^53"),
    (with_field("job", "-1"), "-1 as job", "number of the job", "no job number"),
    (with_field("submit_seconds", "-1"), "-1 as submit_seconds", "from 0 up", "no submit time"),
    (with_field("status", "6"), "6 as status", "-1 to 5", "an unknown status"),
]


@pytest.mark.parametrize("above", [f"; header\n{LINE}\n\n", f"{LINE}\n" * 3], ids=["with-comments", "only-jobs"])
@pytest.mark.parametrize("case", DIRTY, ids=[each[0][-40:] for each in DIRTY])
def test_a_dirty_line_is_told_by_number_and_skipped_only_on_request(written, above, case):
    line, found, needed, reason = case
    path = written("a.swf", f"{above}{line}\n{LINE}\n")
    with pytest.raises(InstanceError) as caught:
        read_swf(path)
    (issue,) = caught.value.issues
    assert issue.line == 4
    assert found in issue.got
    assert needed in issue.expected
    assert "--skip-dirty" in issue.hint
    trace = read_swf(path, skip_dirty=True)
    assert (len(trace), trace.skipped) == (above.count(LINE) + 1, {reason: 1})
    assert [each.line for each in trace.issues] == [4]


@pytest.mark.parametrize("first", [17, 19])
def test_two_lines_whose_words_add_up_are_not_taken_for_two_jobs(written, first):
    words = (LINE + " " + LINE).split()
    path = written("a.swf", " ".join(words[:first]) + "\n" + " ".join(words[first:]) + "\n")
    with pytest.raises(InstanceError, match=f"line 1: got {first} fields"):
        read_swf(path)


def test_a_word_that_would_read_as_two_numbers_is_dirty(written):
    with pytest.raises(InstanceError, match="'1-1' as requested_seconds"):
        read_swf(written("a.swf", with_field("requested_seconds", "1-1") + "\n"))


def test_faults_come_by_rising_line_and_have_an_end(written):
    path = written("a.swf", "1 2\n" * 700 + with_field("status", "9") + "\n" + "1 2\n" * 700)
    with pytest.raises(InstanceError) as caught:
        read_swf(path)
    lines = [issue.line for issue in caught.value.issues]
    assert lines == list(range(1, 1001))
    assert sum(read_swf(path, skip_dirty=True).skipped.values()) == 1401


def test_files_that_are_none_are_refused(tmp_path, written):
    packed = gzip.compress(SMALL.read_bytes())
    with pytest.raises(InstanceError, match="broken gzip"):
        read_swf(written("cut.gz", packed[:-20]))
    with pytest.raises(InstanceError, match="broken gzip"):
        read_swf(written("junk.gz", b"\x1f\x8b" + bytes(50)))
    with pytest.raises(InstanceError, match="a directory"):
        read_swf(tmp_path)
    with pytest.raises(InstanceError, match="not found"):
        read_swf(tmp_path / "none.swf")
    with pytest.raises(InstanceError, match="no file to read"):
        read_swf("a\0b")


def test_a_file_that_unpacks_to_too_much_is_refused_on_the_way(written, monkeypatch):
    monkeypatch.setattr(limits, "MOST_SWF_BYTES", 20_000)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 1_000)
    bomb = written("bomb.swf.gz", gzip.compress(f"{LINE}\n".encode() * 100_000))
    with pytest.raises(InstanceError, match="more than 20,000 bytes of text"):
        read_swf(bomb)
    assert len(read_swf(bomb, first=20)) == 20
    monkeypatch.setattr(limits, "LONGEST_LOG_LINE", 3_000)
    with pytest.raises(InstanceError, match="a line of more than 3,000 bytes"):
        read_swf(written("line.swf", b"1" * 5_000))


def test_an_empty_file_is_a_log_without_jobs(written, tmp_path):
    trace = read_swf(written("a.swf", ""))
    assert (len(trace), trace.comments) == (0, ())
    write_swf(trace, tmp_path / "b.swf")
    assert (tmp_path / "b.swf").read_bytes() == b""


def test_a_log_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(OutputError):
        write_swf(read_swf(SMALL), tmp_path / "no" / "a.swf")
    assert not list(tmp_path.iterdir())


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_read_or_dirty_and_never_crash(content):
    lines = read_lines(content + b"\n", 1)
    written = sum(bool(text.strip()) for text in (content + b"\n").split(b"\n"))
    assert len(lines.rows) + len(lines.comments) + len(lines.dirty) == written


numbers = st.one_of(st.just(-1), st.integers(0, 10**6), st.just(2**53))
fractions = st.one_of(numbers, st.floats(0, 1e9).map(float))


@st.composite
def rows(draw):
    row = [draw(numbers if name in WHOLE else fractions) for name in FIELDS]
    row[0], row[1], row[10] = draw(st.integers(0, 99)), abs(row[1]), draw(st.integers(-1, 5))
    return row


@settings(max_examples=20, deadline=None)
@given(st.lists(rows(), min_size=1, max_size=3))
def test_drawn_logs_survive_writing_and_reading(tmp_path_factory, drawn):
    path = tmp_path_factory.mktemp("swf") / "a.swf"
    path.write_text("".join(" ".join(map(repr, row)) + "\n" for row in drawn))
    trace = read_swf(path)
    for place, name in enumerate(FIELDS):
        assert trace[name].tolist() == [row[place] for row in drawn]
    write_swf(trace, path)
    assert same(read_swf(path), trace)
