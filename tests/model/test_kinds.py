from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from lpsched.cli.options import Kind as Choice
from lpsched.instances import read_with_kind
from lpsched.io.templates import template
from lpsched.model.kinds import HINTS, INSTANCES, KINDS, Kind, format_of, kind_of, kinds_with, name_of, size_of
from lpsched.online.day import Day
from tests.test_architecture import EXAMPLES, PACKAGE

WORDS = {"name", "phrase", "command", "size"}
PLACES = [(kind, each.name) for kind in KINDS.values() for each in fields(Kind) if each.name not in WORDS]


@pytest.mark.parametrize(("kind", "what"), PLACES, ids=[f"{kind.name}-{what}" for kind, what in PLACES])
def test_every_place_that_a_kind_names_is_there(kind, what):
    if getattr(kind, what):
        assert kind.load(what) is not None


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_has_the_name_that_its_format_and_its_template_have(kind):
    assert name_of(kind.load("model").FORMAT) == kind.name
    assert template(kind.name).count(f"format: {kind.load('model').FORMAT}") == 1
    assert kind.command in HINTS[f"lpsched-{kind.name}"]


def test_the_command_line_offers_the_kinds_that_there_are():
    assert list(get_args(Choice)) == list(KINDS)


@pytest.mark.parametrize("name", INSTANCES)
def test_an_instance_is_of_the_kind_that_its_file_names(name):
    read, kind = read_with_kind(PACKAGE.parent / EXAMPLES[name])
    assert kind_of(read) is kind is KINDS[name]


def test_a_class_that_extends_an_instance_is_of_its_kind():
    class Mine(Day):
        pass

    assert kind_of(Mine.__new__(Mine)) is KINDS["day"]


@pytest.mark.parametrize("content", [None, [], {}, {"format": 5}, {"format": None}])
def test_what_names_no_format_has_none(content):
    assert format_of(content) is None


def test_what_can_be_shown_is_more_than_instances():
    assert set(kinds_with("show")) - set(INSTANCES) == {"bench", "measurements"}


def test_the_size_of_a_bag_counts_its_lists():
    read, _ = read_with_kind(PACKAGE.parent / EXAMPLES["bag"])
    types = f"{len(read.task_types)} task types, {len(read.machine_types)} machine types"
    assert size_of(read) == f"{read.tasks} tasks on {read.machines} machines ({types})"
