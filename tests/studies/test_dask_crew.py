"""Runs on a cluster: a real scheduler and real workers on this machine, some of which are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import types
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import distributed
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import MissingExtraError, WorkersError
from lpsched.studies import dask_executor
from lpsched.studies import dask_executor as dask_client
from lpsched.studies.dask_executor import DaskExecutor, _do, _given_up
from lpsched.studies.executors import installed, require_same
from lpsched.studies.running import run_study
from lpsched.studies.study import read_runs
from tests.online.compare.test_workers import eventually
from tests.studies.declared import TINY, study_file
from tests.studies.test_interrupts import check_resumes
from tests.studies.test_kill_and_resume import begun
from tests.studies.toys import make, outcomes, tasks

ROOT = Path(__file__).parent.parent.parent
DASK = [sys.executable, "-m", "dask"]
HERE = os.environ | {
    "PYTHONPATH": str(ROOT),
    "OMP_NUM_THREADS": "1",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0",  # a worker holds only what it works on
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s",  # to one that was killed
}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")


@contextmanager
def started(*arguments):
    """A process of Dask's, whose talk nobody reads."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*DASK, *arguments], cwd=ROOT, env=HERE, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def scheduler():
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        with started("scheduler", *options) as process:
            text = eventually(lambda: file.read_text() if file.exists() else "", lambda text: text.endswith("}"))
            yield process, json.loads(text)["address"]


@pytest.fixture(scope="module")
def cluster():
    """A scheduler with two workers, of which one will be killed; its address."""
    with scheduler() as (_, address), ExitStack() as workers:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        for _ in range(2):
            workers.enter_context(started("worker", address, *options))
        yield address


@pytest.mark.slow
def test_workers_make_what_this_process_makes_though_one_is_killed(cluster, tmp_path):
    # 10 bags, 2 methods, 2 objectives: 40 runs. The worker of the first line is killed while it makes another.
    made = {"generate": "bag", "seeds": {"from": 0, "count": 9}, **TINY}
    study = study_file(tmp_path, instances=[{"file": "bag.json"}, made])
    lines, calm = tmp_path / "lines.jsonl", tmp_path / "calm.jsonl"

    def kill(progress):
        if progress.done == 1:
            os.kill(next(read_runs(lines)).where["process"], signal.SIGKILL)

    summary = run_study(study, lines, executor=DaskExecutor(cluster), cancel=CancelToken(listener=kill))
    run_study(study, calm)
    assert (summary.made, summary.failed) == (40, 0)
    assert outcomes(list(read_runs(lines))) == outcomes(list(read_runs(calm)))


@pytest.mark.slow
def test_sigterm_ends_a_study_on_a_cluster_in_order_and_it_can_be_resumed(cluster, tmp_path):
    study = study_file(tmp_path, instances=[{"generate": "bag", "seeds": {"count": 100}, **TINY}])  # 400 runs
    lines = tmp_path / "lines.jsonl"
    process = begun(study, lines, "--dask", cluster, jobs=None)
    eventually(lambda: lines.read_bytes().count(b"\n") if lines.exists() else 0, lambda count: count >= 4)
    process.terminate()
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (143, "", "lpsched: ended by SIGTERM\n")
    assert lines.read_bytes().endswith(b"\n")
    with distributed.Client(cluster, set_as_default=False) as client:
        eventually(
            lambda: sum(map(len, client.processing().values())), lambda left: not left
        )  # nor is any run left there
    check_resumes(study, lines, DaskExecutor(cluster))


@pytest.mark.slow
def test_a_task_that_outlives_no_worker_is_a_failed_run():
    killed = distributed.KilledWorker("run-0", None, 3)  # allowed are three
    run = _given_up(tasks(1)[0], killed)
    assert (run.key, run.outcome) == ("run-0", None)
    assert run.reason == "the worker that made this run died, 4 times; memory may be short"


