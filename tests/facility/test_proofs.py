"""From what a search remembers to a proof: nothing is lost on the way, and nothing is won."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.facility.air import facility_arrays, heat_map
from lpsched.facility.certificate.boxes import HEAT, Cut, check
from lpsched.facility.outlets.search import RecordedBox, Tightening, best_outlets
from lpsched.facility.solve import proof_of
from lpsched.lp.solvers import HighsSolver
from tests.paper_facility import paper_facility
from tests.property.tiny_facilities import tiny_facility


def searched(facility, **options):
    arrays, heat = facility_arrays(facility), heat_map(facility)
    return arrays, heat, best_outlets(arrays, heat, solver=HighsSolver(), cancel=CancelToken(3.0), **options)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("narrows", [True, False])
def test_what_the_search_says_is_what_its_record_proves(monkeypatch, seed, narrows):
    if not narrows:  # so that boxes are cut
        monkeypatch.setattr(Tightening, "run", lambda self, *_: self.box)
    facility = paper_facility() if seed == 0 else tiny_facility(np.random.default_rng(seed))
    arrays, heat, answer = searched(facility, gap=1e-3)
    certificate = proof_of(facility, arrays, heat, answer, colocation=True)
    assert answer.bound == pytest.approx(certificate.bound, rel=1e-6)
    assert check(facility, certificate).accepted


def test_a_cut_of_the_heat_is_told_in_watts():
    facility = paper_facility()
    arrays, heat, answer = searched(facility, gap=1e-2)
    whole = answer.record[0]
    halves = RecordedBox(prices=whole.prices), RecordedBox(prices=whole.prices)
    record = (RecordedBox(whole.steps, cut=(True, 0, 0.15, 1, 2)), *halves)  # at 0.15 kilowatts
    certificate = proof_of(facility, arrays, heat, replace(answer, record=record), colocation=True)
    assert certificate.boxes[0].cut == Cut(HEAT, 0, 150.0, 1, 2)
    assert check(facility, certificate).accepted
