"""The smallest crew: this process, one run after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from lpsched.result.study_run import StudyRun
    from lpsched.studies.work import Task
    from lpsched.watch import Watch


class SerialCrew:
    """Makes runs here, in their order."""

    def work_off(
        self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, watch: Watch
    ) -> Generator[StudyRun]:
        """Yield every run as it ends; when the watch is over, begin no more."""
        for task in tasks:
            if watch.is_over():
                return
            yield make(task)
