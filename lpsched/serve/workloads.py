"""Workloads that the page offers: the files of the command line, and examples; and their answers for `/metrics`."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lpsched.bag.files import as_dict
from lpsched.bag.model import Bag
from lpsched.errors import InputIssue, InstanceError, LpschedError, LpschedWarning
from lpsched.instances import read_with_kind
from lpsched.io.documents import read_document, read_yaml
from lpsched.io.instance_files import yaml_text
from lpsched.io.templates import template

TEMPLATE, GENERATED = "template", "generated-30x9"
EXAMPLES: Final = {  # names, and what they are; those in no function are instances of a checkout
    "ai-service": "An AI service on three kinds of accelerators",
    "zeus-34x4": "34 trainings on four GPU types, measured (Zeus)",
    GENERATED: "30 task types on 9 machine types, generated",
    TEMPLATE: "A small workload file with every key explained",
}
INSTANCES: Final = Path(__file__).parents[2] / "instances"
MOST_TEXT: Final = 2**20  # bytes of a file that is shown as it is, with its comments


@dataclass(slots=True)
class Workload:
    """A bag with a name, as the page opens it."""

    name: str
    bag: Bag
    text: str  # YAML
    path: Path | None = None
    files: tuple[Path, ...] = ()  # its own, and those that it names
    changed: tuple[int, ...] = ()  # when they were last changed, in nanoseconds
    is_current: bool = True  # whether the bag is what its file says now
    is_measured: bool = False  # whether its numbers are being found
    measuring: asyncio.Future[None] | None = None  # by this

    @classmethod
    def read(cls, path: Path) -> Workload:
        """Read a file with the files that it names; the text is its own where that says everything."""
        files = (path, *(path.parent / name for name in _named_in(read_document(path).value)))
        changed = _changed(files)
        bag, _ = read_with_kind(path, ("bag",))
        text = yaml_text(as_dict(bag))
        if path.suffix.lower() in {".yaml", ".yml"} and path.stat().st_size <= MOST_TEXT:
            own = path.read_text(encoding="utf-8-sig")
            if _says_everything(own, bag):
                text = own
        return cls(bag.name, bag, text, path, files, changed)

    def to_dict(self) -> dict[str, Any]:
        """Return the workload as it appears in JSON; the keys are stable."""
        return {
            "format": "lpsched-workload/1",
            "name": self.name,
            "kind": "bag",
            "document": as_dict(self.bag),
            "yaml": self.text,
        }

    def request(self) -> bytes:
        """Return the request of its answer for `/metrics`."""
        return json.dumps({"bag": as_dict(self.bag), "effort": "balanced", "marginals": "lp"}).encode()

    def update(self) -> bool:
        """Read the file again if it was changed, and is valid; return whether it was."""
        if self.path is None:
            return False
        try:
            if _changed(self.files) == self.changed:
                return False
            fresh = Workload.read(self.path)
        except (OSError, LpschedError):  # it is being written, or is wrong: the last valid one stays
            self.is_current, self.changed = False, ()
            return False
        self.bag, self.text, self.is_current = fresh.bag, fresh.text, True
        self.files, self.changed = fresh.files, fresh.changed
        return True


def _changed(files: Iterable[Path]) -> tuple[int, ...]:
    """Return when files were last changed; -1 for one that is not there."""
    return tuple(file.stat().st_mtime_ns if file.is_file() else -1 for file in files)


def _named_in(value: object) -> Iterator[str]:
    """Yield the names of files in a document: values of the key `file`."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and isinstance(value.get("file"), str):
        yield value["file"]
    for each in inner:
        if isinstance(each, dict | list):
            yield from _named_in(each)


def _says_everything(text: str, bag: Bag) -> bool:
    """Return whether a text by itself, without other files, is this bag."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LpschedWarning)
            found = Bag.read(read_yaml(Path(bag.name), text).value)
    except LpschedError:
        return False
    return found.content_hash == bag.content_hash


def example(name: str) -> Workload | None:
    """Return an example, if it is there."""
    if name == TEMPLATE:
        text = template("bag")
        return Workload(name, Bag.read(read_yaml(Path(name), text).value), text)
    if name == GENERATED:
        return _generated()
    path = INSTANCES / f"{name}.yaml"
    if name not in EXAMPLES or not path.is_file():
        return None
    made = Workload.read(path)
    made.path = None
    return made


def _generated() -> Workload:
    import numpy as np

    from lpsched.bag.parts import Prices
    from lpsched.generate.bags import cov_bag
    from lpsched.generate.options import CovOptions

    plain = cov_bag(GENERATED, np.random.default_rng(0), CovOptions(task_types=30))
    bag = plain.model_copy(update={"prices": Prices(per_bag=60.0, electricity_per_kwh=0.12)})
    return Workload(GENERATED, bag, yaml_text(as_dict(bag)))


def available_examples() -> list[dict[str, str]]:
    """Return the names and titles of the examples that are there."""
    made = (TEMPLATE, GENERATED)
    there = [name for name in EXAMPLES if name in made or (INSTANCES / f"{name}.yaml").is_file()]
    return [{"name": name, "title": EXAMPLES[name]} for name in there]


def read_workloads(paths: list[Path]) -> list[Workload]:
    """Read the files of the command line; two must not have the same name."""
    found: dict[str, Workload] = {}
    for path in paths:
        made = Workload.read(path)
        if made.name in found:
            issue = InputIssue(("name",), f"{made.name!r} once more", "a name of its own", "rename one")
            raise InstanceError(str(path), (issue,))
        found[made.name] = made
    return list(found.values())
