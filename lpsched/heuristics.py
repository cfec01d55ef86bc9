"""Other people's rules of thumb, to be judged by the bounds: an instance in, a schedule out.

`register` makes a function of one's own one of them; see `bag/heuristics.py`.
"""

from lpsched.bag.heuristics import Heuristic, forget, heuristic, names, register

__all__ = ["Heuristic", "forget", "heuristic", "names", "register"]
