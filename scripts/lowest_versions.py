"""Prints the lowest version of every package that pyproject.toml allows, as constraints of pip."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parent.parent / "pyproject.toml"
LOWEST: Final = re.compile(r"([\w.-]+)>=([\w.]+)")


def lowest_versions(text: str) -> list[str]:
    r"""Return a constraint for each package of a project, in order of the alphabet.

    >>> lowest_versions('[project]\ndependencies = ["rich>=14", "typer>=0.29,<0.40"]')
    ['rich==14', 'typer==0.29']
    """
    project = tomllib.loads(text)["project"]
    named = [*project["dependencies"], *chain(*project.get("optional-dependencies", {}).values())]
    return sorted({"==".join(found.groups()) for each in named if (found := LOWEST.match(each))})


if __name__ == "__main__":
    print("\n".join(lowest_versions(PROJECT.read_text(encoding="utf-8"))))
