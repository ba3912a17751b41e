"""The command line: answers, output streams and exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from concordance import cli
from concordance.base import plugins
from tests.support import program, screens
from tests.support.program import age, ask, build, concord, git, write


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with its store; no test here changes it."""
    made = tmp_path_factory.mktemp("built")
    program.sample(made)
    concord("build", made, env={"CONCORDANCE_CACHE": str(tmp_path_factory.mktemp("cache"))})
    return made


def commands() -> list[str]:
    return cli.cli.list_commands(click.Context(cli.cli))


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_has_help_with_an_example(name: str) -> None:
    command = cli.cli.get_command(click.Context(cli.cli), name)
    assert command is not None
    shown = concord(name, "--help").stdout
    assert re.search(rf"^\s*concord {name}\b", shown, re.M), f"{name} shows no example:\n{shown}"
    assert command.help
    assert re.match(r"[A-Z].*\.$", command.help.strip().splitlines()[0]), command.help
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.opts} has no help"
            assert option.help.endswith((".", ").")), f"{name} {option.opts}: {option.help}"
            assert option.opts[0] in shown


def test_examples_in_help_are_accepted() -> None:
    """The options in an example exist; its paths belong to another repository."""
    for name in commands():
        for line in re.findall(r"^\s*concord (.*)", concord(name, "--help").stdout, re.M):
            words = line.split()
            program = click.Context(cli.cli, **cli.cli.context_settings)
            command = cli.cli.get_command(program, words[0])
            assert command is not None, line
            # With its program: a command keeps the help option that its first context gave it.
            command.make_context(words[0], [word for word in words[1:] if word not in ("|", "head")], program)


# What the examples of questions ask about, as small as it can be.
EXAMPLES = {
    "torch/__init__.py": "",
    "torch/nn/__init__.py": "from .modules import Linear, Module\n",
    "torch/nn/modules/__init__.py": "from .linear import Linear\nfrom .module import Module\n",
    "torch/nn/modules/module.py": "import os\n\n\nclass Module:\n    def register_buffer(self):\n        os.getpid()\n        self.check()\n\n    def check(self):\n        self.forward()\n\n    def forward(self):\n        self.register_buffer()\n",
    "torch/nn/modules/linear.py": "import math\n\n\n\n\n\nfrom .. import functional as F\n\nfrom .module import Module\n\n\nclass Linear(Module):\n    def forward(self):\n        return F.linear(F.relu(self))\n",
    "torch/nn/functional.py": "def check(x):\n    return x\n\n\ndef relu(x):\n    return check(x)\n\n\ndef linear(x):\n    return relu(x)\n",
    "torch/distributed/fsdp/api.py": "class Strategy:\n    pass\n",
    "torch/jit/frontend.py": "def parse(text):\n    return text\n",
    "torch/utils/loader.py": "class DataLoader:\n    pass\n",
    "aten/src/ATen/native/Activation.cpp": "namespace at { struct Tensor { void add(); }; void Tensor::add() {} }\nnamespace at::native { void addmm_out_cuda() {} }\n",
    "aten/src/ATen/native/native_functions.yaml": "- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n- func: softmax(Tensor self) -> Tensor\n  python_module: nn\n",
    "c10/core/TensorImpl.h": "class TensorImpl;\nvoid touch(TensorImpl* one);\n",
    "c10/core/TensorImpl.cpp": '#include "TensorImpl.h"\n',
    "src/click/core.py": "def wrong_gradient():\n    raise ValueError('wrong gradient of the pooling layer with ceil mode')\n\n\ndef main():\n    'Read the settings.'\n",
    "examples/click.py": "from click.core import main\n\nmain()\n",
    "report.md": "`Module.register_buffer` calls itself.\n",
    "test/test_nn.py": "from torch.nn import functional as F\nfrom torch.nn import Linear\n\n\ndef test_relu():\n    F.relu(1)\n    Linear().register_buffer()\n",
}  # fmt: skip
_UNANSWERED = ("impact", "path torch.nn")  # nothing is changed there; calls of its operators are not resolved


def test_examples_in_help_run(folder: Path) -> None:
    program.sample(folder, EXAMPLES)
    asked = [*plugins.names(cli.QUESTIONS), "show", ""]
    lines = [line for name in asked for line in re.findall(r"^ +concord (.*)", screens.shown(folder, f"{name} --help"), re.M)]
    assert len(lines) > 40
    for line in lines:
        if not line.startswith(("build", "serve")):
            shown = screens.shown(folder, line.partition("  # ")[0])
            assert not shown.startswith(("concord: ", "Usage")), f"{line}: {shown}"
            assert not shown.startswith(("none", "[]")) or line.startswith(_UNANSWERED), f"{line}: {shown}"


