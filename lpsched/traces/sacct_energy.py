"""What a Slurm job consumed, counted once.

Slurm measures whole nodes, step by step, and the steps of a job overlap: `extern` is on all nodes of the job
for all its time, `batch` (or `interactive`) on its first node for all its time, and the numbered steps run
while `batch` waits for them. To add them all would count the same joules two or three times. So, of what was
measured, the first of these is taken:

1. the job's own line (of a job with `extern`, Slurm fills it from that step; else with the sum of all steps);
2. `extern`, which covers everything;
3. the larger of `batch` and the sum of the numbered steps: neither covers the other for sure.

Even the first is the power of whole nodes: on a node that several jobs share, each is charged with all of it.

Sources: sacct(1), ConsumedEnergy; Slurm's `src/slurmctld/step_mgr.c`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

EXTERN: Final = "extern"
SCRIPTS: Final = ("batch", "interactive")


@dataclass(slots=True)
class Energy:
    """What the lines of one job say, in joules; `None` if they say nothing.

    >>> job = Energy()
    >>> job.take("batch", 90.0); job.take("0", 40.0); job.take("1", 45.0)
    >>> job.joules
    90.0
    >>> job.take("extern", 92.0); job.joules
    92.0
    >>> job.take(None, 93.0); job.joules
    93.0
    """

    own: float | None = None
    extern: float | None = None
    script: float | None = None
    steps: float | None = None

    def take(self, step: str | None, joules: float | None) -> None:
        """Take a line's joules; the step is `None` for the job's own line."""
        if joules is None:
            return
        if step is None:
            self.own = joules
        elif step == EXTERN:
            self.extern = joules
        elif step in SCRIPTS:
            self.script = max(joules, self.script or 0.0)
        else:
            self.steps = (self.steps or 0.0) + joules

    @property
    def joules(self) -> float | None:
        """What the job consumed."""
        for each in (self.own, self.extern):
            if each is not None:
                return each
        return max((each for each in (self.script, self.steps) if each is not None), default=None)
