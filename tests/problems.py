"""Bags and days as NSGA-II sees them, for tests that take either."""

from lpsched.bag.evolve import BagProblem
from lpsched.bag.model import Bag
from lpsched.online.evolve import DayProblem


def problem_of(instance, drop_below=None):
    return BagProblem(instance) if isinstance(instance, Bag) else DayProblem(instance, drop_below)


def pairs_in(instance):
    return problem_of(instance).pairs()