@pytest.mark.slow
def test_when_the_watch_is_over_only_what_workers_have_is_waited_for(cluster, tmp_path):
    toys = tasks(50, until=lambda number: str(tmp_path / "go") if number else None)
    cancel = CancelToken()
    runs = DaskExecutor(cluster).work_off(make, toys, cancel=cancel)
    first = next(runs)
    cancel.stop()
    (tmp_path / "go").touch()
    rest = list(runs)
    assert first.key == "run-0"
    assert len(rest) < 10
    outcomes([first, *rest])
    assert len(list(DaskExecutor(cluster).work_off(make, tasks(3), cancel=CancelToken()))) == 3  # nobody is in the way


@pytest.mark.slow
def test_a_worker_with_other_packages_is_refused(cluster, monkeypatch):
    needed = (("lpsched", "9.9"), ("numpy", None), ("Python", f"3.{sys.version_info.minor}"))
    monkeypatch.setattr(dask_executor, "installed", lambda: needed)
    words = r"^the worker tcp://\S+ has lpsched \S+ instead of 9\.9, numpy \S+ instead of none: its runs might"
    with pytest.raises(WorkersError, match=words):
        list(DaskExecutor(cluster).work_off(make, tasks(2), cancel=CancelToken()))


@pytest.mark.slow
def test_a_cluster_that_cannot_load_our_code_is_told(cluster, monkeypatch):
    module = types.ModuleType("only_here")
    exec("def make(task): return task", module.__dict__)  # noqa: S102
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.raises(WorkersError, match=r"^a run cannot be begun there \(.*every worker need lpsched"):
        list(DaskExecutor(cluster).work_off(module.make, tasks(2), cancel=CancelToken()))


@pytest.mark.slow
def test_a_scheduler_without_workers_is_waited_for_and_told_when_it_is_lost(monkeypatch, caplog):
    monkeypatch.setattr(dask_executor, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(dask_client, "CONNECTING_SECONDS", 1.0)
    told = []
    with scheduler() as (process, address):

        def heard(progress):
            told.append(progress.stage)
            process.kill()

        lost = rf"^the scheduler at {address} was lost \(.*\); runs that were written stay: go on with --resume$"
        with pytest.raises(WorkersError, match=lost):
            list(DaskExecutor(address).work_off(make, tasks(2), cancel=CancelToken(listener=heard)))
        with pytest.raises(WorkersError, match=rf"^no Dask scheduler answers at '{address}' .*dask scheduler"):
            list(DaskExecutor(address).work_off(make, tasks(2), cancel=CancelToken()))
    assert told == ["waiting for workers: the scheduler has none"]
    assert caplog.messages == ["the scheduler has no workers yet; waiting for them"]


def test_nobody_is_asked_when_there_is_nothing_to_do():
    assert list(DaskExecutor("tcp://127.0.0.1:1").work_off(make, [], cancel=CancelToken())) == []


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(dask_client, "distributed", None)
    with pytest.raises(MissingExtraError, match="on a cluster needs the extra 'cluster'"):
        DaskExecutor("tcp://127.0.0.1:8786")


def test_a_worker_with_many_threads_is_refused(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    require_same(installed(), "here")
    monkeypatch.delenv("OMP_NUM_THREADS")
    with pytest.raises(WorkersError, match=r"^the worker here computes with many threads: .* OMP_NUM_THREADS=1,"):
        require_same(installed(), "here")


def test_a_worker_makes_one_run_at_a_time_however_many_threads_it_has(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(distributed, "get_worker", lambda: types.SimpleNamespace(address="here"))
    inside, most = Counter[str](), []

    def slow(task):
        inside["runs"] += 1
        most.append(inside["runs"])
        time.sleep(0.01)
        inside["runs"] -= 1
        return make(task)

    def begin(task):
        return _do(task, "shared", make=slow, needed=installed())

    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(begin, tasks(4)))
        (lost,) = threads.map(begin, tasks(1, raises=True))
    assert (lost.outcome, lost.reason) == (None, "RuntimeError: this was not to happen")
    assert max(most) == 1
    assert [run.outcome for run in runs] == [{"square": n * n, "instance": "shared"} for n in range(4)]
