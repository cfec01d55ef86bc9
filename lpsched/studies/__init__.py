"""Declared studies: every combination of instances, methods, parameters and seeds is one run."""

from lpsched.studies.lines import read_runs
from lpsched.studies.running import run_study

__all__ = ["read_runs", "run_study"]
