"""The stages in order: relax, price, recover, verify, report."""

from lpsched.pipeline.certifying import certify
from lpsched.pipeline.exporting import export
from lpsched.pipeline.facilities import facility
from lpsched.pipeline.fronts import front
from lpsched.pipeline.pricing import price_curve
from lpsched.pipeline.sensitivities import sensitivity
from lpsched.pipeline.solvers import solver_named
from lpsched.pipeline.solving import solve
from lpsched.pipeline.what_if import what_if

__all__ = [
    "certify",
    "export",
    "facility",
    "front",
    "price_curve",
    "sensitivity",
    "solve",
    "solver_named",
    "what_if",
]
