"""Running a study: one run, all runs, and the executor that makes one after the other."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from lpsched.cancellation import CancelToken
from lpsched.errors import InputIssue, LpschedWarning, OutputError
from lpsched.io.rows import plain_words, reason
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.kinds import kind_of
from lpsched.model.provenance import version_of_lpsched
from lpsched.studies.executors import Executor, Task, run_of
from lpsched.studies.methods import Order, find_method
from lpsched.studies.plan import FROM, GENERATORS, Gathered, Instance, gather, issues_of, plan
from lpsched.studies.study import RunLines, Study, StudyRun, StudySummary, lines_of, read_runs, read_study

# One run: make the instance, run the method, write down what came out, or why nothing did.
_LAST: Final[dict[tuple[object, int], Instance]] = {}  # made last in this process: its runs follow each other


def make_run(task: Task) -> StudyRun:
    """Return the run, whatever becomes of it; only an interrupt is raised."""
    began = time.perf_counter()
    instance, answer, why = None, None, None
    timings: dict[str, float] = {}
    try:
        with warnings.catch_warnings(action="ignore", category=LpschedWarning):
            instance = _instance(task)
            timings["instance"] = time.perf_counter() - began
            method = find_method(task.method, kind_of(instance).name)
            assert method is not None, f"{task.method} was planned and is not there"
            answer = method.run(instance, Order(task.parameters, task.seed, task.limits.get("seconds")))
            json.dumps(answer.outcome, allow_nan=False)  # what it answers must be what JSON can say
    except MemoryError:
        why = "not enough memory"
    except Exception as error:  # noqa: BLE001 - whatever it was, it is a row with its reason
        why = plain_words(reason(error)) or type(error).__name__
    timings |= {} if answer is None else dict(answer.timings)
    timings["total"] = time.perf_counter() - began
    ended = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    return run_of(
        task,
        instance,
        why,
        solver=default_solver().name if answer is None else answer.solver,
        kind=None if instance is None else kind_of(instance).name,
        outcome=None if answer is None else FrozenDict(answer.outcome),
        timings=FrozenDict(timings),
        where=FrozenDict({"machine": platform.node(), "process": os.getpid(), "ended": ended}),
    )


def _instance(task: Task) -> Instance:
    """Return the instance of a task: the one it brings, the one made last, or one made now."""
    if task.instance_seed is None:
        external: Instance = task.instance
        return external
    origin = (task.source, task.instance_seed)
    if origin not in _LAST:
        options = {name: each for name, each in task.source.items() if name not in ("generate", "hash", FROM)}
        made = GENERATORS[task.source["generate"]].make(options, task.instance_seed, task.instance)
        _LAST.clear()
        _LAST[origin] = made
    return _LAST[origin]


# A study from its file to its lines: read, plan, leave out what is there, make the rest.
MOST_REASONS: Final = 20


def run_study(  # noqa: PLR0913 - options are keyword-only
    study: Study | Path | str,
    lines: Path | str | None = None,
    *,
    executor: Executor | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    overwrite: bool = False,
    cancel: CancelToken | None = None,
) -> StudySummary:
    """Make every run of a study, and write each as one line of JSON as soon as it has ended.

    Parameters
    ----------
    study
        A study file, whose files are relative to it; or a study, whose files are relative to here.
    lines
        The file to write; by default beside the study's, with the ending `.runs.jsonl`.
    executor
        Who makes the runs; by default this process, one after another.
    resume
        Whether to go on with lines that are there: their runs are not made again.
    retry_failed
        Whether to go on, and to make those runs again that failed; their later lines count.
    overwrite
        Whether to write over lines that are there, unless it goes on with them.
    cancel
        When it is over, no more runs are begun; what is written stays.

    Raises
    ------
    InstanceError
        If anything is wrong with the study or its files; a run that fails is a line with its reason.
    OutputError
        If the lines cannot be written, are there already, or another process writes them.
    """
    declared, gathered = declare(study)
    if lines is None:
        if isinstance(study, Study):
            raise OutputError("cannot write the lines of a study without a file; name a file for them")
        lines = lines_of(study)
    tasks, cancel = plan(declared, gathered), cancel or CancelToken()
    with RunLines(Path(lines), resume=resume or retry_failed, overwrite=overwrite) as file:
        ended, others, versions = _found(file.path, {task.key for task in tasks})
        if others and not ended:
            why = f"its {others:,} runs are of another study; choose another name"
            raise OutputError(f"cannot write {file.path}: {why}")
        done = {key for key, why in ended.items() if why is None or not retry_failed}
        waiting = [task for task in tasks if task.key not in done]
        before, made, began = len(tasks) - len(waiting), 0, time.perf_counter()
        cancel.report("runs", done=before, total=len(tasks))
        with closing((executor or SerialExecutor()).work_off(make_run, waiting, cancel=cancel)) as runs:
            for run in runs:
                file.add(run)
                made += 1
                ended[run.key] = run.reason
                cancel.report("runs", done=before + made, total=len(tasks))
    reasons = Counter(reason for reason in ended.values() if reason is not None)
    return StudySummary(
        study=declared.name,
        lines=str(lines),
        runs=len(tasks),
        found=before,
        made=made,
        failed=reasons.total(),
        reasons=tuple(reasons.most_common(MOST_REASONS)),
        others=others,
        versions=tuple(sorted(versions - {version_of_lpsched()})),
        seconds=time.perf_counter() - began,
    )


def declare(study: Study | Path | str) -> tuple[Study, Gathered]:
    """Return a study and what its files say, when all that it declares is known to be valid."""
    if isinstance(study, Study):
        return study, gather(study, Path())
    folder, gathered = Path(study).parent, list[Gathered]()

    def issues(read: Study) -> list[InputIssue]:
        gathered.append(gather(read, folder))
        return list(issues_of(read, gathered[-1]))

    return read_study(study, issues), gathered[-1]


def _found(path: Path, planned: set[str]) -> tuple[dict[str, str | None], int, set[str]]:
    """Return the planned runs that ended, each with its reason if it failed; how many others; versions of lpsched."""
    ended: dict[str, str | None] = {}
    others, versions = 0, set()
    for run in read_runs(path):
        if run.key in planned:
            ended[run.key] = run.reason
            versions.add(run.lpsched)
        else:
            others += 1
    return ended, others, versions


class SerialExecutor:
    """Makes runs here, in their order."""

    def work_off(
        self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, cancel: CancelToken
    ) -> Generator[StudyRun]:
        """Yield every run as it ends; when the token has expired, begin no more."""
        for task in tasks:
            if cancel.expired():
                return
            yield make(task)
