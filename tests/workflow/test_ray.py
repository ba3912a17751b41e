"""Ray as the executor: the same results as with processes, whatever happens to workers and machines.

One small cluster of two machines, which the tests may break and mend, and one Ray that a build starts by itself.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Workers
from concordance.base.errors import ConcordanceError
from concordance.base.progress import Progress, ignore_progress
from concordance.workflow import builds
from concordance.workflow.workers import ray_driver
from concordance.workflow.workers.executor import FailedItem
from concordance.workflow.workers.machine_files import FolderFiles
from concordance.workflow.workers.ray_executor import ExecutorFailed, RayExecutor
from tests.support import ray_cluster, ray_work
from tests.support.program import TREE, concord
from tests.support.ray_cluster import RayCluster
from tests.support.stored import dump

pytestmark = [pytest.mark.timeout(280), pytest.mark.xdist_group("ray"), pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")]
SAMPLE = TREE / "tests" / "sample"


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster.running() as running:
        yield running


@pytest.fixture
def executor(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[RayExecutor]:
    for name, value in ray_cluster.VARIABLES.items():
        monkeypatch.setenv(name, value)
    executor = RayExecutor(cluster.address, 2, print)
    executor.patience = lambda batch: 1.0
    try:
        yield executor
    finally:
        executor.kill()


@pytest.fixture(scope="module")
def by_processes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    repo = shutil.copytree(SAMPLE, tmp_path_factory.mktemp("processes") / "sample")
    concord("build", repo, "--yes")
    return _stored(repo)


def _stored(repo: Path) -> dict[str, Any]:
    """Return the content of a store, and the files of the book in it."""
    return {**dump(repo), "book": _files_in(repo / ".concordance" / "book")}


def _files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _all(executor: RayExecutor, work: Any, shared: Any, batches: list[list[Any]]) -> tuple[list[Any], dict[Any, str]]:
    done, failed = [], {}
    for result in executor.map_batches(work, shared, batches):
        if isinstance(result, FailedItem):
            failed[result.item] = result.reason
        else:
            done += result
    return sorted(done), failed


def test_results_come_back_and_the_executor_can_be_used_again(executor: RayExecutor) -> None:
    for last in (10, 40):
        assert _all(executor, ray_work.square, "", [[n, n + 100] for n in range(last)])[0] == sorted(m * m for n in range(last) for m in (n, n + 100))
    executor.close()
    assert _all(executor, ray_work.square, "", []) == ([], {})


def test_an_item_that_ends_its_worker_is_named_and_the_others_are_done(executor: RayExecutor) -> None:
    done, failed = _all(executor, ray_work.faulty, "", [["a", "dies", "b"], ["c", "raises"], ["d"]])
    assert done == ["A", "B", "C", "D"]
    assert failed == {"dies": "its reader was killed", "raises": "its reader failed: ValueError: no such word"}


def test_an_item_that_never_ends_is_given_up(executor: RayExecutor) -> None:
    executor.patience = lambda batch: 0.2
    done, failed = _all(executor, ray_work.faulty, "", [["a", "never ends"], ["b"]])
    assert done == ["A", "B"]
    assert set(failed) == {"never ends"}


def test_workers_that_die_for_other_reasons_cost_nothing(executor: RayExecutor, tmp_path: Path) -> None:
    assert _all(executor, ray_work.dies_once, str(tmp_path), [[n, n + 1] for n in range(0, 16, 2)]) == (list(range(1, 17)), {})


def test_a_machine_that_is_lost_costs_nothing(executor: RayExecutor, cluster: RayCluster, tmp_path: Path) -> None:
    results = executor.map_batches(ray_work.slowly, str(tmp_path), ([n] for n in range(10)))
    done = [next(results), next(results)]
    cluster.change("remove")
    try:
        done += results
    finally:
        cluster.change("add")
    assert sorted(done) == [[n] for n in range(10)]


def test_files_are_sent_to_a_machine_once(executor: RayExecutor, tmp_path: Path) -> None:
    names = ["a", "in/b", "\udce9", "gone"]
    (tmp_path / "in").mkdir()
    for name in names[:3]:
        (tmp_path / name).write_bytes(name.encode(errors="surrogateescape") * 3)
    (tmp_path / "large").write_bytes(bytes(range(256)) * 40_000)
    files = [FolderFiles("x", str(tmp_path), (*names, "large"))]
    done = {}
    for result in executor.map_batches(ray_work.read_files, ray_work.FilesShared(), ([name] for name in (*names, "large")), files):
        assert not isinstance(result, FailedItem)
        folder, found = result
        done |= found
    assert done == {"a": b"aaa", "in/b": b"in/bin/bin/b", "\udce9": b"\xe9" * 3, "gone": b"", "large": (tmp_path / "large").read_bytes()}
    assert os.path.isdir(folder)
    executor.close()
    assert not os.path.exists(folder)


def test_an_error_that_concerns_everything_ends_the_work(executor: RayExecutor) -> None:
    with pytest.raises(ConcordanceError, match="The disk is full"):
        list(executor.map_batches(ray_work.fails, "", [[1]]))


def test_a_worker_without_the_program_is_named(executor: RayExecutor) -> None:
    """Nothing of the build's own folder is sent: what workers import, they have installed."""
    sys.modules["only_here"] = module = type(sys)("only_here")
    exec("def work(shared, batch): ...", module.__dict__)
    try:
        with pytest.raises(ConcordanceError, match=r"No module named 'only_here'.*same versions"):
            list(executor.map_batches(module.work, "", [[1]]))
    finally:
        del sys.modules["only_here"]


