"""Clocks that a killed run left set: the next run, or the supervisor of its programs, puts them back."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lpsched.errors import LpschedWarning, MeasureError
from lpsched.measure.bench import Application, Bench, EnergyChoice
from lpsched.measure.machine import Machine, choose
from lpsched.measure.meters import records
from lpsched.measure.meters.clocks import find_clocks, restore_clocks
from tests.measure.hostile import alive, keepers_of, new_token, wait_until
from tests.measure.meters.test_cpufreq import limits, policy, processor

HOLDS = """
import sys, time
from pathlib import Path
from lpsched.measure.meters.clocks import find_clocks
clocks, _ = find_clocks([0], [1700.0], Path(sys.argv[1]))
with clocks:
    clocks.set(1700.0)
    print("set", flush=True)
    {}
"""
SUPERVISED = """
    from tests.measure.hostile import run, shell
    run(shell("sleep 600", token=sys.argv[2]))
"""


@pytest.fixture
def machine(tmp_path):
    """Return the folders of a machine and of its clock, from 800 to 3400 MHz."""
    root = tmp_path / "cpu"
    folder = policy(root, 0)
    processor(root, 0, folder)
    return root, folder


def holding(root, then="time.sleep(600)", *more):
    """Start a process that holds the clock at 1700 MHz."""
    command = [sys.executable, "-c", HOLDS.format(then), str(root), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "set\n"
    return process


def kill(process):
    process.kill()
    process.communicate()


def kept(tmp_path):
    return sorted(path.name for path in (tmp_path / "state" / "lpsched").glob("*.json"))


def test_the_next_run_puts_back_the_clocks_of_a_killed_one_and_says_so(machine, tmp_path):
    root, folder = machine
    process = holding(root)
    assert limits(folder) == (1_700_000, 1_700_000)
    assert len(kept(tmp_path)) == 1
    kill(process)
    assert limits(folder) == (1_700_000, 1_700_000), "nobody was there to put it back"
    killed = f"the clock in {folder} was left set by a run that was killed (process {process.pid})"
    again = "it is from 800 to 3400 MHz again, as before that run"
    assert restore_clocks([0], root) == (f"{killed}: {again}",)
    assert limits(folder) == (800_000, 3_400_000)
    assert kept(tmp_path) == []
    assert restore_clocks([0], root) == ()


def test_a_bench_that_sets_no_clocks_does_not_take_pinned_ones_for_the_machines_own(machine, tmp_path):
    root, folder = machine
    kill(holding(root))
    bench = Bench("b", 1, (Application("a", ("true",)),), energy=EnergyChoice("none"), counters="none")
    with pytest.warns(LpschedWarning, match="was left set by a run that was killed"):
        choose(bench, [0], machine=Machine(tmp_path / "powercap", root, is_linux=True))
    assert limits(folder) == (800_000, 3_400_000)


def test_a_run_that_goes_on_keeps_its_clocks_and_no_other_begins_on_them(machine, tmp_path):
    root, folder = machine
    other = policy(root, 1)
    processor(root, 1, other)
    clocks, _ = find_clocks([0], [800.0], root)
    process = holding(root)
    try:
        why = rf"another 'lpsched measure' \(process {process.pid}\) has set the clocks of these processors"
        with pytest.raises(MeasureError, match=why):
            restore_clocks([0], root)
        with pytest.raises(MeasureError, match=why):
            clocks.__enter__()
        assert restore_clocks([1], root) == ()
        beside, _ = find_clocks([1], [800.0], root)
        with beside:
            beside.set(800.0)
            assert len(kept(tmp_path)) == 2
        assert (limits(folder), limits(other)) == ((1_700_000, 1_700_000), (800_000, 3_400_000))
        assert len(kept(tmp_path)) == 1
    finally:
        kill(process)


def test_the_supervisor_of_a_killed_run_puts_its_clocks_back(machine, tmp_path):
    root, folder = machine
    token = new_token()
    process = holding(root, SUPERVISED, token)
    wait_until(lambda: alive(token))
    assert len(keepers_of(process.pid)) == 1
    kill(process)
    wait_until(lambda: not kept(tmp_path))
    assert limits(folder) == (800_000, 3_400_000)
    assert not alive(token)


def test_a_run_that_ends_well_leaves_no_record(machine, tmp_path):
    root, _ = machine
    clocks, _ = find_clocks([0], [1700.0], root)
    with clocks:
        clocks.set(1700.0)
        [record] = (tmp_path / "state" / "lpsched").glob("*.json")
        assert record.stat().st_mode & 0o777 == 0o600
        assert json.loads(record.read_text())["limits"][0]["highest"] == 3_400_000
    assert kept(tmp_path) == []


def test_a_record_is_on_the_disk_with_its_folder_before_a_clock_may_be_set(machine, tmp_path, monkeypatch):
    written, synced = os.fsync, []

    def fsync(number):
        synced.append(os.fstat(number).st_ino)
        written(number)

    monkeypatch.setattr(os, "fsync", fsync)
    clocks, _ = find_clocks([0], [1700.0], machine[0])
    with clocks:
        [record] = (tmp_path / "state" / "lpsched").glob("*.json")
        assert synced == [record.stat().st_ino, record.parent.stat().st_ino]


def test_one_run_at_a_time_reads_and_writes_records(machine, tmp_path):
    root, folder = machine
    kill(holding(root))
    with (tmp_path / "state" / "lpsched" / "clocks.lock").open("w") as lock, ThreadPoolExecutor(1) as other:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = other.submit(restore_clocks, [0], root)
        with pytest.raises(TimeoutError):
            said.result(timeout=0.3)
        assert limits(folder) == (1_700_000, 1_700_000)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert len(said.result()) == 1


def test_no_run_begins_while_another_writes_its_record(machine, tmp_path):
    root, _ = machine
    (tmp_path / "state" / "lpsched").mkdir(parents=True)
    clocks, _ = find_clocks([0], [1700.0], root)
    with (tmp_path / "state" / "lpsched" / "clocks.lock").open("w") as lock, ThreadPoolExecutor(1) as other:
        fcntl.flock(lock, fcntl.LOCK_EX)
        begun = other.submit(clocks.__enter__)
        with pytest.raises(TimeoutError):
            begun.result(timeout=0.3)
        assert kept(tmp_path) == []
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert begun.result() is clocks
        assert len(kept(tmp_path)) == 1
    clocks.__exit__()


@pytest.mark.parametrize("broken", [0, 1])
def test_a_clock_that_cannot_be_put_back_keeps_the_record_and_the_others_are_put_back(
    machine, tmp_path, monkeypatch, broken
):
    root, folder = machine
    folders = [folder, policy(root, 1)]
    processor(root, 1, folders[1])
    clocks, _ = find_clocks([0, 1], [1700.0], root)
    write = Path.write_text

    def fail(path, *given, **more):
        if path.parent == folders[broken]:
            raise OSError(errno.EIO, "Input/output error")
        return write(path, *given, **more)

    with clocks:
        assert clocks.set(1700.0) is None
        monkeypatch.setattr(Path, "write_text", fail)
    assert limits(folders[broken]) == (1_700_000, 1_700_000)
    assert limits(folders[1 - broken]) == (800_000, 3_400_000)
    assert len(kept(tmp_path)) == 1, "the next run tries again"
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert any("800 to 3400 MHz again" in sentence for sentence in restore_clocks([0, 1], root))
    assert [limits(each) for each in folders] == [(800_000, 3_400_000)] * 2
    assert kept(tmp_path) == []


def test_a_record_is_whole_on_the_disk_before_a_clock_is_set(machine, monkeypatch):
    root, folder = machine
    clocks, _ = find_clocks([0], [1700.0], root)
    written = []

    def look(file):
        path = Path(f"/proc/self/fd/{file}")
        written.append(path.read_bytes() if path.is_file() else b"")

    monkeypatch.setattr(os, "fsync", look)
    with clocks:
        assert limits(folder) == (800_000, 3_400_000)
        assert any(b"3400000" in content for content in written)


def test_without_a_folder_of_the_user_no_clock_is_set(machine, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    root, folder = machine
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", nobody)
    clocks, _ = find_clocks([0], [1700.0], root)
    with pytest.raises(MeasureError, match="cannot be kept on disk"):
        clocks.__enter__()
    assert limits(folder) == (800_000, 3_400_000)


def test_without_locks_a_run_goes_on_while_its_process_does(machine, tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    root, folder = machine
    process = holding(root)
    monkeypatch.setattr(fcntl, "flock", no_locks)
    [record] = (tmp_path / "state" / "lpsched").glob("*.json")
    try:
        with pytest.raises(MeasureError, match="another 'lpsched measure'"):
            restore_clocks([0], root)
        record.write_text(json.dumps(json.loads(record.read_text()) | {"started": "1"}))  # another had its number
        assert len(restore_clocks([0], root)) == 1
        assert limits(folder) == (800_000, 3_400_000)
    finally:
        kill(process)


def test_an_old_record_of_another_machine_on_a_shared_disk_stays(machine, tmp_path):
    root, folder = machine
    kill(holding(root))
    [record] = (tmp_path / "state" / "lpsched").glob("*.json")
    record.write_text(json.dumps(json.loads(record.read_text()) | {"boot": "other", "machine": "elsewhere"}))
    assert restore_clocks([0], root) == ()
    assert limits(folder) == (1_700_000, 1_700_000)
    assert len(kept(tmp_path)) == 1


def test_a_record_is_deleted_when_the_clocks_are_back_and_no_sooner(machine, monkeypatch):
    root, folder = machine
    found = []
    monkeypatch.setattr(records.Record, "delete", lambda _: found.append(limits(folder)))
    clocks, _ = find_clocks([0], [1700.0], root)
    with clocks:
        clocks.set(1700.0)
    assert found == [(800_000, 3_400_000)]


def test_clocks_that_cannot_be_put_back_stay_on_record(machine, tmp_path, monkeypatch):
    root, folder = machine
    kill(holding(root))

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    write = Path.write_text
    monkeypatch.setattr(Path, "write_text", refuse)
    [sentence] = restore_clocks([0], root)
    assert sentence.endswith("and cannot be put back: Permission denied")
    assert len(kept(tmp_path)) == 1
    monkeypatch.setattr(Path, "write_text", write)
    assert len(restore_clocks([0], root)) == 1
    assert limits(folder) == (800_000, 3_400_000)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"format": "lpsched-clocks/1"}', b'{"format": "other", "limits": []}', b"\xff" * 100],
)
def test_a_broken_record_is_left_alone(machine, tmp_path, content):
    root, folder = machine
    state = tmp_path / "state" / "lpsched"
    state.mkdir(parents=True)
    (state / "clocks-x.json").write_bytes(content)
    assert restore_clocks([0], root) == ()
    assert limits(folder) == (800_000, 3_400_000)


def test_a_record_of_before_the_last_start_of_the_machine_is_not_used(machine, tmp_path, monkeypatch):
    root, folder = machine
    kill(holding(root))
    boot = tmp_path / "boot_id"
    boot.write_text("another")
    monkeypatch.setattr(records, "BOOT", boot)
    assert restore_clocks([0], root) == ()
    assert limits(folder) == (1_700_000, 1_700_000), "in truth the start would have reset it"
    assert kept(tmp_path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_record_of_another_user_is_not_used(machine, tmp_path):
    root, folder = machine
    kill(holding(root))
    [record] = (tmp_path / "state" / "lpsched").glob("*.json")
    os.chown(record, 65534, 65534)
    assert restore_clocks([0], root) == ()
    assert limits(folder) == (1_700_000, 1_700_000)


def test_without_a_place_for_the_record_no_clock_is_set(machine, tmp_path, monkeypatch):
    root, folder = machine
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    clocks, _ = find_clocks([0], [1700.0], root)
    with pytest.raises(MeasureError, match=r"cannot be kept on disk .*; let XDG_STATE_HOME name a folder"):
        clocks.__enter__()
    assert limits(folder) == (800_000, 3_400_000)


def test_two_runs_that_find_a_killed_one_put_its_clocks_back_once(machine):
    root, folder = machine
    kill(holding(root))
    code = (
        "import sys; from pathlib import Path; from lpsched.measure.meters.clocks import restore_clocks;"
        "print(len(restore_clocks([0], Path(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, str(root)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(each.communicate()[0] for each in both) == ["0\n", "1\n"]
    assert limits(folder) == (800_000, 3_400_000)


def test_an_interrupted_run_puts_its_clocks_back_itself(machine, tmp_path):
    root, folder = machine
    process = holding(root)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert limits(folder) == (800_000, 3_400_000)
    assert kept(tmp_path) == []


def test_nothing_is_written_where_no_clock_is_set(machine, tmp_path):
    with warnings.catch_warnings(action="error"):
        assert restore_clocks([0], machine[0]) == ()
    assert not (tmp_path / "state").exists()
