"""Tasks that cost nothing, and functions that other processes can import: they make runs of them, or trouble."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from lpsched.model.fields import FrozenDict
from lpsched.studies.executors import ONE_THREAD, Task, lost_run


def tasks(count, instance=None, **parameters):
    """Tasks 0, 1, 2, ...; a parameter is what it is, or a function of the number."""
    return [
        Task(
            study="toy",
            key=f"run-{number}",
            source=FrozenDict(file="toy"),
            method="square",
            parameters=FrozenDict({name: of(number) if callable(of) else of for name, of in parameters.items()}),
            limits=FrozenDict(),
            instance_seed=None,
            seed=number,
            instance=instance,
        )
        for number in range(count)
    ]


def outcomes(runs):
    """What became of each task, by its key; a run that was made twice is a failure."""
    found = {run.key: (run.outcome, run.reason) for run in runs}
    assert len(found) == len(runs), "a run was made twice"
    return found


def make(task):
    """Sleep, die or raise as the task's parameters say, then square its seed."""
    asked = task.parameters
    time.sleep(asked.get("seconds", 0.0))
    if (folder := asked.get("dies")) is not None:
        (Path(folder) / f"{os.getpid()}.dead").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if (flag := asked.get("dies_once")) is not None and not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if asked.get("raises"):
        raise RuntimeError("this was not to happen")
    if (folder := asked.get("begun")) is not None:
        (Path(folder) / task.key).touch()
    while (file := asked.get("until")) is not None and not Path(file).exists():
        time.sleep(0.01)
    found = FrozenDict(square=task.seed**2, instance=task.instance)
    return replace(lost_run(task, ""), outcome=found, reason=None, where=FrozenDict(process=os.getpid()))


def surroundings(task):
    """Tell how many threads a run may use, and whether Ctrl-C reaches it; whoever heeds it does not come so far."""
    os.kill(os.getpid(), signal.SIGINT)
    threads = {name: os.environ.get(name) for name in ONE_THREAD}
    deaf = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    found = FrozenDict(threads=threads, deaf=deaf, process=os.getpid())
    return replace(lost_run(task, ""), outcome=found, reason=None)


def end_at_once(pipe, do):  # noqa: ARG001
    """Begin a process, and end it."""
    os._exit(1)
