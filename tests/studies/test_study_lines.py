from __future__ import annotations

import errno
import json
import os

import pytest

from lpsched.errors import InstanceError, OutputError
from lpsched.model.fields import FrozenDict
from lpsched.studies.study import RunLines, StudyRun, lines_of, read_runs


def run_of(key, **changes):
    told = {
        "study": "s",
        "key": key,
        "source": FrozenDict({"file": "bag.yaml", "hash": "0"}),
        "instance_name": "b\n<script>",
        "instance_hash": "0",
        "kind": "bag",
        "method": "lp",
        "parameters": FrozenDict({"price": 1.5, "objective": "energy"}),
        "limits": FrozenDict({}),
        "instance_seed": None,
        "seed": 0,
        "outcome": FrozenDict({"value": 0.1 + 0.2, "worth": {"c": [1, None]}}),
        "reason": None,
        "lpsched": "1",
        "solver": "h",
        "timings": FrozenDict({"total": 0.5}),
        "where": FrozenDict({"machine": "m"}),
    }
    return StudyRun(**(told | changes))


def test_runs_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "a.jsonl"
    runs = [run_of("a"), run_of("b", outcome=None, reason="ü: no room", instance_seed=2**100)]
    with RunLines(path, resume=False) as lines:
        for run in runs:
            lines.add(run)
    assert list(read_runs(path)) == runs
    assert len(path.read_bytes().splitlines()) == 2


def test_lines_that_are_there_are_not_written_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("something\n")
    with pytest.raises(OutputError, match="exists; choose another name or add --resume or --force"):
        RunLines(path, resume=False)
    assert path.read_text() == "something\n"
    with RunLines(path, resume=False, overwrite=True) as lines:
        lines.add(run_of("a"))
    assert [run.key for run in read_runs(path)] == ["a"]
    with RunLines(path, resume=True, overwrite=True) as lines:  # to go on comes first
        lines.add(run_of("b"))
    assert [run.key for run in read_runs(path)] == ["a", "b"]


@pytest.mark.parametrize("cut", [1, 2, 40, 10_000])
def test_a_last_line_that_was_cut_is_cut_away_and_the_rest_stays(tmp_path, cut):
    path = tmp_path / "a.jsonl"
    with RunLines(path, resume=False) as lines:
        lines.add(run_of("a"))
        whole = path.read_bytes()
        lines.add(run_of("b"))
    content = path.read_bytes()
    path.write_bytes(content[: max(len(whole), len(content) - cut)])
    assert [run.key for run in read_runs(path)] == ["a"]
    with RunLines(path, resume=True) as lines:
        assert path.read_bytes() == whole
        assert lines.cut is (cut < len(content) - len(whole))
        lines.add(run_of("c"))
    assert [run.key for run in read_runs(path)] == ["a", "c"]


def test_a_file_that_is_nothing_but_a_cut_line_becomes_empty(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * (2**20 + 5))  # longer than the block that is looked at
    with RunLines(path, resume=True) as lines:
        assert lines.cut
    assert path.read_bytes() == b""


def test_a_second_process_is_refused_while_the_first_writes(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "a.jsonl"
    with (
        RunLines(path, resume=False),
        pytest.raises(OutputError, match="another study run adds to it; wait for it, or choose"),
    ):
        RunLines(path, resume=True)
    RunLines(path, resume=True).__exit__(None, None, None)  # the lock went with the first


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2: got a line that is no JSON, expected one run as JSON"),
        ("[" * 100_000, "line 2: got a line that is no JSON"),
        ("3", r"line 2, format: got 3, expected 'lpsched-run/1'"),
        ('{"format": "lpsched-run/2"}', r"line 2, format: got the text 'lpsched-run/2', expected"),
        ('{"format": "lpsched-run/1"}', "line 2: got a run without 'instance', expected all keys"),
        ('{"format": "lpsched-run/1", "instance": 3, "outcome": 2}', "line 2: got a run without"),
    ],
)
def test_a_line_that_is_no_run_is_told_with_its_number(tmp_path, line, sentence):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(run_of("a").to_dict()) + f"\n{line}\n")
    with pytest.raises(InstanceError, match=sentence):
        list(read_runs(path))


@pytest.mark.parametrize(
    ("name", "words"), [("none.jsonl", "not found"), (".", "a directory"), ("a\0b", "embedded null byte")]
)
def test_lines_that_cannot_be_read_are_told_in_words(tmp_path, name, words):
    with pytest.raises(InstanceError, match=words):
        list(read_runs(tmp_path / name))


def test_a_full_disk_leaves_whole_lines_and_says_so(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"

    def full(_file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with RunLines(path, resume=False) as lines:
        lines.add(run_of("a"))
        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OutputError, match="No space left on device; make room, or choose another place"):
            lines.add(run_of("b"))
    assert [run.key for run in read_runs(path)] == ["a"]
    assert path.read_bytes().endswith(b"\n")


def test_a_line_is_on_the_disk_before_the_next_run_is_told(tmp_path, monkeypatch):
    path, synced = tmp_path / "a.jsonl", []
    monkeypatch.setattr("os.fsync", lambda _file: synced.append(path.stat().st_size))
    with RunLines(path, resume=False) as lines:
        lines.add(run_of("a"))
        assert synced == [path.stat().st_size]


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(OutputError, match="it is a directory"):
        RunLines(tmp_path, resume=True)
    with pytest.raises(OutputError, match="there is no folder"):
        RunLines(tmp_path / "none" / "a.jsonl", resume=False)


def test_lines_go_beside_the_study():
    assert lines_of("/x/y.study.yaml").as_posix() == "/x/y.study.runs.jsonl"
