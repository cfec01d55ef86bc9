"""How fast `lpsched serve` answers a 30 x 9 solve, compared with the same solves in processes without a server.

A server with two workers on loopback gets 1,000 requests, all different, 32 at a time over as many connections; then
the same ones again, which its cache answers. In between, as many solves of the same bodies (read, solve with effort
fast, write) are made in one process, and in two at a time. The ratio is what the server keeps of those rates; client,
server and workers share the cores. Memory is that of server and workers (resident), after each fifth of the requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from lpsched.bag.files import as_dict, read_bag
from lpsched.bag.model import Bag
from lpsched.bag.solve import solve

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
INSTANCE: Final = ROOT / "instances" / "profit-30x9.yaml"
FIFTHS: Final = 5
OK: Final = 200


def bodies(count: int) -> Iterator[bytes]:
    """Yield requests that differ in the price of electricity."""
    raw = as_dict(read_bag(INSTANCE))
    price = raw["prices"]["electricity_per_kwh"]
    for number in range(count):
        raw["prices"]["electricity_per_kwh"] = price * (1 + number / count)
        yield json.dumps({"bag": raw, "effort": "fast", "marginals": "lp"}).encode()


def solve_all(requests: list[bytes]) -> int:
    """Do what a worker does for each request, and return how many there were."""
    for body in requests:
        asked = json.loads(body)
        bag = Bag.model_validate(asked["bag"])
        json.dumps(solve(bag, effort=asked["effort"], marginals=asked["marginals"]).to_dict())
    return len(requests)


def in_process(requests: list[bytes], processes: int) -> float:
    """Return solves per second of some processes together."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(solve_all, [requests[:2]] * processes)  # they load the package
        start = time.perf_counter()
        pool.map(solve_all, [requests[place::processes] for place in range(processes)], chunksize=1)
        return len(requests) / (time.perf_counter() - start)


async def client(url: str, queue: Iterator[bytes], seconds: list[float], wrong: list[int]) -> None:
    """Send requests over one connection, one after the other."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    for body in queue:
        start = time.perf_counter()
        head = f"POST /v1/solve HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answered = await reader.readuntil(b"\r\n\r\n")
        status = int(answered.split(b" ", 2)[1])
        length = next(line for line in answered.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        seconds.append(time.perf_counter() - start)
        if status != OK:
            wrong.append(status)
    writer.close()
    await writer.wait_closed()


async def load(url: str, requests: list[bytes], connections: int) -> tuple[float, list[float], list[int]]:
    """Send all requests; return answers per second, the seconds of each, and statuses other than 200."""
    queue, seconds, wrong = iter(requests), list[float](), list[int]()
    start = time.perf_counter()
    await asyncio.gather(*(client(url, queue, seconds, wrong) for _ in range(connections)))
    return len(requests) / (time.perf_counter() - start), sorted(seconds), wrong


def memory(parent: int) -> float:
    """Return the resident megabytes of a process and its children; 0 where the system does not say."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            said = dict(line.partition(":")[::2] for line in status.read_text().splitlines())
        except OSError:  # it has ended
            continue
        if str(parent) in (said["Pid"].strip(), said["PPid"].strip()):
            total += int(said.get("VmRSS", "0").split()[0])
    return total / 1024


def line(title: str, rate: float, seconds: list[float], wrong: list[int]) -> None:
    """Print a line of the table."""
    shares = [1000 * seconds[min(len(seconds) - 1, int(share * len(seconds)))] for share in (0.5, 0.95, 0.99)]
    times = " ".join(f"{each:8.1f}" for each in shares)
    print(f"{title:28} {rate:9.1f} {times} {len(wrong):7}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args(arguments)
    requests = list(bodies(asked.requests))
    command = [sys.executable, "-m", "lpsched", "serve", "--port", "0", "--json", "--rate", "1000000"]
    command += ["--workers", str(asked.workers), "--max-queue", str(max(100, asked.connections))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server:  # noqa: S603 - our own
        try:
            assert server.stdout is not None
            said: dict[str, Any] = json.loads("".join(islice(_lines(server.stdout), 6)))
            url = said["url"]
            asyncio.run(load(url, requests[: 2 * asked.workers], asked.workers))  # the workers start
            print(f"{'':28} {'per s':>9} {'50 %':>8} {'95 %':>8} {'99 %':>8} {'errors':>7}   (ms)")
            held = [memory(server.pid)]
            rates, seconds, wrong = [], list[float](), list[int]()
            part = max(1, len(requests) // FIFTHS)
            for start in range(0, len(requests), part):
                rate, times, statuses = asyncio.run(load(url, requests[start : start + part], asked.connections))
                rates.append(rate)
                seconds, wrong = seconds + times, wrong + statuses
                held.append(memory(server.pid))
            served = len(rates) / sum(1 / rate for rate in rates)
            line(f"server, {asked.workers} workers", served, sorted(seconds), wrong)
            line("the same again, cached", *asyncio.run(load(url, requests, asked.connections)))
        finally:
            server.send_signal(signal.SIGTERM)
    alone, together = in_process(requests, 1), in_process(requests, asked.workers)
    print(f"{'in 1 process':28} {alone:9.1f}\n{f'in {asked.workers} processes':28} {together:9.1f}")
    print(f"server / 1 process {served / alone:.2f}, server / {asked.workers} processes {served / together:.2f}")
    print("resident MB of server and workers: " + ", ".join(f"{each:.0f}" for each in held))


def _lines(stream: Any) -> Iterator[str]:  # noqa: ANN401 - of a process
    """Yield the lines of the one object that the server prints."""
    for raw in stream:
        text = raw.decode()
        yield text
        if text.startswith("}"):
            return


if __name__ == "__main__":
    main()
