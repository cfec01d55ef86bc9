"""The page of limits says what the code allows."""

from __future__ import annotations

import re
from pathlib import Path

from lpsched import text
from lpsched.io import limits
from lpsched.model import series_reader, table
from lpsched.online import parts

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "limits.md"
ELSEWHERE = {"DEEPEST_JSON": text, "MOST_CELLS": table, "MOST_TASKS": parts, "MOST_VALUES": series_reader}


def test_the_page_has_every_limit_with_its_number():
    rows = re.findall(r"^\| .* \| ([\d,]+) \| (.*) \| `(\w+)` \|$", PAGE.read_text(), re.MULTILINE)
    said = {
        name: int(number.replace(",", "")) * (2**20 if unit.startswith("MiB") else 1) for number, unit, name in rows
    }
    held = {name: value for name, value in vars(limits).items() if name.isupper() and name != "MEGABYTE"}
    held |= {name: getattr(module, name) for name, module in ELSEWHERE.items()}
    assert said == held
