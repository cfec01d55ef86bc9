"""Days as they happen: an engine that owns the clock and the truth, and policies that only answer.

`register` makes a function of one's own a policy; see `online/policies.py`. `Draft` helps to write one.
"""

from lpsched.online.policies import forget, names, policy, register
from lpsched.online.simulate.state import Assignment, Assignments, Draft, State

__all__ = ["Assignment", "Assignments", "Draft", "State", "forget", "names", "policy", "register"]
