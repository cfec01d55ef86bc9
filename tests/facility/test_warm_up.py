"""After warming up nothing is left to compile, whatever the facility."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lpsched import jit as compiled
from lpsched.errors import MissingExtraError
from lpsched.facility.cooling_repair import node_watts, repair
from lpsched.facility.genes import reward_rate, set_at_random
from lpsched.facility.genetic import Breeder, warm_up
from lpsched.facility.model import facility_from_dict
from tests.facilities import SOUND
from tests.paper_facility import paper_facility

KERNELS: tuple[Any, ...] = (repair, reward_rate, set_at_random, node_watts)


def test_other_facilities_need_no_other_code():
    warm_up()
    known = [len(kernel.signatures) for kernel in KERNELS]
    assert known == [1, 1, 1, 1]
    for facility in (paper_facility(nodes=2, cap=600.0), facility_from_dict(SOUND)):
        for colocation in (True, False):
            breeder = Breeder(facility, np.random.default_rng(1), colocation=colocation)
            found = breeder.at_random()
            breeder.children(found, breeder.at_random())
            assert breeder.keeps_limits(found.fractions, found.states, found.outlets)
    assert [len(kernel.signatures) for kernel in KERNELS] == [1, 1, 1, 1]


def test_without_the_compiler_it_is_told(monkeypatch):
    monkeypatch.setattr(compiled, "numba", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'evolve'"):
        warm_up()
