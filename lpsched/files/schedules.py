"""Schedule files: compact, as JSON or YAML; groups of machines and what each of them runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, Place
from lpsched.files.documents import read_document
from lpsched.files.entries import items, mapping, name, whole
from lpsched.files.writing import write_files
from lpsched.instance.fields import describe
from lpsched.schedule.bag import MachineGroup, Run, Schedule

if TYPE_CHECKING:
    from lpsched.instance import Bag

SCHEDULE_FORMAT: Final = "lpsched-schedule/1"
_TOP: Final = ("format", "lpsched", "instance", "makespan_seconds", "groups")
_GROUP: Final = ("machine_type", "machines", "runs")
_RUN: Final = ("task_type", "count", "p_state")


def schedule_as_dict(schedule: Schedule, bag: Bag, version: str) -> dict[str, Any]:
    """Return what the file says."""
    return {
        "format": SCHEDULE_FORMAT,
        "lpsched": version,
        "instance": {"name": bag.name, "hash": bag.content_hash},
        "makespan_seconds": schedule.makespan_seconds,
        "groups": [
            {
                "machine_type": group.machine_type,
                "machines": group.machines,
                "runs": [_run_as_dict(run) for run in group.runs],
            }
            for group in schedule.groups
        ],
    }


def write_schedule(schedule: Schedule, bag: Bag, path: Path | str, version: str) -> None:
    """Write a schedule in its compact form; one group to a line.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    content = schedule_as_dict(schedule, bag, version)
    groups = ",\n".join(f"    {json.dumps(group, ensure_ascii=False)}" for group in content.pop("groups"))
    head = json.dumps(content, indent=2, ensure_ascii=False).removesuffix("\n}")
    text = f'{head},\n  "groups": [\n{groups}\n  ]\n}}\n' if groups else f'{head},\n  "groups": []\n}}\n'
    write_files({Path(path): text.encode()})


def read_schedule(path: Path | str) -> Schedule:
    """Read a schedule in its compact form; whether it fits a bag is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is not one.
    """
    path = Path(path)
    document = read_document(path)
    return schedule_from_dict(document.value, str(path), document.faults)


def schedule_from_dict(content: object, source: str, faults: tuple[Fault, ...] = ()) -> Schedule:
    """Make a schedule of what a file says.

    Raises
    ------
    InstanceError
        If it is not one.
    """
    found = list(faults)
    schedule = _schedule(content, found)
    if found:
        raise InstanceError(source, tuple(found[:MOST_FAULTS]))
    return schedule


def _schedule(content: object, faults: list[Fault]) -> Schedule:
    if isinstance(content, dict) and content.get("format", SCHEDULE_FORMAT) != SCHEDULE_FORMAT:
        found = describe(content["format"])
        faults.append(Fault(("format",), found, repr(SCHEDULE_FORMAT), "name a schedule file"))
        return Schedule(())  # what else it says is not for a schedule to judge
    top = mapping((), content, _TOP, ("format", "groups"), faults)
    end = top.get("makespan_seconds")
    if end is not None and not _is_number(end):
        faults.append(
            Fault(("makespan_seconds",), describe(end), "seconds: a number above 0, or null", "correct it")
        )
        end = None
    return Schedule(
        tuple(
            _group(("groups", place), group, faults)
            for place, group in enumerate(items(("groups",), top.get("groups", []), faults))
        ),
        None if end is None else float(end),
    )


def _group(path: Place, content: object, faults: list[Fault]) -> MachineGroup:
    group = mapping(path, content, _GROUP, _GROUP, faults)
    runs = items((*path, "runs"), group.get("runs", []), faults)
    return MachineGroup(
        name((*path, "machine_type"), group.get("machine_type", ""), faults),
        whole((*path, "machines"), group.get("machines", 1), faults),
        tuple(_run((*path, "runs", place), run, faults) for place, run in enumerate(runs)),
    )


def _run(path: Place, content: object, faults: list[Fault]) -> Run:
    run = mapping(path, content, _RUN, ("task_type", "count"), faults)
    state = run.get("p_state")
    return Run(
        name((*path, "task_type"), run.get("task_type", ""), faults),
        whole((*path, "count"), run.get("count", 1), faults),
        None if state is None else name((*path, "p_state"), state, faults),
    )


def _run_as_dict(run: Run) -> dict[str, Any]:
    plain: dict[str, Any] = {"task_type": run.task_type, "count": run.count}
    return plain if run.p_state is None else plain | {"p_state": run.p_state}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
