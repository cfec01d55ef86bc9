"""What `lpsched new` writes: a commented example of each kind of file, as package data."""

from __future__ import annotations

from importlib.resources import files


def template(kind: str) -> str:
    """Return the template of a kind of file: bag, facility, day, clusters, study, bench or measurements."""
    return files(__name__).joinpath(f"{kind}.yaml").read_text(encoding="utf-8")
