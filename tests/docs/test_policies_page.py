"""The page on policies: 28 published names, all of them ours."""

from __future__ import annotations

import re

from lpsched.online.cluster_policies import POLICIES as CLUSTER_POLICIES
from lpsched.online.policies import KNOBS, POLICIES, policy
from lpsched.online.policies import UPE_USUAL as UPE
from lpsched.online.policies import UPT_USUAL as UPT
from lpsched.online.policies import UTIL_USUAL as UTIL
from tests.docs.pages import PAGES

PAGE = PAGES["docs/guides/policies.md"].text
ROWS = re.findall(r"^\| (\S[^|]*) \| ([\d.]+) \| `([a-z-]+)(:[KW])?` \| (\w+) \| ([^|]*) \|$", PAGE, flags=re.MULTILINE)


def test_all_published_names_are_in_the_table_and_all_of_ours_are_published():
    assert len(ROWS) == 28
    assert {name for _, _, name, _, _, _ in ROWS} == set(POLICIES.built_in)
    for _, _, name, knob, mode, _ in ROWS:
        assert policy(name).immediate == (mode == "immediate")
        assert bool(knob) == (name in KNOBS)


def test_the_weights_in_the_table_are_those_that_are_taken():
    said = {name: re.findall(r"0\.\d+", text)[0] for _, _, name, _, _, text in ROWS if name.startswith("weighted")}
    assert said == {"weighted-util": str(UTIL), "weighted-upt": str(UPT), "weighted-upe": str(UPE)}


def test_the_policies_for_clusters_are_in_their_table():
    textbook = re.findall(
        r"^\| `([a-z-]+)` \| [^|]* \| [^|]*\|$", PAGE.partition("## Policies for clusters")[2], flags=re.MULTILINE
    )
    rows = re.findall(r"^\| [^|]* \| III\.[DE] \| `([a-z-]+)` \| [^|]* \|$", PAGE, flags=re.MULTILINE)
    assert textbook == ["fcfs", "sjf", "easy", "conservative"]
    assert sorted([*textbook, *rows]) == sorted(CLUSTER_POLICIES.built_in)
