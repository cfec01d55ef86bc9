"""The page on clusters: its file is sound, its command prints what it says, its Python runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lpsched.files.clusters import read_clusters
from lpsched.instance.cluster_door import KEYS
from lpsched.instance.cluster_rows import COLUMNS
from lpsched.instance.clusters import Run
from lpsched.instance.waiting import WaitingCost
from tests.test_readme import ROOT, parts, run

PAGE = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
FILE, WAITING = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
((COMMAND, PRINTED),) = parts(*re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL))


@pytest.fixture
def lab(tmp_path):
    path = tmp_path / "lab.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_the_file_says_what_the_page_says_of_it(lab):
    clusters = read_clusters(lab)
    assert clusters.runs(0, 16) == (Run(4, 200.0, 400.0), Run(1, 300.0, 400.0), Run(1, 500.0, 250.0))
    assert [run is not None and run.nodes for run in clusters.runs(1, 17)] == [False, 2, 2]
    assert clusters.seconds.at(0, 0, 5) == 180.0
    third = clusters.kinds[2]
    assert (clusters.seconds_of(third, 0), clusters.requested_seconds_of(third, 0)) == (400.0, 1600.0)


def test_the_command_prints_what_the_page_says(lab):
    assert run(COMMAND, lab.parent) == PRINTED


def test_the_page_tells_the_defaults_of_waiting():
    assert WaitingCost(**yaml.safe_load(WAITING)["waiting"]) == WaitingCost()


def test_the_page_tells_every_key_and_column():
    for word in (*KEYS, *COLUMNS):
        assert f"`{word}`" in PAGE, word


def test_the_python_of_the_page_runs(tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "(Run(nodes=128, seconds=1.0, watts=None),)\n"
    assert Path(tmp_path / "log.yaml").exists()
