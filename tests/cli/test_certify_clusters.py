from __future__ import annotations

import json

import pytest

from tests.parallel import sound_clusters, waiting_clusters


@pytest.mark.parametrize(
    ("made", "objective", "claim"),
    [(sound_clusters, "utility", "utility at most "), (waiting_clusters, "waiting", "cost of waiting at least ")],
)
def test_clusters_are_certified_and_their_certificate_verified(lpsched, tmp_path, made, objective, claim):
    clusters, other, proof = (str(tmp_path / name) for name in ("c.json", "other.json", "proof.json"))
    (tmp_path / "c.json").write_text(json.dumps(made()))
    (tmp_path / "other.json").write_text(json.dumps(made(name="other")))
    code, out, _ = lpsched("certify", clusters, "-o", proof, "--time-limit", "1")
    assert code == 0
    assert out.startswith(f"{proof}: {claim}")
    code, answer, _ = lpsched("verify", clusters, proof, "--json")
    assert code == 0
    checked = answer["files"][0]
    assert (checked["kind"], checked["objective"]) == ("certificate", objective)
    assert checked["proved"] <= checked["claimed"]
    code, out, _ = lpsched("verify", other, proof)
    assert code == 1
    assert "it is about other clusters" in out


def test_options_of_a_bag_are_refused_for_clusters(lpsched, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(sound_clusters()))
    proof = str(tmp_path / "proof.json")
    _, _, err = lpsched("certify", str(tmp_path / "c.json"), "-o", proof, "--price", "3")
    assert "--price: got the option for clusters, expected a bag; leave it out" in err
