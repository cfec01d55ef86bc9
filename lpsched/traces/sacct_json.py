"""The output of `sacct --json`, job by job, as rows that the text of `sacct -P` would have."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from lpsched.io import limits
from lpsched.io.content import one_issue

# Slurm 22.05 and newer. A number is plain, or `{"set": true, "infinite": false, "number": 5}` (data parsers from
# v0.0.39 on); a state is a word or a list whose first one counts; a step's number is a word such as `batch`, ends with
# one (`123.batch`), or is `{"job_id": 123, "step_id": "batch"}`. A moment of 0 is none. Energy is that of the steps.
# Memory of allocated TRES is in megabytes.
# Sources: Slurm's data_parser plugins and REST API reference, `slurmdb_job_rec_t`.
JSON_HEADER: Final = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Cluster", "Partition", "QOS", "State", "Submit", "Eligible",
    "Start", "End", "ElapsedRaw", "TimelimitRaw", "AllocNodes", "AllocTRES", "NodeList", "ConsumedEnergyRaw",
)  # fmt: skip
JSON_SEPARATOR: Final = "\x1f"  # the separator of units in ASCII: no name needs it
MOST_DIGITS: Final = 18  # of a number as text
_JOBS: Final = re.compile(r'"jobs"\s*:\s*\[')
_BLANK: Final = re.compile(r"[\s,]*")


def json_rows(path: Path, blocks: Iterable[bytes]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of each job, from 0, and its cells; then those of its steps with energy.

    Of the text only what is around a job is held.
    """
    text = _Text(path, blocks)
    while (found := _JOBS.search(text.held)) is None:
        if not text.more():
            needed = "an object with \"jobs\", as 'sacct --json' writes it"
            raise one_issue(path, 'no list called "jobs"', needed, "check what kind of file it is", 1)
    head = text.held[: found.end()]
    text.at = found.end()
    decoder = json.JSONDecoder()
    number = 0
    while True:
        blank = _BLANK.match(text.held, text.at)
        text.at = text.at if blank is None else blank.end()
        if text.at == len(text.held) and text.more():
            continue
        if text.held.startswith("]", text.at):
            _check_rest(path, head, text)
            return
        try:
            job, end = decoder.raw_decode(text.held, text.at)
        except (ValueError, RecursionError) as error:
            if isinstance(error, ValueError) and text.more():
                continue
            wrong = f"broken JSON in job {number} ({error})"
            raise one_issue(path, wrong, "whole JSON", "write it again", text.line) from error
        if end == len(text.held) and text.more():  # a number may go on
            continue
        text.require_short(end - text.at)
        text.at = end
        yield from ((number, cells) for cells in _rows(job))
        number += 1


