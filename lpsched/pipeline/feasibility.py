"""Is there any schedule at all? A cap below the idle floor, a deadline too short: refused with a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.certificate.bounds import Prover, Shortest
from lpsched.certificate.fixed_point import rounded_down
from lpsched.display import lower_text, number
from lpsched.errors import InfeasibleError, InfeasibleProgramError
from lpsched.formulations.whole_tasks import least_makespan
from lpsched.instance.arrays import usable_bag
from lpsched.pipeline.objectives import Makespan, Relaxed
from lpsched.pipeline.screening import screen_of

if TYPE_CHECKING:
    from lpsched.lp.program import Solver
    from lpsched.watch import Watch


def require_power(prover: Prover) -> None:
    """Refuse a cap that leaves nothing above the idle floor, unless tasks draw less than idle.

    With H = P - I: if H < 0, some D(x) must be negative; if H = 0, none may be positive.

    Raises
    ------
    InfeasibleError
        If no schedule keeps the cap.
    """
    headroom = prover.headroom
    if headroom is None or headroom > 0:
        return
    least = prover.least_joules_above_idle()
    if least < 0 or (least == 0 and headroom == 0):
        return
    site = prover.bag.site
    allowed = f"{number(site.average_power_cap_watts)} W"
    if site.cap_measured_at == "facility" and site.pue != 1:
        allowed += (
            f" at the facility, which leaves {number(float(headroom + prover.idle_watts))} W for the machines"
        )
    short = "nothing" if headroom == 0 else f"{number(-rounded_down(headroom))} W too little"
    raise InfeasibleError(
        f"{prover.bag.name}: the power cap is {allowed}, but idle machines alone draw "
        f"{number(float(prover.idle_watts))} W: that leaves {short}; raise the cap, or switch machines off"
    )


def require_time(prover: Prover, solver: Solver, watch: Watch | None = None) -> Relaxed | None:
    """Refuse a deadline that no schedule meets; return the relaxation that shows one might be met.

    Raises
    ------
    InfeasibleError
        If the proved makespan is longer than the deadline.
    """
    deadline = prover.bag.site.deadline_seconds
    if deadline is None and (prover.headroom is None or prover.headroom > 0):
        return None
    usable = usable_bag(prover.bag)
    try:
        relaxed = Makespan().relax(usable, solver, watch)
    except InfeasibleProgramError as error:
        if prover.headroom is None or prover.headroom > 0:
            raise
        floor, left = float(prover.idle_watts), float(prover.headroom + prover.idle_watts)
        raise InfeasibleError(
            f"{prover.bag.name}: the power cap leaves {number(left)} W for the machines, which draw "
            f"{number(floor)} W idle, and no tasks draw so much less; raise the cap"
        ) from error
    if deadline is not None and prover.makespan(relaxed.multipliers) > deadline:
        under = " under the power cap" if prover.headroom is not None else ""
        # That proof is about schedules without a task beyond the deadline; what is told, about all schedules.
        free = prover.bag.without_deadline()
        every = Prover(free, screen_of(free), Shortest(*least_makespan(free)))
        least = rounded_down(every.makespan(Makespan().relax(free, solver, watch).multipliers))
        why = f"no schedule takes less than {lower_text(least)} s"
        if least <= deadline:
            least = rounded_down(prover.makespan(relaxed.multipliers))
            why = f"on machines that finish a task by then, no schedule takes less than {lower_text(least)} s"
        raise InfeasibleError(
            f"{prover.bag.name}: the deadline is {number(deadline)} s, but {why}{under}; "
            "give it more time, more machines or fewer tasks"
        )
    return relaxed
