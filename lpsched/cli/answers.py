"""What every JSON answer about a bag begins with, and what every written bag is answered with."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lpsched.cli.talk import Talk
    from lpsched.files.bags import TableForm
    from lpsched.instance import Bag


def header(kind: str, bag: Bag) -> dict[str, Any]:
    """Return the keys that every JSON answer has."""
    return {
        "format": kind,
        "lpsched": version("lpsched"),
        "instance": {"name": bag.name, "hash": bag.content_hash},
    }


def write_and_tell(talk: Talk, bag: Bag, path: Path, form: TableForm | None, **more: object) -> None:
    """Write a bag and say which files now hold it."""
    from lpsched.files.bags import write_bag

    files = [str(file) for file in write_bag(bag, path, form=form)]
    kinds = f"{len(bag.task_types):,} task types, {len(bag.machine_types):,} machine types"
    text = f"{path}: {bag.tasks:,} tasks on {bag.machines:,} machines ({kinds})\n"
    text += "".join(f"{file}: its tables\n" for file in files[:-1])
    talk.answer(header("lpsched-written/1", bag) | {"files": files} | more, text=text)
