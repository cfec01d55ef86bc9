"""Counters of the server, as Prometheus reads them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # of the histogram
METHODS: Final = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")  # clients may send any others
MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Latency:
    """A histogram of seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one request."""
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds


@dataclass(slots=True)
class Metrics:
    """What the server has counted since it started."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)  # route, method, status
    latency: dict[str, Latency] = field(default_factory=dict)  # by route
    jobs: Counter[str] = field(default_factory=Counter)  # by the state in which they ended
    cache: Counter[str] = field(default_factory=Counter)
    worker_starts: int = 0
    workloads: dict[str, dict[str, Any]] = field(default_factory=dict)  # answers of `solve` by name
    without: dict[str, str] = field(default_factory=dict)  # workloads that have no answer: the hash of their content

    def numbers_of(self, name: str) -> str | None:
        """Return the hash of the content whose numbers a workload has."""
        answer = self.workloads.get(name)
        return None if answer is None else answer["instance"]["hash"]

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[route, method if method in METHODS else "other", status] += 1
        self.latency.setdefault(route, Latency()).add(seconds)

    def text(self, gauges: Mapping[str, tuple[str, float]], current: Mapping[str, bool] | None = None) -> str:
        """Write all metrics; `gauges` are present numbers, `current` whether a workload has those of its file."""
        lines: list[str] = []

        def write(name: str, kind: str, about: str, samples: Iterable[tuple[dict[str, Any], float]]) -> None:
            found = [f"{name}{_labels(labels)} {_number(value)}" for labels, value in samples]
            if found:
                lines.extend([f"# HELP {name} {about}", f"# TYPE {name} {kind}", *found])

        routes = (
            ({"route": route, "method": method, "status": status}, count)
            for (route, method, status), count in sorted(self.requests.items())
        )
        write("lpsched_requests_total", "counter", "Requests answered.", routes)
        self._histogram(lines)
        write(
            "lpsched_jobs_total",
            "counter",
            "Requests that a worker took, by the state in which they ended.",
            (({"state": s}, n) for s, n in self.jobs.items()),
        )
        write(
            "lpsched_cache_total", "counter", "Requests by cache.", (({"result": r}, n) for r, n in self.cache.items())
        )
        write("lpsched_worker_starts_total", "counter", "Worker processes started.", [({}, self.worker_starts)])
        for name, (help_text, value) in gauges.items():
            write(name, "gauge", help_text, [({}, value)])
        present = [({"workload": name}, float(is_so)) for name, is_so in (current or {}).items()]
        write("lpsched_workload_current", "gauge", "Whether the numbers are of the file as it is: 1 or 0.", present)
        for key, help_text in (
            ("bound", "Proved bound of a workload."),
            ("value", "Value of the verified schedule of a workload."),
        ):
            samples = [
                ({"workload": name, "objective": answer["objective"], "unit": answer["unit"]}, answer[key])
                for name, answer in self.workloads.items()
                if answer.get(key) is not None
            ]
            write(f"lpsched_workload_{key}", "gauge", help_text, samples)
        write(
            "lpsched_workload_marginal_value",
            "gauge",
            "Marginal value of one more (LP): derivative of the bound, money per hour.",
            self._marginal_values(),
        )
        write(
            "lpsched_workload_minimum_task_price",
            "gauge",
            "Minimum price for one more task (LP), money.",
            self._task_prices(),
        )
        return "\n".join(lines) + "\n"

    def _histogram(self, lines: list[str]) -> None:
        name = "lpsched_request_seconds"
        if self.latency:
            lines += [f"# HELP {name} Seconds until a request was answered.", f"# TYPE {name} histogram"]
        for route, found in sorted(self.latency.items()):
            so_far = 0
            for limit, count in zip((*SECONDS, math.inf), found.counts, strict=True):
                so_far += count
                lines.append(f"{name}_bucket{_labels({'route': route, 'le': _number(limit)})} {so_far}")
            lines.append(f"{name}_sum{_labels({'route': route})} {_number(found.total)}")
            lines.append(f"{name}_count{_labels({'route': route})} {so_far}")

    def _task_prices(self) -> Iterable[tuple[dict[str, Any], float]]:
        for name, answer in self.workloads.items():
            for each, value in ((answer.get("worth") or {}).get("task_types") or {}).items():
                if value is not None:
                    yield {"workload": name, "type": each, "currency": _currency(answer)}, value

    def _marginal_values(self) -> Iterable[tuple[dict[str, Any], float]]:
        for name, answer in self.workloads.items():
            worth = answer.get("worth") or {}
            for each, value in (worth.get("machine_types") or {}).items():
                if value is not None:
                    yield {"workload": name, "kind": "machine", "type": each, "currency": _currency(answer)}, value
            if worth.get("kilowatt_per_hour") is not None:
                labels = {"workload": name, "kind": "kilowatt", "type": "", "currency": _currency(answer)}
                yield labels, worth["kilowatt_per_hour"]


def _currency(answer: Mapping[str, Any]) -> str:
    return str((answer.get("money") or {}).get("currency", ""))


def _labels(labels: Mapping[str, Any]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value)) if isinstance(value, float) and not value.is_integer() else str(int(value))
