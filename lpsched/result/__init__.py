"""Answers: typed, immutable, built after verification; each shows itself as a table in a notebook."""

from lpsched.result.solve import Result, Status, Worth, relative_gap

__all__ = ["Result", "Status", "Worth", "relative_gap"]
