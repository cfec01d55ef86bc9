"""Bags and days as NSGA-II sees them, for tests that take either."""

from lpsched.evolve.bag_problem import BagProblem
from lpsched.evolve.day_problem import DayProblem
from lpsched.instance import Bag


def problem_of(instance, drop_below=None):
    return BagProblem(instance) if isinstance(instance, Bag) else DayProblem(instance, drop_below)


def pairs_in(instance):
    return problem_of(instance).pairs()