def test_version_and_no_command() -> None:
    assert re.fullmatch(r"concord, version \d+\.\d+\.\d+\n", concord("--version").stdout)
    assert "Ask:" in concord("--help").stdout
    assert "Ask:" in concord(code=2).stderr


@pytest.mark.parametrize(
    ("asked", "unneeded"),
    [("--help", ("concordance.query.", "concordance.workflow", "concordance.facts")), ("define Tree --no-update", ("concordance.query.pages.", "concordance.query.markup", "concordance.workflow.pipeline", "rich"))],
)
def test_what_a_command_does_not_load(built: Path, asked: str, unneeded: tuple[str, ...]) -> None:
    """Importing everything takes longer than most answers."""
    run = "import sys; from concordance import cli; sys.argv[0] = 'concord'; cli.cli(standalone_mode=False); print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", run, *asked.split()], cwd=built, env=program.environment(), capture_output=True, text=True, check=True)
    wrong = [name for name in done.stderr.split() if name.startswith(unneeded) and name not in ("concordance.query.pages",)]
    assert not wrong


def test_mistyped_command() -> None:
    done = concord("symbol", "a.py", code=2)
    assert "Did you mean `symbols`?" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("args", [["symbols"], ["symbols", "a.py", "--limit", "0"], ["symbols", "--nope"]], ids=str)
def test_wrong_usage(built: Path, args: list[str]) -> None:
    assert concord(*args, cwd=built, code=2).stdout == ""


def test_the_summary_of_a_build(repo: Path) -> None:
    shown = concord("build", "--verbose", cwd=repo)
    assert shown.stderr == ""  # no bars where nobody looks
    rows = dict(re.findall(r"^(\w+) +(.*)$", shown.stdout, re.M))
    assert list(rows) == ["files", "symbols", "links", "findings", "pages", "time", "store", "book"]
    assert rows["files"] == "6  6 read"
    assert re.fullmatch(r"\d+  \d+ exact, \d+ via import", rows["links"])
    assert re.search(r"no link for \d+ uses of names \(built-in, external or not resolved\)", shown.stdout)
    assert re.fullmatch(r"(\d+)  \1 written, 0 unchanged, .* MB, .* claims", rows["pages"])
    steps = re.findall(r"^  (\w+) +[\d.]+ s", shown.stdout, re.M)
    assert steps == ["collect", "learn", "extract", "check", "history", "index", "link", "bridge", "pass", "store", "pages"]
    again = dict(re.findall(r"^(\w+) +(.*)$", concord("build", cwd=repo).stdout, re.M))
    assert again["files"] == "6  6 unchanged"
    assert re.fullmatch(r"(\d+)  0 written, \1 unchanged, .*", again["pages"])
    assert [again[name] for name in ("symbols", "links", "findings")] == [
        rows[name] for name in ("symbols", "links", "findings")
    ]


def test_the_summary_of_a_build_as_json(repo: Path) -> None:
    write(repo, {"bad.py": "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n"})
    first, again = build(repo), build(repo)
    for summary in (first, again):
        assert summary["totals"]["symbols"] > 5
        assert list(summary["totals"]["links"]) == ["exact", "via_import", "unique_name", "candidate"]
        assert summary["totals"]["links"]["exact"] > 0
        assert sum(summary["totals"]["findings"].values()) == 1
        assert summary["time"] >= sum(t for step, t in summary["seconds"].items() if step not in ("bridge", "pass")) > 0
        assert summary["book"]["pages"] == summary["book"]["written"] + summary["book"]["unchanged"]
    assert (first["book"]["unchanged"], again["book"]["written"]) == (0, 0)
    assert first["totals"] == again["totals"]
    (repo / "concordance.toml").write_text('[rules]\noff = ["PY-YAML"]\n')
    assert sum(build(repo)["totals"]["findings"].values()) == 0  # of what the book says
    assert build(repo, "--no-book")["book"] is None


def test_bars_on_a_terminal(folder: Path) -> None:
    program.crowd(folder, 150)
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [program.CONCORD, "build", folder],
        env=program.environment(TERM="xterm", COLUMNS="100"),
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # which is how a terminal ends
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert running.communicate()[0].startswith(b"files ")
    assert running.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"extract .* 150/150  [\d,]+ files/s", text)
    assert re.search(r"pages .* [\d,]+/[\d,]+  [\d,]+ pages/s", text)


