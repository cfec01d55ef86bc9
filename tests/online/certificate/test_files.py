from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from lpsched.errors import InstanceError
from lpsched.io.documents import Document
from lpsched.model.answers import checksum
from lpsched.model.fields import FrozenDict
from lpsched.online.certificate.claim import DayCertificate, of_clusters
from lpsched.online.files import certificate_as_dict, day_certificate_of, write_day_certificate

MADE = DayCertificate(
    "two", "abc", Fraction(33, 4), (Fraction(0), Fraction(50)), FrozenDict({"cpu": (Fraction(0.1),)}), Fraction(0)
)


def test_what_is_written_is_read_again_exactly(tmp_path):
    write_day_certificate(MADE, tmp_path / "proof.json", "1.0")
    content = json.loads((tmp_path / "proof.json").read_text())
    assert content["claim"] == {"objective": "utility", "bound": "8.25"}
    assert day_certificate_of(Document(content), Path("proof.json")) == MADE


@pytest.mark.parametrize("objective", ["utility", "waiting"])
def test_a_certificate_of_clusters_is_read_again_exactly(tmp_path, objective):
    made = of_clusters(replace(MADE, bound=Fraction(-33, 4)), objective)
    write_day_certificate(made, tmp_path / "proof.json", "1.0")
    content = json.loads((tmp_path / "proof.json").read_text())
    assert content["format"] == "lpsched-clusters-certificate/1"
    assert content["claim"] == {"objective": objective, "bound": "-8.25"}
    assert list(content["multipliers"]["clusters"]) == ["cpu"]
    assert day_certificate_of(Document(content), Path("proof.json")) == made


def changed(*path, value, sealed=True):
    content = certificate_as_dict(MADE, "1.0")
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if sealed:
        content["checksum"] = checksum(content)
    return content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param([], "got a list of 0, expected a mapping", id="no-mapping"),
        pytest.param({}, "expected the key 'claim'", id="empty"),
        pytest.param(
            changed("format", value="lpsched-certificate/1"), "expected 'lpsched-day-certificate/1'", id="of-a-bag"
        ),
        pytest.param(changed("claim", "bound", value="9", sealed=False), "the file was changed", id="changed"),
        pytest.param(changed("claim", "objective", value="waiting"), "expected one of utility;", id="objective"),
        pytest.param(
            changed("claim", "bound", value=9.0), "claim.bound: got 9.0, expected an exact decimal", id="no-text"
        ),
        pytest.param(changed("multipliers", "edges_seconds", value="0"), "a list of exact decimals", id="no-list"),
        pytest.param(changed("multipliers", "edges_seconds", value=["0", "x"]), "edges_seconds.1", id="no-number"),
        pytest.param(changed("multipliers", "machine_types", value=[]), "a mapping from machine types", id="no-types"),
        pytest.param(changed("multipliers", "machine_types", value={"cpu": ["nan"]}), "machine_types.cpu.0", id="nan"),
    ],
)
def test_what_is_no_certificate_is_refused_with_the_place(content, words):
    with pytest.raises(InstanceError) as refused:
        day_certificate_of(Document(content), Path("proof.json"))
    assert words in str(refused.value).replace("[", ".").replace("]", "")
