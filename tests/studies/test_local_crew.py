"""Runs in processes of this machine: all of them, each once, whoever dies; and nobody is left behind."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lpsched import pool
from lpsched.cancellation import CancelToken
from lpsched.errors import WorkersError
from lpsched.pool import LOOK_SECONDS
from lpsched.studies import executors as local_executor
from lpsched.studies.executors import ONE_THREAD, LocalExecutor
from lpsched.studies.running import SerialExecutor
from tests.online.compare.test_workers import eventually, is_running
from tests.studies.toys import end_at_once, make, outcomes, surroundings, tasks

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")


@pytest.fixture
def impatient(monkeypatch):
    """Two deaths are enough: each costs a second."""
    monkeypatch.setattr(local_executor, "DEATHS", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_two_processes_make_what_one_makes_whoever_dies(tmp_path):
    # Task 3 kills its process the first time only, task 5 always, and task 7 raises what it should not.
    calm = outcomes(list(SerialExecutor().work_off(make, tasks(12, ("shared",)), cancel=CancelToken())))
    troubled = tasks(
        12,
        ("shared",),
        dies_once=lambda number: str(tmp_path / "died") if number == 3 else None,
        dies=lambda number: str(tmp_path) if number == 5 else None,
        raises=lambda number: number == 7,
    )
    runs = list(LocalExecutor(2).work_off(make, troubled, cancel=CancelToken()))
    died = "the process that made this run died, 2 times; memory may be short"
    raised = "RuntimeError: this was not to happen"
    assert (tmp_path / "died").exists()
    assert len(list(tmp_path.glob("*.dead"))) == 2
    assert outcomes(runs) == calm | {"run-5": (None, died), "run-7": (None, raised)}
    processes = {run.where["process"] for run in runs if not run.failed}
    assert len(processes - {os.getpid()}) >= 2


@pytest.mark.slow
def test_a_process_has_one_thread_does_not_hear_ctrl_c_and_ends_with_whoever_wanted_its_runs(monkeypatch):
    for name in ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    runs = LocalExecutor(2).work_off(surroundings, tasks(3), cancel=CancelToken())
    told = dict(next(runs).outcome or {})
    assert told["threads"] == dict.fromkeys(ONE_THREAD, "1")
    assert told["deaf"]
    assert is_running(told["process"])
    runs.close()
    assert not is_running(told["process"])


@pytest.mark.slow
def test_when_the_watch_is_over_the_run_under_way_is_kept_and_no_other_begun(tmp_path):
    # The process holds two: the first ends only after the token was stopped, and the second is given back.
    toys = tasks(9, begun=str(tmp_path), until=str(tmp_path / "go"))
    cancel = CancelToken()

    def stop():
        eventually((tmp_path / "run-0").exists, bool)
        cancel.stop()
        time.sleep(10 * LOOK_SECONDS)  # so that it has been seen
        (tmp_path / "go").touch()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(stop)
        (run,) = LocalExecutor(1).work_off(make, toys, cancel=cancel)
    assert run.key == "run-0"
    assert not is_running(run.where["process"])
    assert not (tmp_path / "run-2").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_processes_that_cannot_even_begin_are_told(monkeypatch):
    monkeypatch.setattr(pool, "_serve", end_at_once)
    with pytest.raises(WorkersError, match=r"^2 processes ended before they could begin a run; memory may"):
        list(LocalExecutor(1).work_off(make, tasks(2), cancel=CancelToken()))
