"""One run: make the instance, run the method, write down what came out, or why nothing did."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import time
import warnings
from typing import TYPE_CHECKING, Any, Final

from lpsched.compare.outside import plain_words, reason
from lpsched.errors import LpschedWarning
from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.solvers import default_solver
from lpsched.result.provenance import version_of_lpsched
from lpsched.result.study_run import StudyRun
from lpsched.studies.gathering import kind_of_instance
from lpsched.studies.generators import FROM, GENERATORS
from lpsched.studies.method import Order
from lpsched.studies.methods import find_method

if TYPE_CHECKING:
    from lpsched.studies.generators import Instance
    from lpsched.studies.method import Answer
    from lpsched.studies.work import Task

_LAST: Final[dict[tuple[object, int], Instance]] = {}  # made last in this process: its runs follow each other


def make_run(task: Task) -> StudyRun:
    """Return the run, whatever becomes of it; only an interrupt is raised."""
    began = time.perf_counter()
    instance, answer, why = None, None, None
    timings: dict[str, float] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LpschedWarning)
            instance = _instance(task)
            timings["instance"] = time.perf_counter() - began
            answer = _answered(instance, task)
    except MemoryError:
        why = "not enough memory"
    except Exception as error:  # noqa: BLE001 - whatever it was, it is a row with its reason
        why = plain_words(reason(error)) or type(error).__name__
    timings |= {} if answer is None else dict(answer.timings)
    timings["total"] = time.perf_counter() - began
    return StudyRun(
        study=task.study,
        key=task.key,
        source=task.source,
        instance_name=None if instance is None else instance.name,
        instance_hash=None if instance is None else instance.content_hash,
        kind=None if instance is None else kind_of_instance(instance),
        method=task.method,
        parameters=task.parameters,
        limits=task.limits,
        instance_seed=task.instance_seed,
        seed=task.seed,
        outcome=None if answer is None else FrozenDict(answer.outcome),
        reason=why,
        lpsched=version_of_lpsched(),
        solver=default_solver().name if answer is None else answer.solver,
        timings=FrozenDict(timings),
        where=where(),
    )


def _instance(task: Task) -> Instance:
    """Return the instance of a task: the one it brings, the one made last, or one made now."""
    if task.instance_seed is None:
        brought: Instance = task.instance
        return brought
    made_by = (task.source, task.instance_seed)
    if made_by not in _LAST:
        made = _generated(task, task.instance_seed)
        _LAST.clear()
        _LAST[made_by] = made
        return made
    return _LAST[made_by]


def _generated(task: Task, seed: int) -> Instance:
    options = {name: each for name, each in task.source.items() if name not in ("generate", "hash", FROM)}
    return GENERATORS[task.source["generate"]].make(options, seed, task.instance)


def _answered(instance: Instance, task: Task) -> Answer:
    """Run the method; what it answers must be what JSON can say.

    Raises
    ------
    ValueError
        If a number is none.
    """
    method = find_method(task.method, kind_of_instance(instance))
    assert method is not None, f"{task.method} was planned and is not there"
    answer = method.run(instance, Order(task.parameters, task.seed, task.limits.get("seconds")))
    json.dumps(answer.outcome, allow_nan=False)
    return answer


def where() -> FrozenDict[str, Any]:
    """Return the machine, the process and the time: nothing that a result may depend on."""
    ended = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    return FrozenDict({"machine": platform.node(), "process": os.getpid(), "ended": ended})
