"""The shared cache in an S3 bucket, with a server on loopback: many builders, damaged entries, and what can go wrong on the way.

What can be tested with a folder is in `test_shared_cache.py`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import s3_server, shared_facts
from tests.support.program import concord
from tests.support.s3_server import BUCKET, S3Server
from tests.support.shared_facts import write_repository
from tests.support.stored import dump

pytestmark = [pytest.mark.timeout(280), pytest.mark.skipif(find_spec("moto") is None or find_spec("s3fs") is None, reason="needs moto and s3fs")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server.running(tmp_path_factory.mktemp("s3")) as running:
        yield running


def build(server: S3Server, repo: Path, cache: Path, prefix: str, **more: str) -> tuple[dict[str, int], str]:
    done, errors = shared_facts.build(repo, cache, f"s3://{BUCKET}/{prefix}", **{**server.variables, **more})
    assert not [value for name, value in server.variables.items() if "KEY" in name and value in f"{done}{errors}"]
    return done, errors


def test_four_builders_at_once_lose_nothing_and_a_fifth_parses_nothing(server: S3Server, tmp_path: Path) -> None:
    repos = [write_repository(tmp_path / f"repo{n}", range(50 * n, 50 * n + 65)) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda repo: build(server, repo, tmp_path / f"cache-{repo.name}", "team"), repos))
    assert [errors for _, errors in found] == [""] * 4
    everything = write_repository(tmp_path / "all", range(215))
    done, errors = build(server, everything, tmp_path / "last", "team")
    assert (done["read"], done["cached"], errors) == (215, 215, "")
    alone = write_repository(tmp_path / "alone", range(215))
    concord("build", alone, "--no-book", "--yes", env={"CONCORDANCE_CACHE": str(tmp_path / "own")})
    assert dump(everything) == dump(alone)


def test_damaged_objects_are_not_believed(server: S3Server, tmp_path: Path) -> None:
    """200 places of two uploads are changed: a build writes what it would write without the cache."""
    rng = random.Random(2)
    for number in range(2):
        build(server, write_repository(tmp_path / f"repo{number}", range(65 * number, 65 * number + 65)), tmp_path / f"{number}", "damaged")
    contents = {name: bytearray(data) for name, data in server.objects().items() if name.startswith("damaged/")}
    assert len(contents) == 4
    for place in range(200):
        data = contents[sorted(contents)[place % 4]]
        at = rng.randrange(len(data))
        data[at : at + 1 + place % 9] = rng.randbytes(1 + place % 9)
    for name, data in contents.items():
        server.replace(name, bytes(data))
    repo, same = (write_repository(tmp_path / name, range(130)) for name in ("second", "alone"))
    done, _ = build(server, repo, tmp_path / "second-cache", "damaged")
    concord("build", same, "--no-book", "--yes", env={"CONCORDANCE_CACHE": str(tmp_path / "own")})
    assert (done["read"], done["cached"]) == (130, 0)
    assert dump(repo) == dump(same)


@pytest.mark.parametrize(
    ("name", "variables", "reason"),
    [
        ("wrong keys", {"AWS_ACCESS_KEY_ID": "AKIAOFSOMEBODYELSE"}, "access was denied; check the credentials"),
        ("no keys", {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": "/nonexistent"}, "access was denied; check the credentials"),
        ("unreachable", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "the server cannot be reached"),
        ("no bucket", {"CONCORDANCE_SHARED_CACHE": "s3://nobody/x"}, "there is no such bucket or folder"),
    ],
)
def test_a_storage_that_cannot_be_used_costs_one_message(name: str, variables: dict[str, str], reason: str, server: S3Server, tmp_path: Path) -> None:
    done, errors = build(server, write_repository(tmp_path / "repo", range(80)), tmp_path / "cache", "x", **variables)
    assert (done["read"], done["failed"]) == (80, [])
    assert errors.count("the shared cache") == 1, errors
    assert f"{reason}; the build goes on without it" in errors


def test_a_full_bucket_costs_one_message_and_keeps_what_it_has(server: S3Server, tmp_path: Path) -> None:
    build(server, write_repository(tmp_path / "first", range(80)), tmp_path / "1", "full")
    before = server.objects()
    server.full.touch()
    try:
        done, errors = build(server, write_repository(tmp_path / "second", range(150)), tmp_path / "2", "full")
    finally:
        server.full.unlink()
    assert (done["read"], done["cached"]) == (150, 80)
    assert errors.count("cannot be written: the storage is full; the build goes on without it") == 1
    assert "secret detail" not in errors
    assert server.objects() == before
