"""The stages in order: relax, price, recover, verify, report."""

from lpsched.pipeline.certify import certify
from lpsched.pipeline.export import export
from lpsched.pipeline.front import front
from lpsched.pipeline.price_curve import price_curve
from lpsched.pipeline.solve import solve
from lpsched.pipeline.solvers import solver_named

__all__ = ["certify", "export", "front", "price_curve", "solve", "solver_named"]
