"""What commands about a bag give to look at: pictures and pages.

Where they go is checked before the work begins, and they are written after it, whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.cli.options import PICTURES, require_output, require_pictures
from lpsched.cli.talk import tell

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.instance import Bag
    from lpsched.result import FrontResult, PriceCurve, Result
    from lpsched.result.front_comparison import FrontComparison
    from lpsched.result.sensitivity import Sensitivity
    from lpsched.schedule.bag import Schedule


@dataclass(frozen=True, slots=True)
class Asked:
    """The terms of a bag, and who solves."""

    price: float | None
    profit_ratio: float | None
    power_cap: float | None
    deadline: float | None
    solver: str


def require_looks(*inputs: Path, figure: Path | None, report: Path | None) -> None:
    """Refuse a picture or a page that could not be written in the end.

    Raises
    ------
    OutputError
        If the ending is another, the place cannot be written, or it is what is read.
    MissingExtraError
        If Matplotlib is not installed.
    """
    if figure is not None:
        require_output(figure, PICTURES, *inputs)
    if report is not None:
        require_output(report, (".html",), *inputs)
    if figure is not None or report is not None:
        require_pictures()


def draw_schedule(bag: Bag, schedule: Schedule, figure: Path) -> None:
    """Draw when machines are done, what they take, and which tasks run where."""
    from lpsched.files.pictures import write_picture
    from lpsched.reports.schedule_picture import schedule_picture

    if schedule.groups:
        write_picture(schedule_picture(bag, schedule), figure)
    else:
        tell(f"{figure} is not drawn: nothing runs")


def write_page(
    bag: Bag,
    asked: Asked,
    report: Path,
    *,
    result: Result | None = None,
    front: FrontResult | FrontComparison | None = None,
    curve: PriceCurve | None = None,
    sensitivity: Sensitivity | None = None,
    seed: int = 0,
) -> None:
    """Find what else the page shows, and write it: of the result, else of the curve, else of the front."""
    from lpsched.files.writing import write_files
    from lpsched.pipeline import solver_named
    from lpsched.pipeline.overview import overview
    from lpsched.reports.bag_page import front_page, price_page, solve_page

    found = overview(
        bag,
        price=asked.price,
        profit_ratio=asked.profit_ratio,
        power_cap=asked.power_cap,
        deadline=asked.deadline,
        result=result,
        front=front,
        curve=curve,
        sensitivity=sensitivity,
        seed=seed,
        solver=solver_named(asked.solver),
    )
    draw = solve_page if result is not None else price_page if curve is not None else front_page
    write_files({report: draw(found).encode()})
