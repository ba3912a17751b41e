"""Error messages: which ones each language's reader finds, and that a search finds the line that raises one."""

from __future__ import annotations

from pathlib import Path

import pytest

from concordance import api
from concordance.extract.engine import extract
from concordance.query.search.error_messages import message_coverage, normalise_message
from concordance.workflow import store_update

MESSAGES = [
    ("python", 'raise ValueError("the size is wrong")', "the size is wrong"),
    ("python", 'raise ValueError(f"expected {a} sizes but got {b!r}")', "expected … sizes but got"),
    ("python", 'raise pkg.Error("no such %s in %d files" % (a, b))', "no such … in … files"),
    ("python", 'raise Error("one {} two {name} three".format(a, name=b))', "one … two … three"),
    ("python", 'raise Error("a text "\n  "on two lines, " + x + " joined")', "a text on two lines, … joined"),
    ("python", 'def f():\n  message = "held in a variable"\n  raise Error(message)', "held in a variable"),
    ("python", 'raise ValidationError(_("Enter a valid value."), code=1)', "Enter a valid value."),
    ("python", 'warnings.warn("this is old", DeprecationWarning)', "this is old"),
    ("python", 'assert x == 1, f"x must be one, not {x}"', "x must be one, not"),
    ("python", 'x = "raise Error(\'of no interest\')"', ""),
    ("python", '# raise Error("of no interest")', ""),
    ("python", 'raise Error("word")', ""),
    ("cpp", 'void f() { throw std::runtime_error("it did not work"); }', "it did not work"),
    ("cpp", 'void f() { TORCH_CHECK(x == "a b", "expected ", x, " but got ", y.get("k v"), "."); }',
     "expected … but got …."),
    ("cpp", 'void f() { throw Error(loc) << "no value for " << name << " here"; }', "no value for … here"),
    ("cpp", 'void f() { PyErr_Format(PyExc_TypeError, "got %zd of %s", n, s); }', "got … of"),
    ("cpp", 'void f() { AT_ERROR(c10::str("in a call: ", x, " of this")); }', "in a call: … of this"),
    ("cpp", 'void f() { CHECK(x)\n  << "streamed on, " << x; }', "streamed on,"),
    ("cpp", '// throw Error("of no interest");', ""),
    ("cpp", 'void f() { log("not an error at all"); }', ""),
    ("c", 'void f(void) { pr_err("cannot map %lx of %s\\n", a, b); }', "cannot map … of"),
    ("rust", 'fn f() { panic!("index {} out of range {len}", i); }', "index … out of range"),
    ("rust", 'fn f() { g().with_context(|| format!("failed to open {} for reading", p))?; }', "failed to open … for reading"),
    ("rust", 'fn f() { Err(format_err!("no package {} in the registry", p)) }', "no package … in the registry"),
    ("go", 'package a\nfunc f() error { return fmt.Errorf("open %q: %w in vain", a, b) }', "open …: … in vain"),
    ("java", 'class A { void f() { throw new IllegalStateException("bad state " + s + " here"); } }', "bad state … here"),
    ("javascript", "throw new Error(`no ${a} in ${b} there`);", "no … in … there"),
    ("javascript", "reject(new AppError('no answer within ' + n + ' ms', 'E'));", "no answer within … ms"),
    ("javascript", """throw new Error('it\\'s "quoted" here');""", 'it\'s "quoted" here'),
    ("c", 'void f(void) { fprintf(stderr, "no server at %s\\n", path); }', "no server at"),
    ("c", 'void f(void) { fprintf(out, "no message for people\\n"); }', ""),
    ("rust", 'fn f() { eprintln!("no server at {path}"); }', "no server at"),
    ("go", 'package a\nfunc f() { fmt.Fprintf(os.Stderr, "no server at %s\\n", path) }', "no server at"),
    ("cmake", 'message(FATAL_ERROR "no compiler ${CC} found")', "no compiler … found"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "code", "message"), MESSAGES)
def test_messages(language: str, code: str, message: str) -> None:
    found = [end.text for end in extract(code, language).ends if end.bridge == "errors"]
    assert found == ([message] if message else [])


def test_long_messages_say_that_they_are_cut() -> None:
    code = f'raise Error("{"very long " * 80}")'
    (end,) = [end for end in extract(code, "python").ends if end.bridge == "errors"]
    assert len(end.text) == 400
    assert end.more == (("cut", "yes"),)


FITS = [
    ("expected scalar type … but found", "expected scalar type Float but found Double", True),
    ("expected scalar type … but found", "RuntimeError: expected scalar type Float but", True),
    ("The size of tensor a (…) must match the size of tensor b (…) at dimension …",
     "must match the size of tensor b (4) at dimension 1", True),
    ("expected scalar type … but found", "expected something else altogether of this", False),
    ("index … is out of range", "the index of the documentation is out of date, and nobody has an idea", False),
    ("'…' is no valid tag in '…'", "'x' is no valid tag in 'y'", True),
    ("a … of", "a long question that has a letter in it of course", False),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "question", "fits"), FITS)
def test_fit(pattern: str, question: str, fits: bool) -> None:
    assert bool(message_coverage(pattern, normalise_message(question))) is fits


def test_a_search_finds_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "repository"
    root.mkdir()
    (root / "size.py").write_text('def check(a, b):\n    if a != b:\n        raise ValueError(f"size {a} does not fit {b}")\n')
    (root / "notes.md").write_text("# Notes\n\nOften one sees: size 3 does not fit 4. Then the size does not fit.\n")
    store_update.build(root)
    with api.Repository(root) as repository:
        rows = repository.search("ValueError: size 3 does not fit 4")
    assert (rows[0]["path"], rows[0]["line"]) == ("size.py", 3)
