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
        ("sample=3", "sample: found an unknown key, needs one of samples, cov, power-cov, percentiles; correct it"),
        ("percentile=5", "percentile: found an unknown key"),
        ("samples", "samples: found no value, needs samples=...; give one"),
        ("cov=0.1,cov=0.2", "cov: found two values, needs one; leave one out"),
        ("samples=2.5", "samples: found '2.5', needs a whole number; correct it"),
        ("samples=1", "samples: found 1, needs a whole number from 2 to 10,000,000; 1000 is enough for most"),
        ("samples=nan", "samples: found 'nan', needs a whole number"),
        ("cov=x", "cov: found 'x', needs a number from 0 (certain) to 5, or two of them as a range; correct it"),
        ("cov=-1", "cov: found -1, needs a number from 0"),
        ("cov=1.5-0.1", "cov: found 1.5-0.1, needs"),
        ("power-cov=6", "power-cov: found 6, needs"),
        ("cov=inf", "cov: found 'inf', needs"),
        ("percentiles=5/x", "percentiles: found '5/x', needs numbers with slashes, as in 5/50/95; correct it"),
        ("percentiles=101", "percentiles: found 101, needs numbers from 0 to 100; correct it"),
    ],
)
def test_what_cannot_be_sampled_is_refused_with_the_reason(text, message):
    with pytest.raises(InstanceError) as refused:
        RiskOptions.read(text)
    assert message in str(refused.value)


def test_all_faults_are_told_at_once():
    with pytest.raises(InstanceError) as refused:
        RiskOptions.read("foo=1,samples=x,cov=y")
    assert [fault.where for fault in refused.value.faults] == ["foo", "samples", "cov"]


def test_a_front_may_be_ranked_by_a_percentile_above_0():
    assert RiskOptions.read("percentile=50", ranks=True).percentile == 50.0
    with pytest.raises(InstanceError, match="percentile: found 0, needs a number above 0, up to 100"):
        RiskOptions.read("percentile=0", ranks=True)


def test_a_cov_is_written_as_it_is_read():
    assert written(RiskOptions.read("cov=0.1-1.5").cov) == "0.1-1.5"
