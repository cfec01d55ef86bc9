"""The stages in order: relax, price, recover, verify, report."""

from lpsched.pipeline.solve import solve

__all__ = ["solve"]
