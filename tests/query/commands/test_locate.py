"""`concord locate`: what a report mentions, in every form of stack trace, and the files and functions found for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import concordance
from concordance.api import Repository
from concordance.base.errors import UserError
from concordance.query.search import ranking, suspects
from concordance.query.search.bug_report import StackFrame, parse_report
from concordance.query.search.error_messages import find_raising_lines
from concordance.query.search.example_code import read_example
from tests.support.program import ask, concord, git, write

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": '''\
"""The cart of a customer."""

from shop.prices import round_price


class Cart:
    """Holds items until they are paid."""

    def add(self, item, count):
        if count < 0:
            raise ValueError(f"cannot add {count} items to the cart")
        self.items.append((item, count))

    def total(self):
        return sum(round_price(item.price) * count for item, count in self.items)
''',
    "src/shop/prices.py": '''\
"""Prices and their currencies."""


def round_price(price):
    return price.quantize(CENT)


def convert(price, currency):
    return price * RATES[currency]
''',
    "src/shop/cli.py": '''\
"""The command line."""

import os


def add_options(parser):
    parser.add_argument("--dry-run", help="Pay nothing.")
    parser.add_argument("--region", default=os.environ.get("SHOP_REGION"))


def report_stock(count):
    print("Only", count, "left in the warehouse, order soon")
''',
    "src/shop/shipping.py": '''\
"""Parcels: their weight, the postage, the label."""


class Parcel:
    """What is sent to a customer."""

    def postage(self, country):
        """Return the postage for a parcel, by weight and country."""
        return POSTAGE[country] * self.weight


class Letter(Parcel):
    def postage(self, country):
        return FLAT[country]
''',
    "tests/test_cart.py": '''\
from shop.cart import Cart


def test_total_of_empty_cart():
    assert Cart().total() == 0
''',
    "src/shop/errors.py": '''\
"""What can go wrong with a refund."""


class ShopError(Exception):
    """The base of all errors."""


class RefundError(ShopError):
    """A refund of a payment by voucher failed."""


class VoucherWarning(UserWarning):
    """A voucher of a refund."""
''',
    "src/shop/refunds.py": '''\
def refund(payment, voucher):
    return payment - voucher
''',
    "web/dist/postage.js": "function postage(parcel, weight, country) { return parcel.weight * country; }\n",
    "README.md": "# shop\n\nA shop with a cart, prices, postage and a command line with --dry-run.\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """A small repository."""
    root = tmp_path_factory.mktemp("shop")
    write(root, FILES)
    with concordance.open(root) as repository:
        yield repository


def first_file(rows: list[dict[str, Any]]) -> str:
    return next(str(row["path"]) for row in rows if row["kind"] == "file")


def first_function(rows: list[dict[str, Any]]) -> tuple[str, str]:
    return next((str(row["path"]), str(row["symbol"])) for row in rows if row["kind"] != "file")


# --- what a report says


TRACES = {
    "python": (
        'Traceback (most recent call last):\n  File "/usr/lib/python3/site-packages/shop/cart.py", line 15, in total\n'
        '    return sum(x)\n  File "/usr/lib/python3/site-packages/shop/prices.py", line 5, in round_price\n    return price\nAttributeError: x\n',
        [StackFrame("/usr/lib/python3/site-packages/shop/prices.py", 5, "round_price"), StackFrame("/usr/lib/python3/site-packages/shop/cart.py", 15, "total")],
    ),
    "windows": ('  File "C:\\shop\\cart.py", line 15, in total\n', [StackFrame("C:/shop/cart.py", 15, "total")]),
    "prefixed": ('INTERNALERROR>   File "/x/shop/cart.py", line 15, in total\n', [StackFrame("/x/shop/cart.py", 15, "total")]),
    "pytest": (
        "tests/test_cart.py:5: in test_total\n    assert Cart().total() == 0\nsrc/shop/cart.py:15: AttributeError\n",
        [StackFrame("src/shop/cart.py", 15, ""), StackFrame("tests/test_cart.py", 5, "test_total")],
    ),
    "java": (
        "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat com.shop.Cart.total(Cart.java:12)\n\tat com.shop.Main$1.run(Main.java:3)\n",
        [StackFrame("com/shop/Cart.java", 12, "total"), StackFrame("com/shop/Main.java", 3, "run")],
    ),
    "javascript": (
        "TypeError: x is not a function\n    at Cart.total (/srv/app/src/cart.js:10:15)\n    at async file:///srv/app/src/main.mjs:3:1\n",
        [StackFrame("/srv/app/src/cart.js", 10, "total"), StackFrame("/srv/app/src/main.mjs", 3, "")],
    ),
    "go": (
        "goroutine 1 [running]:\nmain.(*Cart).Total(0xc000012345)\n\t/home/me/shop/cart.go:17 +0x1d\nmain.main()\n\t/home/me/shop/main.go:5 +0x20\n",
        [StackFrame("/home/me/shop/cart.go", 17, "Total"), StackFrame("/home/me/shop/main.go", 5, "main")],
    ),
    "rust": (
        "thread 'main' panicked at src/cart.rs:9:5:\nindex out of bounds\n   1: shop::cart::total\n             at ./src/lib.rs:4:9\n",
        [StackFrame("src/cart.rs", 9, ""), StackFrame("./src/lib.rs", 4, "total")],
    ),
    "rust before 1.73": ("thread 'main' panicked at 'index out of bounds: 3', src/cart.rs:9:5\n", [StackFrame("src/cart.rs", 9, "")]),
    "gdb": (
        "#0  0x0000555 in shop::Cart::total (this=0x0) at src/cart.cpp:21\n#1  0x0000556 in main () at src/main.cpp:4\n",
        [StackFrame("src/cart.cpp", 21, "total"), StackFrame("src/main.cpp", 4, "main")],
    ),
    "sanitizer": ("    #1 0x4f2 in shop::Cart::add(int) /b/src/cart.cc:33:7\n", [StackFrame("/b/src/cart.cc", 33, "add")]),
    "valgrind": (
        "==12==    at 0x4C2FB0F: shop::Cart::total() const (cart.cpp:21)\n==12==    by 0x108661: main (main.cpp:4)\n",
        [StackFrame("cart.cpp", 21, "total"), StackFrame("main.cpp", 4, "main")],
    ),
    "assertion of libc": ("shop: src/cart.c:12: int cart_total(cart *): Assertion `a > b' failed.\n", [StackFrame("src/cart.c", 12, "cart_total")]),
    "assertion of glib": ("ERROR:../src/cart.c:12:cart_total: assertion failed: (a > b)\n", [StackFrame("../src/cart.c", 12, "cart_total")]),
    "assertion in a sentence": ("Assertion 'a > b' failed at src/cart.c:12, function cart_total(). Aborting.\n", [StackFrame("src/cart.c", 12, "cart_total")]),
    "core dump": (
        "#0  0x00007f1c raise (libc.so.6 + 0x3d)\n#1  0x000055d0 cart_total (shop + 0x12)\n#2  0x000055d1 n/a (shop)\n",
        [StackFrame("", 0, "raise"), StackFrame("", 0, "cart_total")],
    ),
    "kernel": (
        "Call Trace:\n <TASK>\n dump_stack+0x12/0x40\n ? cart_total+0x1a/0x30 [shop]\n </TASK>\n",
        [StackFrame("", 0, "dump_stack"), StackFrame("", 0, "cart_total")],
    ),
    "notebook": (
        "~/lib/site-packages/shop/cart.py in total(self)\n     14     def total(self):\n---> 15         return sum(x)\n     16 \n\n"
        "C:\\lib\\site-packages\\shop\\prices.py in round_price(price)\n      4 def round_price(price):\n----> 5     return price\n\nTypeError: no\n",
        [StackFrame("C:/lib/site-packages/shop/prices.py", 5, "round_price"), StackFrame("~/lib/site-packages/shop/cart.py", 15, "total")],
    ),
    "notebook since IPython 8": (
        "File ~/lib/site-packages/shop/cart.py:15, in Cart.total(self)\n     14 def total(self):\n---> 15     return sum(x)\n",
        [StackFrame("~/lib/site-packages/shop/cart.py", 15, "total")],
    ),
    "gtest": ("src/cart_test.cc:8: Failure\nExpected equality of these values:\n", [StackFrame("src/cart_test.cc", 8, "")]),
}  # fmt: skip


@pytest.mark.parametrize("language", TRACES)
def test_traces_are_read_innermost_first(language: str) -> None:
    text, frames = TRACES[language]
    assert parse_report(f"It fails\n\n```\n{text}```\n").traces[0] == [
        frame._replace(source=read.source) for frame, read in zip(frames, parse_report(text).traces[0], strict=True)
    ]


def test_what_describes_the_machine_is_dropped() -> None:
    text = (
        "Total is wrong\n<!-- Thanks for\nreporting -->\n- [x] I searched for duplicates\n\n"
        "numpy 1.26.4\nattrs==19.3.0\nSee https://example.org/shop/blob/main/src/shop/cart.py#L3\n"
    )
    report = parse_report(text)
    assert report.title == "Total is wrong"
    assert report.paths == ["src/shop/cart.py"]
    assert not any(word in report.words for word in ("Thanks", "duplicates", "numpy", "attrs", "example.org"))


def test_names_of_the_example_itself_are_not_names_of_the_repository() -> None:
    text = "`round_price` fails\n```python\nclass MyItem:\n    pass\nmy_cart = Cart()\nmy_cart.add(MyItem, 2)\nround_price(load_items())\n```\n"
    names = parse_report(text).names
    assert names["round_price"] == 1.0
    assert names["load_items"] < 1.0
    assert not {"MyItem", "my_cart", "my_cart.add"} & names.keys()


def test_an_example_is_read_by_the_names_of_the_project() -> None:
    example = read_example(
        ">>> import shop.cart as sc, os\n>>> from shop import (prices as p,\n...     tax)\n"
        "class Big(sc.Cart):\n    pass\nbig = Big()\nlist_of = p.load()\n"
    )
    names = {name: example.expand(name) for name in ("sc.Cart", "big.total", "p.convert", "tax", "list_of.sort", "other.name", "os.path")}
    assert names == {
        "sc.Cart": "shop.cart.Cart", "big.total": "shop.cart.Cart.total", "p.convert": "shop.prices.convert", "tax": "shop.tax",
        "list_of.sort": "", "other.name": "other.name", "os.path": "os.path",
    }  # fmt: skip
    assert example.modules == {"shop", "os"}


def test_an_example_that_imports_in_a_circle() -> None:
    example = read_example("from shop import shop\na = B()\nB = a()\nclass A(B): pass\nclass B(A): pass\n")
    assert example.expand("shop.pay") == "shop.shop.pay"
    assert example.expand("A.pay").endswith(".pay")


def test_code_is_read_without_a_fence() -> None:
    report = parse_report("It fails\n\n    cart = Cart()\n    cart.pay_all(3)\n\nor\n>>> convert(1)\n")
    assert report.names == {"Cart": 0.5, "Cart.pay_all": 0.5, "convert": 0.5}


def test_the_sections_of_a_form_about_the_machine_are_dropped() -> None:
    report = parse_report("Total is wrong\n### Axle Version\n\nglibc_special\n### What happens\nIt is 3\n### Browser\n_No response_\n**OS**: x\n")
    assert "What happens" in report.words
    assert not any(word in report.words for word in ("glibc", "Browser", "response"))


MACHINE = "**Environment:**\n- Python version: 3.12\n- OS: Linux\n"


@pytest.mark.parametrize(
    "text",
    [
        "### round_price is broken\n",
        f"### round_price is broken\n{MACHINE}",
        f"Wrong\n{MACHINE}\nround_price is broken when I run it\n",
        f"{MACHINE}\nround_price is broken\n",
        "# Environment variable of round_price\n\nIt is wrong when I run it.\n",
        "### Environment\nround_price\n",
        f"Wrong\n{MACHINE}\n```\nTraceback (most recent call last):\nAttributeError: no attribute 'round_price'\n```\n",
    ],
)  # fmt: skip
def test_what_stands_beside_the_machine_is_read(text: str) -> None:
    report = parse_report(text)
    assert "round_price" in report.words
    assert "Linux" not in report.words


@pytest.mark.parametrize("between", ["", "\n", "worker.py:12 INFO ready\n"])
def test_the_end_of_a_long_log_is_read(shop: Repository, between: str) -> None:
    log = "It fails\n" + 20_000 * "2026-01-02 debug 17 ms\n" + TRACES["python"][0] + 100_000 * between
    answer = shop.ask("locate", log)
    assert answer.rows[0]["path"] == shop.locate(TRACES["python"][0])[0]["path"]
    assert f"of {len(log):,} characters were left out" in answer.note


def test_lines_of_patches_and_links() -> None:
    text = (
        "See https://host.org/o/shop/blob/main/src/shop/cli.py#L9-L12\n```diff\n--- a/src/shop/cart.py\n+++ b/src/shop/cart.py\n"
        "@@ -12,5 +12,5 @@ class Cart\n     def add(\n```\n"
    )
    assert parse_report(text).lines == [("src/shop/cart.py", 15), ("src/shop/cli.py", 9)]


def test_the_class_that_lacks_an_attribute_is_blamed() -> None:
    assert parse_report("AttributeError: 'Cart' object has no attribute 'tip'").names == {"Cart": 1.5, "tip": 1.0}


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("AttributeError: 'Cart' object has no attribute 'tip'", {"tip"}),
        ("TypeError: pay() got an unexpected keyword argument 'tip'", {"pay", "tip"}),
        ("NameError: name 'tip' is not defined", {"tip"}),
        ("ModuleNotFoundError: No module named 'shop.desk'", {"shop.desk"}),
        ("TypeError: cart.pay is not a function", {"cart.pay"}),
        ("TypeError: Cannot read properties of undefined (reading 'tip')", {"tip"}),
        ("ld: undefined reference to `shop::pay'", {"shop::pay"}),
    ],
)
def test_names_in_errors(message: str, names: set[str]) -> None:
    found = parse_report(f"It fails\n```\n{message}\n```\n").names
    assert {name for name, weight in found.items() if weight >= 1.0} - {"Cart"} == names


def test_names_of_failed_tests() -> None:
    text = "[ RUN      ] CartTest.TotalOfEmpty\n[  FAILED  ] CartTest.TotalOfEmpty (0 ms)\n[  FAILED  ] Sizes/CartTest.Grows/3\n"
    assert list(parse_report(text).tests) == ["CartTest.TotalOfEmpty", "CartTest.Grows"]
    text = "FAILED tests/test_cart.py::TestCart::test_total[EUR] - KeyError\nERROR: test_pay (tests.test_desk.DeskTest.test_pay)\n--- FAIL: TestCart/empty (0.00s)\ntest cart::tests::total ... FAILED\n"
    assert list(parse_report(text).tests) == ["TestCart.test_total", "DeskTest.test_pay", "TestCart", "tests.total"]


def test_the_words_of_a_quoted_sentence_are_not_names() -> None:
    report = parse_report("In my use case(s) `cart: the total is empty (check that it is valid)` is shown by v1.74.2-rc1.")
    assert (report.names, report.messages) == ({}, ["cart: the total is empty (check that it is valid)"])
    assert "74" not in report.words


def test_options_variables_and_strings() -> None:
    report = parse_report("With --dry-run and $SHOP_REGION it prints \"nothing to pay\", don't you think? It's odd.")
    assert report.literals == ["--dry-run", "SHOP_REGION", "nothing to pay"]


# --- what it leads to


def test_the_innermost_frame_comes_first(shop: Repository) -> None:
    rows = shop.locate(TRACES["python"][0])
    assert first_file(rows) == "src/shop/prices.py"
    assert first_function(rows) == ("src/shop/prices.py", "round_price")
    assert any("frame of the trace" in reason for reason in rows[0]["reasons"])


def test_a_frame_of_another_version_is_found_by_its_name(shop: Repository) -> None:
    rows = shop.locate('File "/opt/shop/prices.py", line 400, in convert\nKeyError: "EUR"')
    assert first_function(rows) == ("src/shop/prices.py", "convert")


def test_a_method_is_found_in_a_base_of_the_class(shop: Repository) -> None:
    rows = shop.locate("Wrong postage\n```python\nfrom shop.shipping import Letter\nclass Own(Letter):\n    pass\nOwn().postage(1)\nx = Own()\nx.postage(2)\n```\n")
    assert first_function(rows)[0] == "src/shop/shipping.py"


def test_names_of_other_packages_are_not_ours(shop: Repository) -> None:
    rows = shop.locate("It fails\n```python\nimport money as m\nm.convert(3)\n```\n")
    assert not any("defines convert" in reason for row in rows for reason in row["reasons"])


@pytest.mark.parametrize(
    ("text", "first", "later"),
    [
        ("The refund of a payment by voucher failed", "src/shop/refunds.py", "src/shop/errors.py"),
        ("The postage of a heavy parcel ignores weight and country", "src/shop/shipping.py", "web/dist/postage.js"),
    ],
)
def test_symptoms_and_built_files_come_later(shop: Repository, text: str, first: str, later: str) -> None:
    files = [row["path"] for row in shop.locate(text) if row["kind"] == "file"]
    assert files.index(first) < files.index(later)


def test_a_line_that_a_report_links_to(shop: Repository) -> None:
    rows = shop.locate("Odd\nhttps://host.org/o/shop/blob/main/src/shop/prices.py#L9\n")
    assert first_function(rows) == ("src/shop/prices.py", "convert")
    assert "mentioned: src/shop/prices.py line 9" in rows[0]["reasons"]


def test_a_frame_of_a_file_of_the_same_name_is_not_ours(shop: Repository) -> None:
    text = 'Traceback (most recent call last):\n  File "prices.py", line 5, in <module>\n    {}\nKeyError: 3\n'
    for source, is_ours in (("return price.quantize(CENT)", True), ("import mine; mine.run()", False)):
        rows = shop.locate(text.format(source))
        assert any("frame" in reason for row in rows for reason in row["reasons"]) is is_ours


def test_what_rests_on_words_alone_says_so(shop: Repository) -> None:
    answer = shop.ask("locate", "the postage of a parcel is wrong")
    assert answer.note.startswith("ranked by words alone")
    assert "words" not in shop.ask("locate", "`Parcel.postage` is wrong").note


def test_words_are_shown_as_they_are_written(shop: Repository) -> None:
    reasons = " ".join(reason for row in shop.locate("RuntimeError of the warehouseStock in report_stock") for reason in row["reasons"])
    assert "report_stock" in reasons
    assert not any(stem in reasons for stem in ("reportstock", "warehousestock", "runtimeerror"))


def test_a_frame_of_another_project_is_not_ours(shop: Repository) -> None:
    rows = shop.locate('File "/usr/lib/python3/site-packages/other/cart.py", line 3, in total\n')
    assert not any("frame" in reason for row in rows for reason in row["reasons"])


@pytest.mark.parametrize(
    ("text", "path", "symbol", "reason"),
    [
        ("Core dump\n#0  0x00007f1c raise (libc.so.6 + 0x3d)\n#1  0x000055d0 round_price (shop + 0x12)\n", "src/shop/prices.py", "round_price", "frame of the trace"),
        ("It says ValueError: cannot add -3 items to the cart", "src/shop/cart.py", "Cart.add", "raises"),
        ("Crash\n> cannot add -3 items to the cart\n", "src/shop/cart.py", "Cart.add", "raises"),
        ("I only see `cannot add 3 items to the cart`", "src/shop/cart.py", "Cart.add", "raises"),
        ("Error: code = 7 desc = Only 3 left in the warehouse, order soon", "src/shop/cli.py", "report_stock", "contains"),
        ("Nothing happens with --dry-run", "src/shop/cli.py", "add_options", "contains “--dry-run”"),
        ("Nothing happens with --no-dry-run", "src/shop/cli.py", "add_options", "contains “--dry-run”"),
        ("SHOP_REGION is ignored", "src/shop/cli.py", "add_options", "contains “SHOP_REGION”"),
        ("Wrong output\n```\nOnly 3 left in the warehouse, order soon\n```\n", "src/shop/cli.py", "report_stock", "contains"),
        ("`Cart.total` returns a wrong number", "src/shop/cart.py", "Cart.total", "defines total"),
        ("Look at shop/prices.py", "src/shop/prices.py", "", "mentioned: shop/prices.py"),
        ("The postage of a heavy parcel ignores its weight", "src/shop/shipping.py", "Parcel.postage", "words"),
    ],
)
def test_each_kind_of_evidence(shop: Repository, text: str, path: str, symbol: str, reason: str) -> None:
    rows = shop.locate(text)
    assert first_file(rows) == path
    if symbol:
        assert first_function(rows) == (path, symbol)
    assert any(reason in one for row in rows if row["path"] == path for one in row["reasons"])


def test_a_message_of_common_words_is_found(shop: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "rank_files", lambda *given: [])  # many other files have its words
    rows = find_raising_lines(shop._index, "cannot add 3 items to the cart", "", 3)
    assert [(one.path, one.end.line) for one in rows] == [("src/shop/cart.py", 11)]


def test_one_step_along_calls_overrides_and_tests(shop: Repository) -> None:
    def reasons(text: str) -> set[str]:
        return {reason for row in shop.locate(text) for reason in row["reasons"]}

    assert "called by total" in reasons("`Cart.total` is wrong")
    assert "overrides Parcel.postage" in reasons("`Parcel.postage` is wrong")
    assert "called by test_total_of_empty_cart" in reasons("FAILED tests/test_cart.py::test_total_of_empty_cart")


def test_rows_are_in_one_order_and_a_file_comes_before_its_functions(shop: Repository) -> None:
    rows = shop.locate("The total of the cart ignores the postage of a parcel", number=3)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert sum(row["kind"] == "file" for row in rows) <= 3
    assert sum(row["kind"] != "file" for row in rows) <= 3
    assert all(row["reasons"] for row in rows)
    seen: set[str] = set()
    for row in rows:
        assert row["kind"] == "file" or row["path"] in seen
        seen.add(str(row["path"]))
    assert all(0 < float(row["score"]) <= 1 for row in rows)


def test_what_a_failed_test_calls(shop: Repository) -> None:
    rows = shop.locate("FAILED tests/test_cart.py::test_total_of_empty_cart - TypeError")
    row = next(row for row in rows if row["symbol"] == "Cart.total")
    assert "called by the failed test test_total_of_empty_cart" in row["reasons"]


def test_a_string_that_no_source_contains(repo: Path) -> None:
    write(repo, {"examples/shop/settings.py": "APPS = ['shop.desk.DeskConfig']\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "more")
    rows = ask("locate", cwd=repo, input="It fails with 'shop.desk.DeskConfig' in the list\n", stdin=None)
    assert rows[0]["path"] == "examples/shop/settings.py"


def test_files_that_changed_together(repo: Path) -> None:
    for number in range(4):
        write(repo, {"one.py": f"def first(): return {number}\n", "other.py": f"def unlike(): return {number}\n"})
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", f"change {number}")
    rows = ask("locate", cwd=repo, input="`first` is wrong", stdin=None)
    assert any("changed together with one.py" in reason for row in rows if row["path"] == "other.py" for reason in row["reasons"])


def test_nothing_to_read_and_nothing_found(shop: Repository) -> None:
    with pytest.raises(UserError, match="no report"):
        shop.locate("  \n")
    answer = shop.ask("locate", "zyxwv")
    assert answer.rows == []
    assert "files searched" in answer.note


def test_the_command_reads_a_file_or_standard_input(repo: Path) -> None:
    write(repo.parent, {"report.md": "`Tree.grow` is wrong"})
    report = repo.parent / "report.md"
    from_file = ask("locate", report, cwd=repo)
    assert from_file[0]["path"] == "a.py"
    assert ask("locate", cwd=repo, input="`Tree.grow` is wrong", stdin=None) == from_file
    assert "Cannot read nowhere.md" in concord("locate", "nowhere.md", cwd=repo, code=2).stderr
    assert "try `concord define Tree.grow`" in concord("locate", "Tree.grow", cwd=repo, code=2).stderr
    said = concord("locate", f"it fails {'again ' * 40}", cwd=repo, code=2).stderr
    assert "pipe it into the command" in said and len(said) < 300
    questions = f'{{"command": "locate", "args": ["{report}"]}}\n{{"command": "locate", "args": ["-"]}}\n'
    first, second = concord("batch", cwd=repo, input=questions, stdin=None).stdout.splitlines()
    assert json.loads(first)["result"] == from_file
    assert "standard input holds the questions" in json.loads(second)["error"]


# --- what is no evidence


def test_spaces_of_a_browser_are_spaces() -> None:
    report = parse_report("panic\n\u00a0 | \u00a0shop/cart.go:15 +0x1f\n")
    assert report.traces == [[StackFrame("shop/cart.go", 15, "")]]


def test_functions_that_an_example_defines_are_no_names() -> None:
    report = parse_report("It hangs\n```cpp\n#include <shop.h>\nint main(int count) {\n  add_item(count);\n  return 0;\n}\n```\n")
    assert "main" not in report.names
    assert "add_item" in report.names


RUST = {
    "src/cart.rs": "pub struct Cart;\n\nimpl Cart {\n    pub fn refund_voucher(&self) -> u32 {\n        7\n    }\n}\n\n"
    "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    fn refund_twice() -> u32 {\n        // a refund of a voucher, twice\n        Cart.refund_voucher() + Cart.refund_voucher()\n    }\n\n"
    "    #[test]\n    fn refund_of_a_voucher() {\n        assert_eq!(refund_twice(), 14);\n    }\n}\n",
}
OVERLOADS = {
    "shop/Cart.java": "package shop;\n\nclass Cart {\n"
    + "\n".join(f"    int refund({kind} voucher) {{\n        return 1;\n    }}\n" for kind in ("int", "long", "String"))
    + "\n    int voucher() {\n        return 2;\n    }\n}\n",
    "shop/cart.h": "int pay_voucher(int amount);\n",
    "shop/cart.c": '#include "cart.h"\n\nint pay_voucher(int amount) {\n  return amount;\n}\n',
}


def _located(folder: Path, files: dict[str, str], report: str) -> list[tuple[str, str]]:
    write(folder, files)
    with concordance.open(folder) as repository:
        return [(row["path"], row["symbol"]) for row in repository.locate(report) if row["kind"] != "file"]


def test_tests_in_a_source_file_are_not_at_fault(tmp_path: Path) -> None:
    found = _located(tmp_path, RUST, "A refund of a voucher is wrong\n\nrefund a voucher twice, and the second refund is lost.\n")
    assert found == [("src/cart.rs", "Cart::refund_voucher")]


def test_overloads_share_a_row_and_a_declaration_is_no_definition(tmp_path: Path) -> None:
    found = _located(tmp_path, OVERLOADS, "A refund by voucher fails\n\n`refund` does nothing, `pay_voucher` too.\n")
    assert len(found) == len(set(found))
    assert {("shop/Cart.java", "Cart.refund"), ("shop/cart.c", "pay_voucher")} <= set(found)
    assert "shop/cart.h" not in {path for path, _ in found}


def test_words_alone_are_left_out_beside_a_trace(shop: Repository) -> None:
    trace = 'Traceback (most recent call last):\n  File "/x/src/shop/prices.py", line 5, in round_price\n    return price.quantize(CENT)\nNameError: no items\n'
    rows = shop.locate(f"Total fails\n\n{trace}")
    scores = {row["path"]: row["score"] for row in rows if row["kind"] == "file"}
    words = [row for row in rows if row["kind"] == "file" and all(reason.startswith("words") for reason in row["reasons"])]
    assert all(row["score"] >= 0.2 * max(scores.values()) for row in words)
    assert "src/shop/shipping.py" not in scores


def test_functions_beside_the_one_of_a_trace_are_left_out(shop: Repository) -> None:
    trace = 'Traceback (most recent call last):\n  File "/x/src/shop/prices.py", line 5, in round_price\n    return price.quantize(CENT)\nNameError\n'
    rows = shop.locate(f"Zero\n\n{trace}")
    assert [row["symbol"] for row in rows if row["path"] == "src/shop/prices.py" and row["kind"] != "file"] == ["round_price"]


def test_the_line_that_declares_an_option_counts_more_than_one_that_uses_it(tmp_path: Path) -> None:
    files = {
        "run.py": 'from subprocess import call\n\n\ndef collect_all():\n    return call(["shop", "--dry-run", "--only", "all"])\n',
        "options.py": 'def declare(parser):\n    parser.addoption(\n        "-n",\n        "--dry-run",\n        help="Pay nothing.",\n    )\n',
    }
    write(tmp_path, files)
    with concordance.open(tmp_path) as repository:
        rows = repository.locate("Give --dry-run a short form to run all\n\nI run `--dry-run` to collect all very often.\n")
    assert [row["path"] for row in rows if any("contains “--dry-run”" in reason for reason in row["reasons"])] == ["options.py", "options.py"]


def test_a_function_that_fits_lifts_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = "the voucher", "of a refund", "by parcel post", "is lost twice"
    spread = "\n\n".join(f'def step_{n}():\n    """About {part}."""\n    return {n}\n' for n, part in enumerate(parts * 2))
    write(tmp_path, {"spread.py": spread, "one.py": f'def deliver():\n    """{" ".join(parts)}"""\n    return 1\n'})
    scores: list[dict[str, float]] = []
    with concordance.open(tmp_path) as repository:
        for share in (suspects._BEST_FUNCTION, 0.0):
            monkeypatch.setattr(suspects, "_BEST_FUNCTION", share)
            rows = repository.locate("It is lost twice\n\nThe voucher of a refund by parcel post is lost twice.\n")
            scores.append({row["path"]: row["score"] for row in rows if row["kind"] == "file"})
    assert scores[0]["one.py"] > scores[1]["one.py"] + 0.05
    assert scores[0]["spread.py"] < scores[1]["spread.py"] + 0.02
