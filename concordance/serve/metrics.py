"""Figures about a running server, in the text format of Prometheus.

In: each reply, with its status and the seconds that it took; and what the server counts itself. Out: the text that
`/metrics` answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus

from concordance.base.version import VERSION

HEALTH, METRICS = "healthz", "metrics"  # addresses
_PREFIX = "concordance"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_HELP = {
    "readers": "Reader processes.", "readers_ready": "Reader processes that have the current store open.",
    "requests_waiting": "Requests that wait for a reader.", "connections": "Open connections.",
    "listeners": "Connections that wait for changes.", "reply_cache_bytes": "Bytes of cached replies.",
}  # fmt: skip


class ServerMetrics:
    """Counts replies."""

    def __init__(self) -> None:
        self._replies: Counter[int] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0

    def count(self, status: HTTPStatus, seconds: float) -> None:
        """Count a reply."""
        self._replies[status.value] += 1
        self._seconds += seconds
        self._within.update(bound for bound in _BOUNDS if seconds <= bound)

    def text(self, gauges: Mapping[str, int]) -> str:
        """Return all figures; `gauges` are those of this moment."""
        total = sum(self._replies.values())
        lines = _head("info", "gauge", "The version of the program.")
        lines.append(f'{_PREFIX}_info{{version="{VERSION}"}} 1')
        lines += _head("http_requests_total", "counter", "Replies sent, by status.")
        lines += [
            f'{_PREFIX}_http_requests_total{{code="{code}"}} {self._replies[code]}' for code in sorted(self._replies)
        ]
        name = "http_request_seconds"
        lines += _head(name, "histogram", "Seconds until a reply was ready.")
        lines += [f'{_PREFIX}_{name}_bucket{{le="{bound}"}} {self._within[bound]}' for bound in _BOUNDS]
        lines += [f'{_PREFIX}_{name}_bucket{{le="+Inf"}} {total}', f"{_PREFIX}_{name}_sum {self._seconds:.6f}"]
        lines.append(f"{_PREFIX}_{name}_count {total}")
        for gauge, value in gauges.items():
            lines += [*_head(gauge, "gauge", _HELP[gauge]), f"{_PREFIX}_{gauge} {value}"]
        return "\n".join([*lines, ""])


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {_PREFIX}_{name} {text}", f"# TYPE {_PREFIX}_{name} {kind}"]
