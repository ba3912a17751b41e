"""`python -m tests.support.ray_cluster`: a Ray cluster of two machines with one processor each, as far as Ray can tell.

In: lines on standard input: `remove` ends the second machine as if its power had failed, `add` starts another. Out: the
address of the cluster, and a line for each command that was done. The cluster ends with the input. It listens on
loopback only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.served import ended_with_input

TREE = Path(__file__).parents[2]
VARIABLES = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "4" * 64,
    "RAY_health_check_initial_delay_ms": "1000", "RAY_health_check_period_ms": "1000",
}  # fmt: skip


class RayCluster:
    """A running cluster, in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()

    def change(self, command: str) -> None:
        """Add or remove a machine."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(command, file=self._process.stdin, flush=True)
        assert self._process.stdout.readline().strip() == command


@contextmanager
def running() -> Iterator[RayCluster]:
    """Run a cluster. Its workers can import the tests."""
    variables = {**os.environ, **VARIABLES, "PYTHONPATH": str(TREE)}
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder, subprocess.Popen(
        [sys.executable, "-m", __name__], cwd=TREE, env={**variables, "RAY_TMPDIR": folder}, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process, ended_with_input(process, 30):
        yield RayCluster(process)


def main() -> None:
    from ray.cluster_utils import Cluster

    one = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=one)
    second = cluster.add_node(**one)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        command = line.strip()
        if command == "remove":
            cluster.remove_node(second, allow_graceful=False)
        else:
            second = cluster.add_node(**one)
        print(command, flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
