"""Studies: a sweep of 1,000 profit ratios, the 900 bags of the Profit paper's figure 2, and a page.

sweep   points of the price curve of three bags, against the exact curve's own cost; seconds of this process,
        the least of some rounds
bags    `lpsched study run scripts/studies/profit-2.yaml --jobs 2`, all in: start, drawing bags, both methods,
        lines on the disk. The seconds of the processors stand beside those of the clock, because others
        may be at work here.
page    `lpsched price --report` of the paper's bag: its size, and the seconds until it is open and drawn in
        a headless Chromium
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.bag.files import read_bag
from lpsched.bag.pricing.price_curve import price_curve

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.model import Bag

ROOT: Final = Path(__file__).parents[2]
STUDY: Final = ROOT / "scripts" / "studies" / "profit-2.yaml"
BAGS: Final = ("profit-30x9", "profit-30x9-idle", "front-50x10")
PER_KWH: Final = 0.12  # where a bag has no price of electricity
POINTS: Final = 1_000
ROUNDS: Final = 3
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
QUIET: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def priced(bag: Bag) -> Bag:
    """Return the bag with a price of electricity."""
    if bag.prices.electricity_per_kwh is not None:
        return bag
    return bag.model_copy(update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": PER_KWH})})


def sweep(names: tuple[str, ...] = BAGS, rounds: int = ROUNDS) -> None:
    """Print what the curve costs with points and without."""
    print(f"{'sweep':20} {'pieces':>7} {'curve, s':>9} {f'and {POINTS:,} points, s':>20} {'ratio':>6}")
    for name in names:
        bag = priced(read_bag(ROOT / "instances" / f"{name}.yaml"))
        seconds = {points: min(_seconds(bag, points) for _ in range(rounds)) for points in (0, POINTS)}
        pieces, ratio = len(price_curve(bag).pieces), seconds[POINTS] / seconds[0]
        print(f"{name:20} {pieces:7} {seconds[0]:9.2f} {seconds[POINTS]:20.2f} {ratio:6.2f}", flush=True)


def _seconds(bag: Bag, points: int) -> float:
    began = time.process_time()
    price_curve(bag, points=points)
    return time.process_time() - began


def bags(study: Path = STUDY, jobs: int = 2) -> None:
    """Print how long a study takes."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "lines.jsonl"
        command = ["study", "run", str(study), "-o", str(lines), "--jobs", str(jobs), "--json"]
        before, began = os.times(), time.perf_counter()
        answer = _lpsched(*command)
        clock, after = time.perf_counter() - began, os.times()
        worked = sum(after[2:4]) - sum(before[2:4])
        size = lines.stat().st_size
    told = json.loads(answer)
    runs = f"{told['made']:,} runs, {told['failed']} failed, {size / 1e6:.1f} MB of lines"
    print(f"\nbags   {runs}, {jobs} at a time: {clock:.1f} s by the clock")
    print(f"       {worked:.1f} s of processors, so {worked / jobs:.1f} s where nobody else is at work")


def page(name: str = BAGS[0]) -> None:
    """Print how large a page is, and how long it takes to open."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "page.html"
        began = time.perf_counter()
        _lpsched("price", str(ROOT / "instances" / f"{name}.yaml"), "--report", str(written))
        clock, size = time.perf_counter() - began, written.stat().st_size
        print(f"\npage   {name}: {size / 1e6:.2f} MB, made in {clock:.1f} s")
        program = next(filter(None, map(shutil.which, BROWSERS)), None)
        if program is None:
            print(f"       not opened: none of {', '.join(BROWSERS)} is here")
            return
        print(f"       open and drawn in {_opened(program, written):.2f} s")


def _opened(program: str, written: Path) -> float:
    """Return the seconds until a page is open and has been drawn, in a browser that is running."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where there is a browser

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(QUIET))
        tab = browser.new_page()
        began = time.perf_counter()
        tab.goto(written.as_uri(), wait_until="load")
        tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seconds = time.perf_counter() - began
        browser.close()
    return seconds


def _lpsched(*words: str) -> str:
    command = [sys.executable, "-m", "lpsched", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 - ours


PARTS: Final[dict[str, Callable[[], None]]] = {"sweep": sweep, "bags": bags, "page": page}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; by default all")
    chosen = parser.parse_args().parts or list(PARTS)
    for part in chosen:
        if part not in PARTS:
            parser.error(f"{part!r} is none of {', '.join(PARTS)}")
    for part in chosen:
        PARTS[part]()
