"""What happens between the steps of Ipopt: a look at the watch, at the gain of late, and at Ctrl-C.

Ipopt runs outside of Python and asks after each step whether to go on. An exception in the answer would be
lost, and CasADi, which looks for Ctrl-C itself, would take it for a point at which nothing can be computed,
and go on. So Ctrl-C is noted, Ipopt is asked to stop, and the interrupt is raised when it has.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from lpsched.lp.program import Floats
    from lpsched.watch import Watch

Expression: TypeAlias = Any  # of CasADi, which ships no types

MISSED: Final = 1e-4  # of the objective, which should be about 1
PATIENCE: Final = 30  # steps that together gain less than `MISSED`, and are then the last
KEPT: Final = 1e-6  # by which a row may be broken in a point that counts


@dataclass(slots=True)
class Steps:
    """Looks at every step of Ipopt: at the watch, and whether the steps still lead anywhere."""

    watch: Watch | None
    stage: str
    lower: Floats  # of the rows
    upper: Floats
    count: int = 0
    best: float = -np.inf  # of the points that keep the rows
    before: float = -np.inf  # the best when it was last worth going on
    since: int = 0  # that step
    stalled: bool = False
    interrupted: bool = False

    def is_last(self, value: float, rows: Floats) -> bool:
        """Take a step to a point of this value, and tell whether to stop there."""
        self.count += 1
        if self.watch is not None and self.stage:
            self.watch.tell(f"{self.stage}: step {self.count}, {value:.4f}")
        broken = max((self.lower - rows).max(initial=0.0), (rows - self.upper).max(initial=0.0))
        if broken <= KEPT:
            self.best = max(self.best, value)
        if self.best == -np.inf or self.best > self.before + MISSED * abs(self.best):
            self.before, self.since = self.best, self.count
        self.stalled = bool(broken <= KEPT and self.count - self.since >= PATIENCE)
        return self.stalled or self.interrupted or (self.watch is not None and self.watch.is_over())


def looker(casadi: Any, program: dict[str, Expression], steps: Steps) -> Any:  # noqa: ANN401
    """Return what Ipopt calls after each step."""

    class Looker(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.construct("looker", {})

        def get_n_in(self) -> int:
            return int(casadi.nlpsol_n_out())

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, place: int) -> Any:  # noqa: ANN401
            size = {"x": program["x"].shape, "f": (1, 1), "g": program["g"].shape}
            size |= {"lam_x": size["x"], "lam_g": size["g"]}
            return casadi.Sparsity.dense(*size.get(casadi.nlpsol_out(place), (0, 0)))

        def eval(self, given: Any) -> list[int]:  # noqa: ANN401
            try:
                return [int(steps.is_last(-float(given[1]), np.array(given[2]).ravel()))]
            except KeyboardInterrupt:  # of a listener; CasADi would swallow it
                steps.interrupted = True
                return [1]

    return Looker()


@contextlib.contextmanager
def ctrl_c_stops(steps: Steps) -> Iterator[None]:
    """Let Ctrl-C do what it did before; where that raises KeyboardInterrupt, note it instead."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt:
            steps.interrupted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
