"""A study from its file to its lines: read, plan, leave out what is there, make the rest."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.errors import OutputError
from lpsched.files.studies import read_study
from lpsched.files.study_lines import RunLines, lines_of, read_runs
from lpsched.instance.study import Study
from lpsched.result.provenance import version_of_lpsched
from lpsched.result.study_summary import StudySummary
from lpsched.studies.gathering import Gathered, gather
from lpsched.studies.making import make_run
from lpsched.studies.plan import faults_of, plan
from lpsched.studies.serial_crew import SerialCrew
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.errors import Fault
    from lpsched.studies.work import Crew

MOST_REASONS: Final = 20


def run_study(  # noqa: PLR0913 - options are keyword-only
    study: Study | Path | str,
    lines: Path | str | None = None,
    *,
    crew: Crew | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    watch: Watch | None = None,
) -> StudySummary:
    """Make every run of a study, and write each as one line of JSON as soon as it has ended.

    Parameters
    ----------
    study
        A study file, whose files are relative to it; or a study, whose files are relative to here.
    lines
        The file to write; by default beside the study's, with the ending `.runs.jsonl`.
    crew
        Who makes the runs; by default this process, one after another.
    resume
        Whether to go on with lines that are there: their runs are not made again.
    retry_failed
        Whether to go on, and to make those runs again that failed; their later lines count.
    watch
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
    tasks, watch = plan(declared, gathered), watch or Watch()
    with RunLines(Path(lines), resume=resume or retry_failed) as file:
        found = _Found(file.path, {task.key for task in tasks})
        if found.others and not found.ended:
            do = "choose another name"
            raise OutputError(
                f"cannot write {file.path}: its {found.others:,} runs are of another study; {do}"
            )
        waiting = [task for task in tasks if found.lacks(task.key, retry_failed=retry_failed)]
        before, made, began = len(tasks) - len(waiting), 0, time.perf_counter()
        watch.tell("runs", done=before, total=len(tasks))
        with closing((crew or SerialCrew()).work_off(make_run, waiting, watch=watch)) as runs:
            for run in runs:
                file.add(run)
                made += 1
                found.ended[run.key] = run.reason
                watch.tell("runs", done=before + made, total=len(tasks))
    reasons = Counter(reason for reason in found.ended.values() if reason is not None)
    return StudySummary(
        study=declared.name,
        lines=str(lines),
        runs=len(tasks),
        found=before,
        made=made,
        failed=reasons.total(),
        reasons=tuple(reasons.most_common(MOST_REASONS)),
        others=found.others,
        versions=tuple(sorted(found.versions - {version_of_lpsched()})),
        seconds=time.perf_counter() - began,
        lpsched=version_of_lpsched(),
    )


def declare(study: Study | Path | str) -> tuple[Study, Gathered]:
    """Return a study and what its files say, when all that it declares is known to be sound.

    Raises
    ------
    InstanceError
        If anything is not; the error lists every fault.
    """
    if isinstance(study, Study):
        return study, gather(study, Path())
    folder, gathered = Path(study).parent, list[Gathered]()

    def faults(read: Study) -> list[Fault]:
        gathered.append(gather(read, folder))
        return list(faults_of(read, gathered[-1]))

    return read_study(study, faults), gathered[-1]


class _Found:
    """What the lines that are there say: runs of the study that ended, each with its reason if it failed."""

    def __init__(self, path: Path, planned: set[str]) -> None:
        self.ended: dict[str, str | None] = {}
        self.others = 0
        self.versions: set[str] = set()
        for run in read_runs(path):
            if run.key in planned:
                self.ended[run.key] = run.reason
                self.versions.add(run.lpsched)
            else:
                self.others += 1

    def lacks(self, key: str, *, retry_failed: bool) -> bool:
        """Tell whether a run is still to be made."""
        return key not in self.ended or (retry_failed and self.ended[key] is not None)
