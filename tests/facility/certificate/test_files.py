"""Proof files: nothing is lost, and everything wrong is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lpsched.errors import InstanceError
from lpsched.facility.certificate.boxes import OUTLET, Box, Cut, FacilityCertificate, Prices, Step
from lpsched.facility.files import proof_as_dict, proof_of, read_proof, write_proof
from lpsched.io.documents import Document

PRICES = Prices((0.1, 1 / 3), 1e-17, (-1e300, 5e-324), (0.0,), 2.0)
PROOF = FacilityCertificate(
    instance_name="f",
    instance_hash="abc",
    colocation=False,
    bound=1.2,
    floor=0.7,
    boxes=(
        Box((Step("least", 0, PRICES),), Cut(OUTLET, 0, 20.1, 1, 2)),
        Box(prices=PRICES),
        Box((Step("high", 0, PRICES),)),
    ),
    outlets_celsius=(20.5,),
)


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "proof.json"
    write_proof(PROOF, path, "1.0")
    assert read_proof(path) == PROOF
    assert path.read_text().count("\n") < 25  # a box to a line


def test_a_file_of_the_first_format_is_about_the_limits_themselves(tmp_path):
    write_proof(replace(PROOF, granted=False), tmp_path / "old.json", "1.0")
    assert json.loads((tmp_path / "old.json").read_text())["format"] == "lpsched-proof/1"
    assert not read_proof(tmp_path / "old.json").granted
    assert proof_as_dict(PROOF, "1.0")["format"] == "lpsched-proof/2"


def test_without_outlets_there_are_none():
    content = proof_as_dict(PROOF, "1.0") | {"outlets_celsius": None}
    assert proof_of(Document(content), Path("p")).outlets_celsius is None


def broken(change):
    content = json.loads(json.dumps(proof_as_dict(PROOF, "1.0")))
    change(content)
    with pytest.raises(InstanceError) as caught:
        proof_of(Document(content), Path("p.json"))
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(lambda c: c.update(format="lpsched-bag/1"), "expected 'lpsched-proof/2'; use 'lpsched solve' for a bag", id="format"),
        pytest.param(lambda c: c.pop("bound"), "bound: got nothing", id="missing"),
        pytest.param(lambda c: c.update(bound="much"), "bound: got the text 'much', expected a number", id="no-number"),
        pytest.param(lambda c: c.update(colocation=1), "colocation: got 1, expected true or false", id="no-bool"),
        pytest.param(lambda c: c.update(boxes={}), "boxes: got", id="no-list"),
        pytest.param(lambda c: c["boxes"][0]["steps"][0].update(side="up"), "boxes[0].steps[0].side: got the text 'up'", id="side"),
        pytest.param(lambda c: c["boxes"][0]["cut"].update(what=[1]), "boxes[0].cut.what: got", id="cut"),
        pytest.param(lambda c: c["boxes"][1]["prices"].pop("air"), "boxes[1].prices.air: got nothing", id="price"),
        pytest.param(lambda c: c["boxes"][1].update(price=1), "boxes[1].price: got an unknown key", id="unknown"),
        pytest.param(lambda c: c.update(outlets_celsius=["x"]), "outlets_celsius[0]: got the text 'x'", id="outlet"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(change, words):
    assert words in broken(change)


def test_all_faults_come_at_once():
    def change(content):
        content.update(bound=None, floor="x")
        content["boxes"][2]["steps"][0]["prices"]["tasks"][1] = []

    assert "3 errors" in broken(change)


def test_what_is_no_proof_at_all_is_refused():
    with pytest.raises(InstanceError, match="a mapping that begins with 'format: lpsched-proof/2'"):
        proof_of(Document([]), Path("p.json"))