def test_json_is_one_array_even_where_a_build_runs_first(repo: Path) -> None:
    done = concord("symbols", "a.py", "--json", cwd=repo)
    assert [row["qualified"] for row in json.loads(done.stdout)] == ["Tree", "Tree.grow"]
    assert done.stdout.count("\n") == 1
    assert (repo / ".concordance/index.db").exists()


def test_questions_answer(built: Path) -> None:
    row = ask("symbols", "a.py", cwd=built)[1]
    known = ["name", "qualified", "kind", "line", "end_line", "parent", "signature", "public", "doc", "called", "path"]
    assert list(row) == known
    assert (row["name"], row["kind"], row["line"], row["parent"]) == ("grow", "method", 7, "Tree")
    assert [row["module"] for row in ask("imports", "lib/leaf.cpp", cwd=built)] == ["api.h"]
    assert {"Tree", "grow", "os"} <= {row["keyword"] for row in ask("keywords", "a.py", cwd=built)}
    shown = concord("symbols", "a.py", cwd=built).stdout
    assert "Tree.grow" in shown
    assert "none" in concord("imports", "README.md", cwd=built).stdout


def test_declarations_are_listed_when_asked_for(repo: Path) -> None:
    """A prototype in a C header is not a definition, but a TypeScript declaration is all there is."""
    write(
        repo, {"a.h": "int f(int);\nstruct S;\nint g(void) { return 1; }\n", "a.d.ts": "declare function h(): void;\n"}
    )
    assert [row["name"] for row in ask("symbols", "a.h", cwd=repo)] == ["g"]
    assert [row["name"] for row in ask("symbols", "a.h", "--declarations", cwd=repo)] == ["f", "S", "g"]
    assert [row["name"] for row in ask("symbols", "a.d.ts", cwd=repo)] == ["h"]
    assert "2 only declared here" in concord("symbols", "a.h", cwd=repo).stderr


def test_paths_from_a_subfolder(built: Path) -> None:
    for asked in ("b.py", "lib/b.py", "./b.py", "../lib/b.py", str(built / "lib/b.py")):
        assert [row["name"] for row in ask("symbols", asked, cwd=built / "lib")] == ["plant"], asked
    assert [row["name"] for row in ask("symbols", "../a.py", cwd=built / "lib")] == ["Tree", "grow"]


def test_repo_option(built: Path, tmp_path: Path) -> None:
    assert ask("symbols", "a.py", "--repo", built, cwd=tmp_path)
    assert ask("symbols", built / "a.py", "--repo", built, cwd=tmp_path)
    assert not (tmp_path / ".concordance").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("../elsewhere.py", "outside the repository"),
        ("/etc/passwd", "outside the repository"),
        ("lib", "is a folder"),
        ("lib/", "is a folder"),
        (".", "is a folder"),
        ("aa.py", "Nearest: a.py"),
        ("leaf.cpp", "Nearest: lib/leaf.cpp"),
        ("nothing/at/all.rs", "has no file nothing/at/all.rs"),
        ("", "is a folder"),
        ("a.py/x", "no file"),
        ("x" * 5000, "no file"),
    ],
)
def test_wrong_paths(built: Path, asked: str, said: str) -> None:
    done = concord("symbols", asked, "--json", cwd=built, code=2)
    assert said in done.stderr
    assert done.stdout == ""


def test_odd_files_answer_nothing(repo: Path) -> None:
    write(repo, {"image.png": b"\x89PNG\r\n\x1a\n" + bytes(64), "empty.py": ""})
    (repo / "link.py").symlink_to("a.py")
    for name in ("image.png", "empty.py", "link.py"):
        assert ask("symbols", name, cwd=repo) == []
        assert ask("keywords", name, cwd=repo) == []
        assert ask("imports", name, cwd=repo) == []


def test_a_name_that_starts_with_a_dash(repo: Path) -> None:
    write(repo, {"-x.py": "def dash(): pass\n"})
    assert [row["name"] for row in ask("symbols", "./-x.py", cwd=repo)] == ["dash"]
    done = concord("symbols", "--json", "--", "-x.py", cwd=repo)
    assert [row["name"] for row in json.loads(done.stdout)] == ["dash"]


