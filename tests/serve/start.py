"""Start a server with settings that are no options of the command: `python -m tests.serve.start JSON`."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from lpsched.serve.server import serve
from lpsched.serve.settings import Settings


def main(given: str) -> None:
    """Set constants (`module.NAME`), then serve; the address is a JSON object on stdout."""
    asked = json.loads(given)
    for place, value in asked["constants"].items():
        module, _, name = place.rpartition(".")
        found = importlib.import_module(f"lpsched.serve.{module}")
        assert hasattr(found, name), place
        setattr(found, name, value)
    settings = {"port": 0, "workers": 1} | asked["settings"]
    if "folder" in settings:
        settings["folder"] = Path(settings["folder"])
    announced = json.dumps
    serve(
        Settings(**settings),
        [Path(each) for each in asked["files"]],
        lambda url: print(announced({"url": url}), flush=True),  # noqa: T201
    )


if __name__ == "__main__":
    main(sys.argv[1])
