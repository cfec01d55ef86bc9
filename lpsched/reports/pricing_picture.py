"""A pricing study in one picture: the most profit at every price, and below what it depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.files.pictures import drawing_style
from lpsched.reports.pictures import blank_picture
from lpsched.reports.price_picture import INCHES, draw_price
from lpsched.reports.sensitivity_picture import draw_sensitivity, sensitivity_inches

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lpsched.result.price_curve import PriceCurve
    from lpsched.result.sensitivity import Sensitivity


def pricing_picture(curve: PriceCurve, sensitivity: Sensitivity) -> Figure:
    """Draw a price curve; where a price is known, also what electricity may cost and which machines pay.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        heights = INCHES, sensitivity_inches(sensitivity)
        figure = blank_picture(sum(heights))
        if not heights[1]:
            draw_price(figure, curve)
            return figure
        above, below = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)[:, 0]
        draw_price(above, curve)
        draw_sensitivity(below, sensitivity)
        return figure
