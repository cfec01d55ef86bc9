"""A bench from its file to what is known about the machine: read, look around, run, sum up."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError, MeasureError
from lpsched.io.documents import read_document
from lpsched.io.instance_files import made_of
from lpsched.measure.bench import Bench
from lpsched.measure.machine import MachineStage, faults_here, require_linux
from lpsched.measure.plan import left_out, run_bench, run_counts, settings_of
from lpsched.measure.remarks import remarks_of
from lpsched.measure.samples import SampleLines, head_of
from lpsched.measure.summary import measurements_of

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.cancellation import Watch
    from lpsched.measure.evidence import Setting
    from lpsched.measure.measurements import Measurements
    from lpsched.measure.plan import BenchRun

MOST_NAMED: Final = 3  # failures in one message


def read_bench_here(path: Path) -> Bench:
    """Read a bench, and see that this machine has the places and the programs that it names."""
    require_linux()

    def make(raw: object) -> Bench:
        bench = Bench.read(raw, str(path))
        faults: tuple[Fault, ...] = tuple(faults_here(bench, path.parent))
        if faults:
            raise InstanceError(str(path), faults)
        return bench

    return made_of(read_document(path), path, make)


@dataclass(frozen=True, slots=True)
class Found:
    """What a session found out.

    Attributes
    ----------
    runs
        How many there are now, with those of earlier sessions.
    unfinished
        How many settings would have been run again if there had been time.
    remarks
        What a user should know before relying on it.
    """

    measurements: Measurements
    runs: int
    unfinished: int
    remarks: tuple[str, ...]

    def require_something(self) -> None:
        """Refuse to go on with nothing."""
        if self.measurements.seconds:
            return
        failed = [f"{each.setting} {each.reason}" for each in self.measurements.failed[:MOST_NAMED]]
        why = "; ".join(failed) or "no application ran to its end at every clock before the time was over"
        raise MeasureError(f"nothing could be measured: {why}")


class Session:
    """A bench about to be run on this machine.

    Parameters
    ----------
    folder
        That of the bench file.
    stage
        The machine; by default this one, with the meters that the bench asks for and that are there.

    Attributes
    ----------
    absent
        What cannot be measured and why, each in a sentence; known before anything is run.
    """

    def __init__(self, bench: Bench, folder: Path, *, stage: MachineStage | None = None) -> None:
        self.bench = bench
        self.stage = stage or MachineStage(bench, folder)
        known = {"energy": self.stage.meters.energy is not None, "counters": self._counted}
        self.absent = (*self.stage.absent, *left_out(bench, **known))
        self.settings: tuple[Setting, ...] = settings_of(bench, frequencies_mhz=self.stage.frequencies_mhz, **known)

    @property
    def _counted(self) -> bool:
        return self.stage.meters.counters is not None

    @property
    def run_counts(self) -> tuple[int, int]:
        """How many measured runs there will be, at least and at most."""
        return run_counts(self.bench, self.settings)

    def run(self, samples: Path, watch: Watch, *, resume: bool = False) -> Found:
        """Run everything, keeping each run in a file of samples at once; tell what is known in the end.

        Parameters
        ----------
        watch
            When it is over, what runs is ended at once, and what was measured by then counts.
        resume
            Whether to go on with a file of samples that is there.
        """
        machine, meters, ours = self.stage.machine, self.stage.meters, version("lpsched")
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        head = head_of(self.bench, machine=machine, meters=meters, lpsched=ours, began=now)
        with SampleLines(samples, head, resume=resume) as lines, self.stage:
            run = run_bench(self.bench, self.stage, self.settings, lines, watch)
            return self._found(run, lines.head.began)

    def _found(self, run: BenchRun, taken: str) -> Found:
        measurements = measurements_of(
            self.bench,
            machine=self.stage.machine,
            meters=self.stage.meters,
            frequencies_mhz=self.stage.frequencies_mhz,
            samples=run.samples,
            idle_before=run.idle_before,
            idle_after=run.idle_after,
            taken=taken,
            lpsched=version("lpsched"),
            absent=self.absent,
        )
        return Found(
            measurements,
            len(run.samples),
            len(run.unfinished),
            (*self.stage.troubles, *remarks_of(self.bench, measurements)),
        )
