"""What an answer came from, so that it can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Provenance:
    """The program, the solver and the instance."""

    lpsched: str
    solver: str
    instance_name: str
    instance_hash: str

    def header(self, kind: str) -> dict[str, Any]:
        """Return the keys that every JSON answer begins with."""
        return {
            "format": kind,
            "lpsched": self.lpsched,
            "solver": self.solver,
            "instance": {"name": self.instance_name, "hash": self.instance_hash},
        }


class Named(Protocol):
    """An instance of any kind."""

    @property
    def name(self) -> str:
        """What its file calls it."""

    @property
    def content_hash(self) -> str:
        """The SHA-256 of everything it says."""


def provenance_of(instance: Named, solver: str) -> Provenance:
    """Return where an answer about this instance comes from."""
    return Provenance(version_of_lpsched(), solver, instance.name, instance.content_hash)


@cache
def version_of_lpsched() -> str:
    """Return the version that is installed; finding it reads a file."""
    return version("lpsched")
