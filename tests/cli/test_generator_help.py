"""The defaults that the help of generators shows are the ones that are used."""

from __future__ import annotations

import json
import re

import pytest

from lpsched.generate.options import (
    PLATFORMS,
    CovOptions,
    EsscOptions,
    FacilityOptions,
    GrowOptions,
    MachovecOptions,
    Options,
)

CLASSES: dict[str, type[Options]] = {
    "bag": CovOptions,
    "day": EsscOptions,
    "clusters": MachovecOptions,
    "facility": FacilityOptions,
}
MADE = {"bag": [], "day": ["--tasks", "50"], "clusters": ["--tasks", "50"], "facility": []}
NOT_OPTIONS = {"bag": {"special_task_types"}, "day": {"tasks"}, "clusters": set(), "facility": {"rack"}}


@pytest.fixture
def shown(lpsched):
    """The defaults that a generator's help shows, by option."""

    def read(kind):
        words = " ".join(lpsched("generate", kind, "--help")[1].split())
        options = re.split(r" (?=--[a-z])", words)
        found = [(re.match(r"--([a-z-]+)", each), re.search(r"\[default: (.*?)\]", each)) for each in options]
        return {name[1].replace("-", "_"): default[1] for name, default in found if name and default}

    return read


@pytest.mark.parametrize("kind", CLASSES)
def test_help_shows_the_default_of_every_option_of_the_class(shown, kind):
    said = shown(kind)
    with_default = {
        name: field.default
        for name, field in CLASSES[kind].model_fields.items()
        if not field.is_required() and name not in NOT_OPTIONS[kind]
    }
    assert set(with_default) <= set(said)
    for name, default in with_default.items():
        if isinstance(default, tuple) and default:
            assert tuple(map(int, said[name].split(","))) == default
        elif isinstance(default, int | float):
            assert float(said[name].partition(";")[0]) == default
        elif isinstance(default, str):
            assert said[name] == default


def test_help_shows_what_differs_when_a_bag_is_grown(shown):
    said = shown("bag")
    grown = {name: text.partition("; grow: ")[2] for name, text in said.items() if "grow" in text}
    differs = {
        name: str(field.default)
        for name, field in GrowOptions.model_fields.items()
        if field.default is not None and field.default != getattr(CovOptions(), name)
    }
    assert grown == differs


def test_help_shows_the_sizes_of_all_platforms(shown):
    said = shown("facility")
    for name in ("nodes", "crac_units", "task_types", "node_types"):
        sizes = dict(each.split() for each in said[name].split(", "))
        assert sizes == {platform: str(getattr(options, name)) for platform, options in PLATFORMS.items()}


@pytest.mark.parametrize("kind", CLASSES)
def test_typing_the_defaults_changes_nothing(lpsched, shown, tmp_path, kind):
    typed = []
    for name, text in shown(kind).items():
        value = text.partition(";")[0]
        if kind == "facility" and value.startswith("small "):
            value = value.split(", ")[0].removeprefix("small ")
        if value != "none" and not value.startswith("drawn") and name not in {"tasks", "method", "platform"}:
            typed += [f"--{name.replace('_', '-')}", value]
    assert len(typed) >= 12
    made_of = []
    for number, options in enumerate(([], typed)):
        path = tmp_path / f"{number}.json"
        made = ["--seed", "1", "--name", "same", "-o", str(path), "--tables", "names"]
        assert lpsched("generate", kind, *made, *MADE[kind], *options)[0] == 0
        content = json.loads(path.read_text().replace(path.name, "this"))
        made_of.append({key: value for key, value in content.items() if key != "made_by"})
    assert made_of[0] == made_of[1]
