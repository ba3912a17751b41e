"""The commit of each line, and how the site shows it. For work trees, `git blame` is the oracle."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Book
from concordance.collect import blame as blames
from concordance.collect import subprocesses
from concordance.collect.blame import Blame, blame, quick_head_commit
from concordance.collect.line_diff import align_lines
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.render.site.files import Site, open_site
from concordance.workflow import store_update
from tests.support.program import GIT, git, sample, write

HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e"


def told(found: Blame) -> list[str]:
    """Return the summary of each line's commit; "" for a line that is not committed."""
    assert not found.note
    return [found.commits[at].summary if at >= 0 else "" for count, at in found.ranges for _ in range(count)]


def of(folder: Path, path: str) -> Blame:
    return blame(str(folder), path, (folder / path).read_bytes())


def committed(folder: Path, summary: str, files: dict[str, str | bytes], *, at: int = 1_700_000_000) -> None:
    write(folder, files)
    git(folder, "add", "-A")
    dates = {"GIT_AUTHOR_DATE": f"{at - 86400} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
    subprocess.run(["git", "commit", "-qm", summary], cwd=folder, check=True, env={**os.environ, **GIT, **dates})


@pytest.fixture
def made(folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main")
    committed(folder, "first", {"sub/a.py": "one\ntwo\nthree\n"})
    committed(folder, "second", {"sub/a.py": "one\nTWO\nthree\nfour\n"}, at=1_700_100_000)
    return folder


def test_lines_by_commits(made: Path) -> None:
    found = of(made, "sub/a.py")
    assert told(found) == ["first", "second", "first", "second"]
    assert found.ranges == ((1, 0), (1, 1), (1, 0), (1, 1))
    assert [(one.when, one.author, one.oldest) for one in found.commits] == [
        (1_700_000_000, "Ada", False), (1_700_100_000, "Ada", False)
    ]  # fmt: skip
    assert quick_head_commit(str(made)).startswith(found.commits[1].number)
    assert blame(str(made / "sub"), "a.py", (made / "sub/a.py").read_bytes()) == found


def test_lines_that_are_not_committed(made: Path) -> None:
    write(made, {"sub/a.py": "zero\r\none\r\nthree\r\n\r\nfour", "new.py": "x\n"})
    assert told(of(made, "sub/a.py")) == ["", "first", "first", "", "second"]
    assert of(made, "new.py") == Blame(note="the file is not committed yet")
    git(made, "add", "new.py")
    assert of(made, "new.py").note == "the file is not committed yet"
    write(made, {"sub/a.py": ""})
    assert of(made, "sub/a.py") == Blame()


def test_a_renamed_file_keeps_its_commits(made: Path) -> None:
    git(made, "mv", "sub/a.py", "b.py")
    git(made, "commit", "-qm", "renamed")
    committed(made, "third", {"b.py": "one\nTWO\nthree\nfour\nfive\n"})
    assert told(of(made, "b.py")) == ["first", "second", "first", "second", "third"]


def test_names_and_summaries_are_text(made: Path) -> None:
    tree = git(made, "rev-parse", "HEAD^{tree}").strip()
    parent = git(made, "rev-parse", "HEAD").strip()
    write(made, {"sub/a.py": "one\nTWO\nthree\nfour\n\tauthor X\n"})
    git(made, "add", "-A")
    tree = git(made, "write-tree").strip()
    name = HOSTILE.replace("<", "").replace(">", "")  # git itself has no others in a name
    text = f"tree {tree}\nparent {parent}\nauthor {name} <a@b> 1700000000 +0000\ncommitter {name} <a@b> {'9' * 18} +0000\n"
    raw = f"{text}\n{HOSTILE}{'x' * 1000}\nauthor Nobody\n".encode()
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"], cwd=made, input=raw, check=True,
        capture_output=True,
    )  # fmt: skip
    git(made, "reset", "-q", "--hard", done.stdout.decode().strip())
    last = of(made, "sub/a.py").commits[-1]
    assert last.author == name
    assert last.summary.startswith(HOSTILE)
    assert len(last.summary) < 310
    assert last.when == 0  # a time that no calendar has


def test_names_of_files_that_mean_more_to_git(made: Path) -> None:
    odd = [":(top)a.py", "*.py", "--output=x", "-L1,1", ":/a", "a\nb.py", "HEAD", "ünï.py"]
    committed(made, "odd", {f"odd/{name}": f"{name!r}\n" for name in odd})
    for name in odd:
        assert told(of(made, f"odd/{name}")) == ["odd"]
        assert told(blame(str(made / "odd"), name, (made / "odd" / name).read_bytes())) == ["odd"]


def test_nothing_of_the_repository_is_run(made: Path) -> None:
    ran = made.parent / "ran"
    script = made.parent / "run.sh"
    script.write_text(f"#!/bin/sh\necho ran >> {ran}\ncat\n")
    script.chmod(0o755)
    committed(made, "attributes", {".gitattributes": "*.py filter=bad diff=bad\n"})
    for name in ("filter.bad.clean", "filter.bad.smudge", "filter.bad.process", "diff.bad.textconv", "diff.bad.command",
                 "diff.external", "core.pager", "pager.blame", "core.fsmonitor", "core.sshCommand"):  # fmt: skip
        git(made, "config", name, str(script))
    git(made, "config", "mailmap.file", "/dev/zero")  # which is read whole
    assert told(of(made, "sub/a.py")) == ["first", "second", "first", "second"]
    write(made, {"sub/a.py": "other\n"})
    assert of(made, "sub/a.py") == Blame(note="git applies a filter to the file, so it differs from its commits")
    assert not ran.exists()


def test_commits_to_be_passed_over(made: Path) -> None:
    write(made, {"passed": git(made, "rev-parse", "HEAD")})
    git(made, "config", "blame.ignoreRevsFile", "passed")
    assert told(of(made, "sub/a.py")) == ["first", "first", "first", "second"]
    git(made, "config", "--add", "blame.ignoreRevsFile", "/dev/zero")
    assert of(made, "sub/a.py").note.startswith("git is configured to ignore commits")


def test_the_current_commit_without_starting_git(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = quick_head_commit(str(made))
    assert len(commit) == 40
    with monkeypatch.context() as without:
        without.setattr(subprocesses, "bounded_git", None)
        assert quick_head_commit(str(made)) == commit
    git(made, "pack-refs", "--all")
    assert quick_head_commit(str(made)) == commit
    git(made, "checkout", "-q", "--detach")
    assert quick_head_commit(str(made)) == commit
    (made / ".git/HEAD").write_text("ref: ../../etc/passwd\n")
    assert quick_head_commit(str(made)) == ""


def test_where_there_is_no_git(folder: Path) -> None:
    write(folder, {"a.py": "x\n"})
    assert of(folder, "a.py") == Blame(note="this is not a git repository")
    assert quick_head_commit(str(folder)) == ""
    git(folder, "init", "-q")
    assert of(folder, "a.py") == Blame(note="nothing is committed yet")


def test_a_shallow_clone_says_that_it_is(made: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", made.as_uri(), "shallow")
    found = of(tmp_path / "shallow", "sub/a.py")
    assert told(found) == ["second"] * 4
    assert found.commits[0].oldest


def test_it_takes_no_longer_than_it_may(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    write(tmp_path, {"bin/git": "#!/bin/sh\nexec sleep 100\n"})
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    found = blame(str(repo), "a.py", (repo / "a.py").read_bytes(), seconds=0.1)
    assert found == Blame(note="git took longer than 0.1 seconds")


def test_it_writes_no_more_than_it_may(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blames, "_MAX_OUTPUT_BYTES", 100)
    assert of(repo, "a.py").note == "git wrote more than 100 bytes"


def test_edits_as_git_tells_them(folder: Path) -> None:
    """After random edits, about as many lines belong to the last commit as `git blame` finds."""
    chance = random.Random(7)
    lines = [f"line {chance.randrange(40)}\n" for _ in range(200)]
    sample(folder, {"a.txt": "".join(lines)})
    for _ in range(5):
        for _ in range(8):
            at = chance.randrange(len(lines))
            lines[at : at + chance.randrange(3)] = [f"line {chance.randrange(60)}\n"] * chance.randrange(3)
        write(folder, {"a.txt": "".join(lines)})
        new = sum(count for count, at in of(folder, "a.txt").ranges if at < 0)
        git_new = sum(line.startswith("0000000") for line in git(folder, "blame", "-s", "--", "a.txt").splitlines())
        assert abs(new - git_new) <= 4


def test_lines_are_found_again() -> None:
    assert align_lines([], []) == []
    assert align_lines([b"a"], []) == []
    assert align_lines([], [b"a"]) == [-1]
    assert align_lines([b"a", b"b", b"c"], [b"b", b"x", b"c"]) == [1, -1, 2]
    assert align_lines([b"x", b"}", b"y", b"}"], [b"y", b"}", b"x", b"}"]) in ([2, 3, -1, -1], [-1, 1, -1, 3], [-1, -1, 0, 3])
    many = [b"}"] * 30_000  # nothing that stands once, and too many to compare
    found = align_lines([b"a", *many, b"b"], [b"c", *many[1:], b"d", b"}"])
    assert len(found) == 30_002
    chance = random.Random(3)
    for _ in range(200):
        old, new = ([b"%d" % chance.randrange(12) for _ in range(chance.randrange(30))] for _ in range(2))
        places = align_lines(old, new)
        known = [place for place in places if place >= 0]
        assert known == sorted(set(known))
        assert all(old[place] == line for place, line in zip(places, new, strict=True) if place >= 0)


# The site


def site(folder: Path, *, server: bool = True) -> Site:
    index = Index(Facts(str(folder / ".concordance")), str(folder), Book(source=False))
    return open_site(index, str(folder / ".concordance/book"), api=server)


def answer(found: Site, address: str) -> list[Any]:
    got = found.answer(address)
    assert got is not None
    assert got.type.startswith("text/javascript")
    text = got.data.decode().removeprefix("concordance.take(").removesuffix(");\n")
    name, told = json.loads(f"[{text}]")
    assert name == f"blame:{address.removesuffix('_blame.js')}"
    assert b"<" not in got.data
    return list(told)


def test_a_server_says_it_beside_the_source(made: Path) -> None:
    name = "\u202eEve</script><b>"
    write(made, {".mailmap": "Ada Lovelace <ada@example.org>\n", "sub/a.py": "one\nTWO\nthree\nfour\nfive\n", "new.py": "x = 1\n"})
    git(made, "commit", "-qm", name, "sub/a.py")
    write(made, {"sub/a.py": "one\nTWO\nthree\nfour\nfive\nsix\n"})
    store_update.build(str(made), 1)
    served = site(made)
    why, commits, ranges, digest = answer(served, "sub/a.py_blame.js")
    assert why == ""
    assert [row[1:] for row in commits[:2]] == [
        ["2023-11-14", "Ada Lovelace", "first", False], ["2023-11-16", "Ada Lovelace", "second", False]
    ]  # fmt: skip
    assert commits[2][3] == "\\u202eEve</script><b>"
    assert ranges == [1, 0, 1, 1, 1, 0, 1, 1, 1, 2, 1, -1]
    page = served.answer("sub/a.py_source.html")
    assert page is not None
    assert f'data-of="{digest}"' in page.data.decode()
    assert 'data-does="history" data-from="a.py_blame.js"' in page.data.decode()
    assert answer(served, "new.py_blame.js")[:3] == ["the file is not committed yet", [], []]
    assert served.answer("none.py_blame.js") is None
    write(made, {"sub/a.py": "one\nTWO\nthree\nfour\nfive\nSIX\n"})
    assert answer(site(made), "sub/a.py_blame.js")[0] == "the file has changed since it was read"
    files = site(made, server=False)
    assert files.answer("sub/a.py_blame.js") is None
    assert not [address for route in files.places.all_routes() for address, _ in files.files_of(route) if address.endswith("_blame.js")]
    plain = files.answer("sub/a.py_source.html")
    assert plain is not None
    assert "history" not in plain.data.decode()


def test_lines_that_git_does_not_count(made: Path) -> None:
    committed(made, "old", {"old.py": b"x = 1\ry = 2\n"})
    store_update.build(str(made), 1)
    assert answer(site(made), "old.py_blame.js")[0] == "git splits its lines differently"
