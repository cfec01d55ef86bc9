"""Days as they happen: an engine that owns the clock and the truth, and policies that only answer.

`register` makes a function of one's own a policy; see `online/policies.py`. `PartialSchedule` helps to write one.
"""

from lpsched.online.policies import forget, names, policy, register
from lpsched.online.simulate.state import Assignment, Assignments, PartialSchedule, State

Draft = PartialSchedule  # its former name
__all__ = ["Assignment", "Assignments", "Draft", "PartialSchedule", "State", "forget", "names", "policy", "register"]
