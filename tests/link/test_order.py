"""Links do not depend on the order in which files are linked, nor on how they are split among processes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from concordance.link.solver import Solver
from tests.support import editrepo
from tests.support.linked import Repository
from tests.support.madeup import Repository as MadeUp
from tests.support.relinked import Book, said

_ENDINGS = {"py": "python", "h": "cpp", "cpp": "cpp", "ts": "typescript", "rs": "rust", "java": "java"}


def _repository(root: Path, files: dict[str, str]) -> Repository:
    return Repository(root, {path: (_ENDINGS[path.rpartition(".")[2]], text) for path, text in files.items()})


def _differing(made: Repository, seeds: int = 6) -> list[str]:
    """Return the files whose links differ in another order, or when linked alone."""
    batches = [[made.numbers[::-1]], [[number] for number in made.numbers]]
    for seed in range(seeds):
        rng = random.Random(seed)
        order = rng.sample(made.numbers, len(made.numbers))
        splits = rng.randint(1, 3)
        batches.append([order[part::splits] for part in range(splits)])
    found = {path for one in batches for path, linked in made.link(one).items() if linked != made.links[path]}
    return sorted(found)


# --- the causes that were found ----------------------------------------------------------------


def test_a_generator_that_iterates_over_itself(tmp_path: Path) -> None:
    made = _repository(tmp_path, {
        "a.py": "class Shape:\n    def reshape(self):\n        return Shape()\n\n\nclass Info:\n"
        "    def gen(self, flag):\n        if flag:\n            for args, kw in self.gen(False):\n"
        "                yield args.reshape(), kw\n        yield Shape(), 1\n",
        "b.py": "from a import Info\n\nfor one, two in Info().gen(True):\n    one.reshape()\n",
    })  # fmt: skip
    assert made.at("b.py", 4, 9) == ["a.py#Shape.reshape exact"]
    assert made.at("a.py", 10, 28) == ["a.py#Shape.reshape exact"]
    assert not _differing(made)


@pytest.mark.parametrize("ends", ["return Leaf()", "return step_0() or Leaf()"])
def test_a_chain_of_functions_that_return_one_another(tmp_path: Path, ends: str) -> None:
    """A chain of any length, and a ring."""
    count = 400
    steps = "".join(f"def step_{n}():\n    return step_{n + 1}()\n\n\n" for n in range(count))
    chain = f"class Leaf:\n    def fall(self):\n        pass\n\n\n{steps}def step_{count}():\n    {ends}\n"
    users = {f"use_{n}.py": f"from chain import step_{n}\n\nstep_{n}().fall()\n" for n in (0, 79, 80, 81, 200, count)}
    made = _repository(tmp_path, {"chain.py": chain, **users})
    for path in users:
        assert made.at(path, 3, 1 + len(path.removesuffix(".py")) + 4) == ["chain.py#Leaf.fall exact"], path
    assert not _differing(made, 2)


def test_a_chain_of_aliases_in_cpp(tmp_path: Path) -> None:
    count = 150
    lines = ["struct A0 { void go(); };", *(f"using A{n} = A{n - 1};" for n in range(1, count))]
    users = {f"u{n}.cpp": f'#include "a.h"\nvoid f(A{n} a) {{ a.go(); }}\n' for n in (1, 59, 60, 61, 70, count - 1)}
    made = _repository(tmp_path, {"a.h": "\n".join(lines) + "\n", **users})
    for path, text in users.items():
        assert made.at(path, 2, text.splitlines()[1].index("go") + 1) == ["a.h#A0.go exact"], path
    assert not _differing(made, 3)


def test_bases_that_depend_on_members_of_their_own_class(tmp_path: Path) -> None:
    made = _repository(tmp_path, {
        "a.py": "from b import Left\n\n\nclass Base:\n    def go(self):\n        return self\n\n\n"
        "class One(Left().kind()):\n    def kind(self):\n        return Base\n\n    def turn(self):\n        return self.go()\n",
        "b.py": "from a import One, Base\n\n\nclass Left(One().kind()):\n    def kind(self):\n        return Base\n",
        "c.py": "from a import One\nfrom b import Left\n\nOne().go().turn()\nLeft().go().kind()\n",
    })  # fmt: skip
    assert not _differing(made)


def test_a_ring_of_star_imports(tmp_path: Path) -> None:
    """Each module of a ring has the name that it reaches over the fewest others, even if two modules offer it."""
    made = _repository(tmp_path, {
        "a.py": "from b import *\nfrom own_a import *\n",
        "b.py": "from a import *\nfrom own_b import *\n",
        "own_a.py": "def both(): pass\n\n\ndef of_a(): pass\n",
        "own_b.py": "def both(): pass\n\n\ndef of_b(): pass\n",
        "c.py": "import a\nimport b\n\na.both()\nb.both()\na.of_b()\nb.of_a()\n",
    })  # fmt: skip
    found = [made.at("c.py", line, 3)[0].partition(" ")[0] for line in range(4, 8)]
    assert found == ["own_a.py#both", "own_b.py#both", "own_b.py#of_b", "own_a.py#of_a"]
    assert not _differing(made)


def test_namespaces_that_are_aliases_of_each_other(tmp_path: Path) -> None:
    made = _repository(tmp_path, {
        "a.h": "namespace one { struct T {}; }\nnamespace x = y;\nnamespace y = x;\nusing namespace x;\nusing namespace one;\n",
        "b.cpp": '#include "a.h"\nx::T a;\ny::T b;\nT c;\n',
        "c.cpp": '#include "a.h"\ny::T b;\nx::T a;\n',
    })  # fmt: skip
    assert made.at("b.cpp", 4, 1) == ["a.h#one.T exact"]
    assert not _differing(made)


def test_directives_that_need_one_another(tmp_path: Path) -> None:
    made = _repository(tmp_path, {
        "a.h": "namespace a { namespace d { struct D {}; } }\nnamespace b { namespace c { struct C {}; } }\n"
        "namespace a { using namespace b::c; }\nnamespace b { using namespace a::d; }\n",
        "b.cpp": '#include "a.h"\na::C c;\nb::D d;\n',
        "c.cpp": '#include "a.h"\nb::D d;\na::C c;\n',
    })  # fmt: skip
    assert made.at("b.cpp", 2, 4) == ["a.h#b.c.C exact"]
    assert made.at("b.cpp", 3, 4) == ["a.h#a.d.D exact"]
    assert not _differing(made)


def test_a_repository_in_which_everything_leads_back_to_itself(tmp_path: Path) -> None:
    files = {path: text for path, text in editrepo.TANGLED.items() if path.rpartition(".")[2] in _ENDINGS}
    made = _repository(tmp_path, files)
    assert made.at("knot/outer.py", 7, 22) == ["knot/ring_7.py#Strand7.twist exact"]
    assert made.at("knot/ring_7.py", 13, 22) == ["knot/ring_0.py#Strand0.tie exact"]
    assert [one.partition(" ")[0] for one in made.at("tests/test_knot.py", 10, 12)] == ["knot/ring_3.py#turn_3"]
    assert not _differing(made)


# --- made-up repositories full of cycles ---------------------------------------------------------


def _python(rng: random.Random) -> dict[str, str]:
    modules = [f"m{n}" for n in range(7)]
    files = {}
    for place, module in enumerate(modules):
        others = rng.sample([one for one in modules if one != module], 3)
        lines = [f"from {others[0]} import *", f"import {others[1]}", f"from {others[2]} import K{rng.randrange(7)}"]
        base = rng.choice([f"K{rng.randrange(7)}", f"{others[1]}.K{rng.randrange(7)}", f"f{rng.randrange(7)}()", "object"])
        lines += [f"class K{place}({base}):"]
        for name in rng.sample(["go", "turn", "each", "item"], 3):
            way = rng.choice(
                [f"return self.{rng.choice(['go', 'turn', 'each'])}()", f"return K{rng.randrange(7)}()",
                 f"return [self, {others[1]}.f{rng.randrange(7)}()]", f"self.held = self.{name}()\n        return self.held",
                 f"for one in self.each():\n            yield one.{rng.choice(['go', 'turn'])}()"]
            )  # fmt: skip
            lines += [f"    def {name}(self):", f"        {way}"]
        for _ in range(2):
            called = rng.choice([f"f{rng.randrange(7)}", f"{others[1]}.f{rng.randrange(7)}", f"K{rng.randrange(7)}"])
            lines += [f"def f{rng.randrange(7)}():", f"    one = {called}()", f"    if one.{rng.choice(['go', 'turn'])}():"]
            lines += [f"        return f{rng.randrange(7)}()", f"    return one.{rng.choice(['go', 'each', 'held'])}"]
        files[f"{module}.py"] = "\n".join(lines) + "\n"
    return files


def _cpp(rng: random.Random) -> dict[str, str]:
    files = {}
    for place in range(6):
        lines = [f'#include "h{other}.h"' for other in rng.sample(range(6), 2)]
        lines += [f"namespace n{rng.randrange(3)} {{"]
        lines += [f"using namespace n{rng.randrange(4)}::n{rng.randrange(4)};", f"using namespace n{rng.randrange(4)};"]
        lines += [f"namespace n{rng.randrange(3)} {{ struct S{place + 6} {{ T{rng.randrange(6)} held; }}; }}", f"namespace n3 = n{rng.randrange(4)};"]
        lines += [f"using T{rng.randrange(6)} = T{rng.randrange(6)};", f"using n{rng.randrange(3)}::S{rng.randrange(6)};"]
        base = rng.choice(["", f" : T{rng.randrange(6)}", f" : n{rng.randrange(3)}::S{rng.randrange(6)}"])
        lines += [f"struct S{place}{base} {{ auto go() {{ return f{rng.randrange(6)}().go(); }} T{rng.randrange(6)} held; }};"]
        lines += [f"auto f{rng.randrange(6)}() {{ auto one = f{rng.randrange(6)}(); return one.held; }}"]
        lines += [f"inline S{rng.randrange(6)} f{place}() {{ T{rng.randrange(6)} t; return t.go().held; }}", "}"]
        files[f"h{place}.h"] = "\n".join(lines) + "\n"
    return files


def _ecma(rng: random.Random) -> dict[str, str]:
    files = {}
    for place in range(6):
        one, two, three = rng.sample(range(6), 3)
        files[f"m{place}.ts"] = (
            f"export * from './m{one}';\nexport * from './m{two}';\nimport {{ K{two}, K{three} }} from './m{three}';\n"
            f"export class K{place} extends K{rng.choice([two, three])} {{\n  held: K{three};\n"
            f"  go() {{ return this.held.turn(); }}\n  turn() {{ return new K{two}().go(); }}\n}}\n"
            f"export class L{place} extends K{place}.inner {{\n  static inner = K{two};\n}}\n"
        )
    return files


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("make", [_python, _cpp, _ecma])
def test_a_repository_full_of_cycles(
    tmp_path: Path, make: Callable[[random.Random], dict[str, str]], seed: int
) -> None:
    assert not _differing(_repository(tmp_path, make(random.Random(seed))), 4)


# --- the solver ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_answers_do_not_depend_on_what_was_asked_before(seed: int) -> None:
    """Random equations in which the questions depend on answers and are not monotonic."""
    rng = random.Random(seed)
    count = rng.randint(2, 14)
    rows = [[rng.randrange(count) for _ in range(4)] + [rng.randrange(9), rng.randrange(5)] for _ in range(count)]

    def answers(order: list[int]) -> dict[int, int]:
        known: dict[int, int] = {}

        def ask(one: int) -> int:
            return known[one] if one in known else solver.ask(one)

        def work(one: int) -> int:
            a, b, c, d, own, how = rows[one]
            if how == 0:
                return own
            if how == 1:
                return ask(b) if ask(a) else ask(c) or own
            if how == 2:
                return own if ask(a) > 4 else (ask(a) + ask(b)) % 9
            if how == 3:
                return ask(c) + 1 if ask(a) < ask(b) else ask(rows[d][ask(a) % 4])
            return max(ask(a), ask(b), own)

        solver: Solver[int, int] = Solver(work, known.__setitem__, 0)
        for one in order:
            ask(one)
        return known

    first = answers(list(range(count)))
    for _ in range(8):
        order = rng.sample(range(count), count)
        again = answers(order[: rng.randint(1, count)])
        assert again == {one: first[one] for one in again}


def test_a_fault_leaves_nothing_open() -> None:
    known: dict[int, int] = {}
    faulty = [True]

    def work(one: int) -> int:
        if one == 3 and faulty:
            raise ValueError
        return known[one + 1] if one + 1 in known else solver.ask(one + 1) if one < 5 else 7

    solver: Solver[int, int] = Solver(work, known.__setitem__, 0)
    with pytest.raises(ValueError):
        solver.ask(0)
    faulty.clear()
    assert solver.ask(0) == 7


def test_a_compiled_base_does_not_depend_on_how_far_away_it_is_asked_for(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": "from pkg import _C\n\n\nclass One(_C.Base):\n    pass\n\n\nx = _C.Make()\n\n\nclass Two(x.Next):\n    pass\n",
        "pkg/b.py": "from pkg.a import Two, One\n\ny = Two().Go()\nz = y.Go()\nz.run()\nOne().run()\n",
        "pkg/c.py": "from pkg.a import Two\n\nTwo().run()\n",
    }
    made = _repository(tmp_path, files)
    assert any(linked.asks for linked in made.links.values())
    assert not _differing(made)


# --- whole stores --------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [("python", "shell"), ("c",), ("ecma",), ("bound", "table", "asking"), ("go", "rust", "java")])
def test_a_store_does_not_depend_on_the_order_in_which_files_are_read(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    """Ids are assigned as workers finish, so anything sorted by id would differ."""
    files = MadeUp(911, kinds).text()
    stores = []
    for seed in range(3):
        paths = sorted(files)
        random.Random(seed).shuffle(paths)
        Book(tmp_path / str(seed), {path: files[path] for path in paths})
        stores.append(said(tmp_path / str(seed) / "kept"))
    for part, rows in stores[0].items():
        assert rows == stores[1][part] == stores[2][part], part
