"""What docs/guides/serve.md shows and says is so: its client, its command, its options and limits."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import lpsched
from lpsched.cli.main import app
from lpsched.serve.operations import OPERATIONS
from lpsched.serve.settings import Settings

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "serve.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```text\n(.*?)```", GUIDE, flags=re.DOTALL)
ADDRESS = "http://127.0.0.1:8765/"


def test_the_client_in_python_prints_values_and_bounds_of_the_library(server):
    (client,) = (block for block in BLOCKS if block.startswith("import json"))
    done = subprocess.run(
        [sys.executable, "-c", client.replace(ADDRESS, server.url)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    bag = lpsched.read(ROOT / "instances" / "tiny.yaml")
    expected = []
    for fast in (1, 2, 3):
        machines = (bag.machine_types[0].model_copy(update={"count": fast}), bag.machine_types[1])
        found = lpsched.solve(bag.model_copy(update={"machine_types": machines}), effort="balanced")
        expected.append(f"{fast} {found.value} {found.bound} {found.unit}")
    assert done.stdout.splitlines() == expected


def test_the_command_of_curl_prints_what_is_shown(server):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    (block,) = (block for block in BLOCKS if block.startswith("$ curl"))
    command, shown = block.removeprefix("$ ").splitlines()
    done = subprocess.run(
        shlex.split(command.replace(ADDRESS, server.url)),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    place = 0
    for part in shown.split("..."):  # in this order
        place = done.stdout.index(part.strip(" ,"), place) + len(part.strip(" ,"))


def test_every_operation_and_every_option_that_limits_is_in_the_tables():
    for name in OPERATIONS:
        assert f"/v1/{name}`" in GUIDE
    (command,) = (each for each in app.registered_commands if each.callback.__name__ == "serve")
    assert command.callback is not None
    limits = re.findall(r"`(--[a-z-]+)` \|", GUIDE)
    assert len(limits) == 6
    for option in limits:
        assert option.removeprefix("--").replace("-", "_") in command.callback.__annotations__


def test_the_defaults_of_the_tables_are_those_of_the_server():
    usual = Settings()
    assert {field.name for field in fields(usual)} >= {"body_megabytes", "pairs"}
    rows = {
        row[0].strip(): row[2].strip()
        for row in (line.strip("| ").split("|") for line in GUIDE.splitlines())
        if len(row) == 4
    }
    assert rows["bytes of a body"] == f"{usual.body_megabytes:g} MB"
    assert rows["pairs of task and machine types"] == f"{usual.pairs:,}"
    assert rows["requests that wait"] == f"{usual.queue}, and {usual.queue_megabytes:g} MB"
    assert rows["time of a request"] == f"{usual.seconds / 60:g} min"
    assert rows["memory of a worker (Linux)"] == f"{usual.memory_megabytes:,} MB"
    assert rows["requests of a client in a minute"] == f"{usual.rate:,}"
    assert rows["connections"] == f"{usual.connections}"
    assert f"{usual.kept_jobs:,} jobs" in GUIDE.replace("\n", " ")
