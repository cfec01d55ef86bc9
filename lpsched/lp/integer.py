"""Programs whose variables must be whole, for a short time: a good point, or none.

HiGHS is given a start, if there is one, and stopped after so much counted work: it looks at its limits at the
same steps in every run, so looks are counted. Nothing that it says is taken as proved: who asks has to check
the point, and bounds come from elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import highspy
import numpy as np

from lpsched.lp.highs import pass_program
from lpsched.lp.highs_run import run_highs

if TYPE_CHECKING:
    from lpsched.lp.program import Floats, LinearProgram
    from lpsched.watch import Watch

NEARLY_WHOLE: Final = 1e-6
LOOK: Final = 2e-3  # seconds of work counted for each look of HiGHS at its limits,
INTEGER_CELL: Final = 2e-6  # and for each coefficient
FEWEST_LOOKS: Final = 3


def whole_point(
    program: LinearProgram,
    *,
    watch: Watch,
    whole: Floats | None = None,
    start: Floats | None = None,
    gap: float = 1e-4,
) -> Floats | None:
    """Return the best point found with whole variables; `None` if there is none.

    `whole` marks with 1 the variables that must be whole (all, if it is not given), with 0 the others.
    """
    highs = highspy.Highs()
    options: dict[str, bool | float | str] = {
        "output_flag": False,
        "mip_rel_gap": gap,
        "random_seed": 0,
        "parallel": "off",
    }
    for option, value in options.items():
        highs.setOptionValue(option, value)
    pass_program(highs, program)
    size = len(program.costs)
    marks = np.ones(size) if whole is None else whole
    columns = np.flatnonzero(marks).astype(np.int32)
    kinds = np.full(len(columns), int(highspy.HighsVarType.kInteger), dtype=np.uint8)
    highs.changeColsIntegrality(len(columns), columns, kinds)
    if start is not None:
        given = highspy.HighsSolution()
        given.col_value = start.tolist()
        highs.setSolution(given)
    highs.HandleUserInterrupt = True
    look, looks, left = LOOK + INTEGER_CELL * len(program.values), 0, watch.work_left()

    def interrupt(event: Any) -> None:  # noqa: ANN401 - highspy does not export its type
        nonlocal looks
        looks += 1
        if looks >= max(FEWEST_LOOKS, left / look):
            event.interrupt()

    highs.cbMipInterrupt += interrupt
    run_highs(highs, program, watch)
    watch.count(looks * look)
    solution = highs.getSolution()
    values = np.array(solution.col_value)
    if not solution.value_valid or len(values) != size or not np.all(np.isfinite(values)):
        return None
    rounded = np.where(marks > 0, np.rint(values), values)
    return rounded if np.abs(rounded - values).max(initial=0.0) <= NEARLY_WHOLE else None