class _Text:
    """The part of a text that is held; what is before `at` has been read."""

    def __init__(self, path: Path, blocks: Iterable[bytes]) -> None:
        self.path, self.held, self.at = path, "", 0
        self._lines = 0  # before what is held
        self._blocks = iter(blocks)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    @property
    def line(self) -> int:
        """The line of what is read next."""
        return self._lines + self.held.count("\n", 0, self.at) + 1

    def more(self) -> bool:
        """Hold twice as much of what is to be read, since a job is then tried a few times only; return if there is."""
        self._lines += self.held.count("\n", 0, self.at)
        parts, self.at = [self.held[self.at :]], 0
        before = length = len(parts[0])
        while length < max(1, 2 * before) and (block := next(self._blocks, None)) is not None:
            parts.append(self._decoder.decode(block))
            length += len(parts[-1])
        self.require_short(length // 2)  # a part of it may be after the job
        self.held = "".join(parts)
        return length > before

    def require_short(self, letters: int) -> None:
        """Raise an error for a job of more letters than can be held."""
        if letters > limits.LONGEST_JSON_LINE:
            found, do = f"a job of {letters:,} letters", "check what kind of file it is"
            raise one_issue(self.path, found, f"at most {limits.LONGEST_JSON_LINE:,} letters", do, self.line)


def _check_rest(path: Path, head: str, text: _Text) -> None:
    """Raise an error where what stands around the list of jobs is no JSON, or more than one document."""
    line = text.line
    while text.more():
        pass
    try:
        json.loads(head + text.held[text.at :])
    except (ValueError, RecursionError) as error:
        needed, do = "one JSON document", "write it again; bring several files one by one"
        raise one_issue(path, f"broken JSON around the jobs ({error})", needed, do, line) from error


def _rows(job: object) -> Iterator[tuple[str, ...]]:
    """Yield a job's own cells, then those of its steps; what is not there is empty."""
    if not isinstance(job, dict) or _number(job.get("job_id")) is None:
        yield ("",) * len(JSON_HEADER)  # without JobID: the row is dirty
        return
    time, allocated = _dict(job.get("time")), _dict(job.get("tres")).get("allocated")
    own = {
        "JobID": _identifier(job),
        "JobIDRaw": _text(_number(job["job_id"])),
        "JobName": _text(job.get("name")),
        "User": _text(job.get("user")),
        "Account": _text(job.get("account")),
        "Cluster": _text(job.get("cluster")),
        "Partition": _text(job.get("partition")),
        "QOS": _text(job.get("qos")),
        "State": _state(_dict(job.get("state")).get("current", job.get("state"))),
        "Submit": _moment(time.get("submission")),
        "Eligible": _moment(time.get("eligible")),
        "Start": _moment(time.get("start")),
        "End": _moment(time.get("end")),
        "ElapsedRaw": _cell(time.get("elapsed")),
        "TimelimitRaw": _text(_number(time.get("limit"))),
        "AllocNodes": "0" if allocated == [] else _text(_number(job.get("allocation_nodes"))),
        "AllocTRES": _tres(allocated),
        "NodeList": _text(job.get("nodes")),
    }
    yield tuple(own.get(name, "") for name in JSON_HEADER)
    steps = job.get("steps")
    for step in steps if isinstance(steps, list) else ():
        consumed = _dict(_dict(_dict(step).get("statistics")).get("energy")).get("consumed")
        joules = _number(consumed)
        if joules:
            name = f"{own['JobID']}.{_step(_dict(_dict(step).get('step')))}"
            cells = {"JobID": name, "State": own["State"]}
            cells["ConsumedEnergyRaw"] = _text(joules)
            yield tuple(cells.get(column, "") for column in JSON_HEADER)


def _identifier(job: dict[str, Any]) -> str:
    """Return what `sacct` shows as JobID: 5, 5_2 of an array, 5+1 of a heterogeneous job."""
    array, het = _dict(job.get("array")), _dict(job.get("het"))
    first, task = _number(array.get("job_id")), _number(array.get("task_id"))
    if first and task is not None:
        return f"{first}_{task}"
    leader, offset = _number(het.get("job_id")), _number(het.get("job_offset"))
    return f"{leader}+{offset}" if leader and offset is not None else str(_number(job["job_id"]))


def _step(step: dict[str, Any]) -> str:
    found = step.get("id", step.get("name"))
    if isinstance(found, dict):
        found = found.get("step_id", step.get("name"))
    name = _number(found)
    return str(name) if name is not None else _text(found).rpartition(".")[2] or "0"


def _tres(allocated: object) -> str:
    words = []
    for each in allocated if isinstance(allocated, list) else ():
        kind, name, count = (
            _text(_dict(each).get("type")),
            _text(_dict(each).get("name")),
            _number(_dict(each).get("count")),
        )
        if kind and count is not None:
            words.append(f"{kind}{'/' if name else ''}{name}={count}{'M' if kind == 'mem' else ''}")
    return ",".join(words)


def _state(found: object) -> str:
    return _text(found[0]) if isinstance(found, list) and found else _text(found)


def _moment(found: object) -> str:
    seconds = _number(found)
    return str(seconds) if seconds else ""


def _number(found: object) -> int | None:
    """Return a whole number from 0 up, plain or with its flags; `None` if it is not set, or infinite.

    >>> _number(5), _number({"set": True, "infinite": False, "number": 5}), _number({"set": False, "number": 0})
    (5, 5, None)
    """
    if isinstance(found, dict):
        if found.get("set", True) is not True or found.get("infinite") is True:
            return None
        found = found.get("number")
    if isinstance(found, str) and found.isascii() and found.isdecimal() and len(found) <= MOST_DIGITS:
        found = int(found)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 2**53 else None


def _cell(found: object) -> str:
    """Return a number as a cell: empty where it is not set, as it stands where it cannot be read."""
    number = _number(found)
    if isinstance(found, dict):
        is_set = found.get("set", True) is True and found.get("infinite") is not True
        found = found.get("number") if is_set else None
    return _text(found if number is None else number)


def _dict(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _text(found: object) -> str:
    if found is None or isinstance(found, dict | list):
        return ""
    return str(found).replace(JSON_SEPARATOR, "?")
