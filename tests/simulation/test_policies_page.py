"""The page on policies: 28 published names, all of them ours, and an own policy that runs."""

from __future__ import annotations

import re

from lpsched.simulation import clusters
from lpsched.simulation.policies.weighted_upe import USUAL as UPE
from lpsched.simulation.policies.weighted_upt import USUAL as UPT
from lpsched.simulation.policies.weighted_util import USUAL as UTIL
from lpsched.simulation.registry import KNOBS, POLICIES, forget, policy
from tests.test_readme import ROOT

PAGE = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (\S[^|]*) \| ([\d.]+) \| `([a-z-]+)(:[KW])?` \| (\w+) \| ([^|]*) \|$", PAGE, flags=re.MULTILINE
)
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_all_published_names_are_in_the_table_and_all_of_ours_are_published():
    assert len(ROWS) == 28
    assert {name for _, _, name, _, _, _ in ROWS} == set(POLICIES.built_in)
    for _, _, name, knob, mode, _ in ROWS:
        assert policy(name).immediate == (mode == "immediate")
        assert bool(knob) == (name in KNOBS)


def test_the_weights_in_the_table_are_those_that_are_taken():
    said = {
        name: re.findall(r"0\.\d+", text)[0] for _, _, name, _, _, text in ROWS if name.startswith("weighted")
    }
    assert said == {"weighted-util": str(UTIL), "weighted-upt": str(UPT), "weighted-upe": str(UPE)}


def test_the_own_policy_of_the_page_maps_a_day(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(BLOCKS[0], {})  # noqa: S102 - our own page
    forget("thrifty")
    assert int(capsys.readouterr().out) == 250  # every task of that day, which never ends


def test_the_policies_for_clusters_are_in_their_table():
    rows = re.findall(r"^\| [^|]* \| III\.[DE] \| `([a-z-]+)` \| [^|]* \|$", PAGE, flags=re.MULTILINE)
    assert rows == list(clusters.registry.POLICIES.built_in)


def test_the_own_policy_of_the_page_places_the_tasks_of_clusters(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(BLOCKS[1], {})  # noqa: S102 - our own page
    clusters.forget("narrow-first")
    assert int(capsys.readouterr().out) > 0
