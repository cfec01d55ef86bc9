"""The answer for a facility: a table in a notebook, and a value that travels."""

from __future__ import annotations

import pickle
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

from lpsched.cli.console import print_tables
from lpsched.facility.solve import facility
from lpsched.generate.facility import facility_of
from lpsched.generate.options import FacilityOptions
from lpsched.model.provenance import Status
from lpsched.report.facility import facility_tables
from tests.paper_facility import paper_facility


@pytest.fixture(scope="module")
def result():
    return facility(paper_facility(), outlets=[20.0])


def test_a_notebook_shows_it_as_a_table(result):
    shown = result._repr_html_()
    assert shown.startswith("<table>")
    assert "proved: no allocation earns more at these outlet temperatures" in shown


def test_it_can_be_pickled(result):
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    assert again.to_dict() == result.to_dict()
    assert again.certificate == result.certificate


def test_value_comes_before_bound_and_the_gap_is_between_them(result):
    rows = [row[0] for row in result.facts()]
    assert rows == ["value", "bound", "gap", "power", "hottest inlet", "core by core"]
    assert result.gap == pytest.approx(1 - result.reward_rate / result.bound)
    near = replace(result, reward_rate=1.2, bound=1.2006, gap=0.04998e-2)
    assert near.facts()[2] == ("gap", "0.04998 %", "Optimal within the gap asked for.")
    assert [row[1] for row in near.facts()[:2]] == ["1.2000 reward/s", "1.2006 reward/s"]
    assert (
        replace(near, status=Status.FEASIBLE).facts()[2][2].startswith("Further from the bound than the gap asked for")
    )


def test_the_hottest_inlet_is_told_with_its_redline(result):
    # At 20 C: P = 280 / 1.5 = 186.67 W, so the inlet is 20 + 186.67 / 400 = 20.467 C, 5.033 K below 25.5 C.
    told = {row[0]: row for row in result.facts()}["hottest inlet"]
    assert told[1] == "20.47 °C"
    assert told[2] == "measured: node 0, 5.03 K under its redline of 25.5 °C"


def test_many_units_are_told_by_their_range():
    options = FacilityOptions(nodes=20, crac_units=13, task_types=2, node_types=1)
    many = facility_of("many", np.random.default_rng(0), options)
    answer = facility(many, outlets=[20.0, *[20.5] * 12])
    out = StringIO()
    print_tables(facility_tables(many, answer), out)
    assert "\n13 CRAC units: outlets 20 to 20.5 °C (--json has all)\n" in out.getvalue()