@pytest.mark.parametrize("command", [["symbols", "many.py"], ["keywords"], ["keywords", "many.py"]], ids=" ".join)
def test_pages_join_to_the_whole(repo: Path, command: list[str]) -> None:
    names = "".join(f"def f{n}(): pass\n" for n in range(25))
    write(repo, {"many.py": names, "more, odd.py": names, os.fsdecode(b"caf\xe9.py"): names})
    whole = ask(*command, cwd=repo)
    joined, cursor = [], ""
    for _ in range(100):
        done = concord(*command, "--json", "--no-update", "--limit", "7", "--cursor", cursor, cwd=repo)
        page = json.loads(done.stdout)
        assert len(page) <= 7
        joined += page
        more = re.search(r"(\d+) of (\d+); continue with --cursor '?([^'\n]*)", done.stderr)
        if more is None:
            break
        assert int(more[2]) == len(whole)
        cursor = more[3]
    assert joined == whole


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "999999999999999999999999", "1_0", "a,b", "a,b,c", "٣"])
def test_a_wrong_cursor(built: Path, cursor: str) -> None:
    for command in (["symbols", "a.py"], ["keywords"]):
        done = concord(*command, "--json", f"--cursor={cursor}", cwd=built, code=2)
        assert "cursor" in done.stderr
        assert done.stdout == ""


def test_no_update_answers_from_the_old_store(repo: Path) -> None:
    build(repo)
    write(repo, {"a.py": "def fresh(): pass\n"})
    assert [row["name"] for row in ask("symbols", "a.py", "--no-update", cwd=repo)] == ["Tree", "grow"]
    assert [row["name"] for row in ask("symbols", "a.py", cwd=repo)] == ["fresh"]


def test_no_update_without_a_store_builds(repo: Path) -> None:
    assert ask("symbols", "a.py", "--no-update", cwd=repo)


@pytest.mark.parametrize("spoilt", [b"", b"garbage" * 1000, b"SQLite format 3\0" + bytes(4000)], ids=len)
def test_no_update_with_a_spoilt_store(repo: Path, spoilt: bytes) -> None:
    (repo / ".concordance").mkdir()
    (repo / ".concordance/index.db").write_bytes(spoilt)
    done = concord("symbols", "a.py", "--no-update", cwd=repo, code=1)
    assert "index.db" in done.stderr


def test_a_closed_pipe(repo: Path) -> None:
    write(repo, {"many.py": "".join(f"def f{n}(): pass\n" for n in range(4000))})
    build(repo)
    for more in ("", " --json"):
        line = f"{program.CONCORD} symbols many.py --limit 4000{more} | head -c 20"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], cwd=repo, env=program.environment(), capture_output=True, text=True
        )
        assert len(done.stdout) == 20
        assert done.stderr == ""


def test_output_that_goes_nowhere(built: Path) -> None:
    full = subprocess.run(
        ["bash", "-c", f"{program.CONCORD} symbols a.py --json > /dev/full"],
        cwd=built, env=program.environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert full.returncode == 1
    assert full.stderr == "concord: [Errno 28] No space left on device\n"
    closed = subprocess.run(
        ["bash", "-c", f"{program.CONCORD} symbols a.py --json >&-"],
        cwd=built, env=program.environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in closed.stderr


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    line = f"mkdir gone; cd gone; rmdir ../gone; {program.CONCORD} symbols a.py"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=program.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("concord: ")
    assert "Traceback" not in done.stderr


def test_output_in_a_narrow_encoding(repo: Path) -> None:
    write(repo, {"a.py": "def größe(): pass\n", os.fsdecode(b"caf\xe9.py"): "def x(): pass\n"})
    git(repo, "add", "-A")
    age(repo)
    for encoding in ("ascii", "utf-8"):
        done = concord("keywords", cwd=repo, env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
        assert "caf" in done.stdout
    assert "größe" in concord("keywords", cwd=repo, env={"PYTHONIOENCODING": "utf-8"}).stdout


def test_build_says_what_it_did(repo: Path) -> None:
    said = concord("build", repo, "--verbose").stdout
    assert re.search(r"^files +6  6 read$", said, re.M)
    for step in ("collect", "learn", "extract", "history", "store"):
        assert re.search(rf"^  {step} +\d+\.\d\d s$", said, re.M)
    assert str(repo / ".concordance/index.db") in said


def test_pages_are_shown(built: Path) -> None:
    page = concord("show", "a.py", cwd=built).stdout
    assert page.startswith("# Documentation: `a.py`\n")
    assert "## Cross-References" in page
    assert "```python" not in page.partition("## High-Level Overview")[0], "the source is at hand already"
    assert "Tree" in concord("show", "Tree", cwd=built).stdout
    assert concord("show", ".", cwd=built).stdout.startswith("# Folder Documentation")
    (row,) = ask("show", "a.py", cwd=built)
    assert row["path"] == "a.py"
    assert "nobody" in concord("show", "nobody", cwd=built, code=2).stderr