# --- builds


def test_a_build_in_a_cluster_writes_the_same(cluster: RayCluster, by_processes: dict[str, Any], tmp_path: Path) -> None:
    repo = shutil.copytree(SAMPLE, tmp_path / "sample")
    in_cluster = ("--executor", "ray", "--address", cluster.address)
    concord("build", repo, "--yes", *in_cluster, env=ray_cluster.VARIABLES)
    assert _stored(repo) == by_processes
    sites = [tmp_path / name / "site" for name in ("cluster", "processes")]
    for site, options in zip(sites, (in_cluster, ()), strict=True):
        shutil.rmtree(repo / ".concordance")  # now from the cache
        concord("build", repo, "--yes", "--format", "html", "--out", site, *options, env=ray_cluster.VARIABLES)
    assert _files_in(sites[0]) == _files_in(sites[1])


def test_a_worker_is_lost_in_each_stage(
    cluster: RayCluster, by_processes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, stage in ray_work.STAGES.items():
        monkeypatch.setattr(stage, name, partial(ray_work.dies_once_before, str(tmp_path), name))
    assert _built_here(cluster, monkeypatch, tmp_path) == by_processes
    assert {path.name for path in tmp_path.glob("_*")} == ray_work.STAGES.keys()  # they have died


def test_a_machine_is_lost_while_pages_are_rendered(
    cluster: RayCluster, by_processes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    removed = []

    def remove(step: str, done: int, total: int, path: str) -> None:
        if step == "pages" and done and not removed:
            cluster.change("remove")
            removed.append(done)

    try:
        assert _built_here(cluster, monkeypatch, tmp_path, remove) == by_processes
    finally:
        cluster.change("add")
    assert removed


def _built_here(
    cluster: RayCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, progress: Progress = ignore_progress
) -> dict[str, Any]:
    for name, value in {**ray_cluster.VARIABLES, "CONCORDANCE_CACHE": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)
    repo = shutil.copytree(SAMPLE, tmp_path / "sample")
    builds.write_book(str(repo), progress=progress, workers=Workers("ray", cluster.address))
    return _stored(repo)


def test_a_build_starts_ray_by_itself(by_processes: dict[str, Any], tmp_path: Path) -> None:
    repo = shutil.copytree(SAMPLE, tmp_path / "sample")
    done = concord("build", "sample", "--yes", "--jobs", "2", cwd=tmp_path, env={"CONCORDANCE_EXECUTOR": "ray", "HOME": str(tmp_path)})
    assert done.stderr == ""
    assert _stored(repo) == by_processes
    assert not (tmp_path / ".ray").exists()


# --- what cannot work


def test_an_address_where_nothing_answers(tmp_path: Path) -> None:
    repo = shutil.copytree(SAMPLE, tmp_path / "sample")
    done = concord("build", repo, "--no-book", "--yes", "--executor", "ray", "--address", "127.0.0.1:1", code=1)
    assert "the Ray cluster at 127.0.0.1:1 cannot be reached" in done.stderr
    assert not (repo / ".concordance" / "index.db").exists()


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    assert "Add `--executor ray`" in concord("build", SAMPLE, "--no-book", "--address", "127.0.0.1:1", code=2).stderr
    for address in ("head", "head:0", "head:65536", "head:x", ":1", "ray://head", "http://head:1", "a b:1"):
        told = concord("build", SAMPLE, "--no-book", "--executor", "ray", "--address", address, code=2).stderr
        assert "is not the address of a Ray cluster" in told, address
    (tmp_path / "concordance.toml").write_text('executor = "ray"\n')
    assert "unknown key `executor`" in concord("build", tmp_path, "--no-book", "--yes", code=2).stderr


def test_ray_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_task_oom_retries"):
        monkeypatch.setenv(name, "0")
    with pytest.raises(ConcordanceError, match=r"needs the extra `scale`. pip install 'repo-concordance\[scale\]'"):
        ray_driver._connect("127.0.0.1:1", 2, "")


def test_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch, executor: RayExecutor) -> None:
    monkeypatch.setattr(ray_driver, "program_version", lambda: "another")
    with pytest.raises(ray_driver.VersionMismatch, match="another version of Concordance"):
        list(executor.map_batches(ray_work.square, "", [[1]]))
    reason = ray_driver._reason(RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.10.1"))
    assert "has another version: Version mismatch: The cluster was started with: Ray: 2.9.0" in ray_driver.not_connected("head:6379", reason)[0]


def test_a_cluster_without_machines_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    executor = RayExecutor("head:6379", 2, print)
    executor._count_processors(2)
    monkeypatch.setattr("concordance.workflow.workers.ray_executor._ALONE", -1.0)
    with pytest.raises(ExecutorFailed, match="no machine with a free processor"):
        executor._count_processors(0)


