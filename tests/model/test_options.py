from __future__ import annotations

import pytest

from lpsched.errors import InstanceError
from lpsched.model.risk import RiskOptions, written


def test_a_text_is_read_and_what_it_leaves_out_has_its_default():
    assert RiskOptions.read("samples=1000,cov=0.3") == RiskOptions(samples=1000, cov=0.3)
    assert RiskOptions.read("") == RiskOptions(1000, 0.3, None, (5.0, 25.0, 50.0, 75.0, 95.0))
    read = RiskOptions.read(" samples = 1e3 , cov=0.1-1.5, power-cov=0,percentiles=5/50/99.9 ")
    assert read == RiskOptions(1000, (0.1, 1.5), 0.0, (5.0, 50.0, 99.9))


@pytest.mark.parametrize(
    ("text", "cov"), [("1e-3-0.5", (1e-3, 0.5)), ("1e-3", 1e-3), ("1E-3-5E-1", (1e-3, 0.5)), ("0.2-0.2", (0.2, 0.2))]
)
def test_a_range_may_have_exponents(text, cov):
    assert RiskOptions.read(f"cov={text}").cov == cov


def test_powers_scatter_as_times_do_unless_they_are_named():
    assert RiskOptions(cov=(0.1, 0.2)).powers == (0.1, 0.2)
    assert RiskOptions(cov=0.3, power_cov=0.0).powers == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sample=3", "sample: got an unknown key, expected one of samples, cov, power-cov, percentiles; correct it"),
        ("percentile=5", "percentile: got an unknown key"),
        ("samples", "samples: got no value, expected samples=...; give one"),
        ("cov=0.1,cov=0.2", "cov: got two values, expected one; leave one out"),
        ("samples=2.5", "samples: got '2.5', expected a whole number; correct it"),
        ("samples=1", "samples: got 1, expected a whole number from 2 to 10,000,000; 1000 is enough for most"),
        ("samples=nan", "samples: got 'nan', expected a whole number"),
        (
            "cov=x",
            "cov: got 'x', expected a number from 0 (certain) to 5, two of them as a range, or 'file'; correct it",
        ),
        ("cov=-1", "cov: got -1, expected a number from 0"),
        ("cov=1.5-0.1", "cov: got 1.5-0.1, expected"),
        ("power-cov=6", "power-cov: got 6, expected"),
        ("cov=inf", "cov: got 'inf', expected"),
        ("percentiles=5/x", "percentiles: got '5/x', expected numbers with slashes, as in 5/50/95; correct it"),
        ("percentiles=101", "percentiles: got 101, expected numbers from 0 to 100; correct it"),
    ],
)
def test_what_cannot_be_sampled_is_refused_with_the_reason(text, message):
    with pytest.raises(InstanceError) as refused:
        RiskOptions.read(text)
    assert message in str(refused.value)


def test_all_faults_are_told_at_once():
    with pytest.raises(InstanceError) as refused:
        RiskOptions.read("foo=1,samples=x,cov=y")
    assert [issue.location for issue in refused.value.issues] == ["foo", "samples", "cov"]


def test_a_front_may_be_ranked_by_a_percentile_above_0():
    assert RiskOptions.read("percentile=50", ranks=True).percentile == 50.0
    with pytest.raises(InstanceError, match="percentile: got 0, expected a number above 0, up to 100"):
        RiskOptions.read("percentile=0", ranks=True)


def test_a_cov_is_written_as_it_is_read():
    assert written(RiskOptions.read("cov=0.1-1.5").cov) == "0.1-1.5"
