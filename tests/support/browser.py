"""A browser that opens the site as a reader does, and reports what a reader would not see: errors on the console,
failed requests, dialogs opened by injected scripts.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.support import books, program

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
HOSTILE = [  # names of files, each with a definition in it
    "<script>alert(1)</script>.py", "<img src=x onerror=alert(1)>.py", "](x).md", "it's \"quoted\".py", "a b & c.py", "hash#mark.py", "what?.py",
    "100%25.py", "%2e%2e.py", "über\u202egnp.py", "ключ.py",
]  # fmt: skip


OPERATORS = {
    "ops/table.yaml": "- func: tally(Tensor self) -> Tensor\n  dispatch:\n    CPU: tally_cpu\n    CUDA: tally_cuda\n"
    "- func: abate(Tensor self) -> Tensor\n  dispatch:\n    CPU: abate_cpu\n- func: muster(Tensor self) -> Tensor\n",
    "ops/kernels.cpp": "namespace at { namespace native {\nTensor tally_cpu(const Tensor& self) { return self; }\n"
    "Tensor tally_cuda(const Tensor& self) { return self; }\nTensor abate_cpu(const Tensor& self) { return self; }\n}}\n",
}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Return the path of the system's browser."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


class Reader:
    """A browser window, and the errors that occurred in it."""

    def __init__(self, browser: Browser, base: str, **context: Any) -> None:
        self.base, self.wrong = base, list[str]()
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        self.context.set_default_timeout(60_000)  # on a machine that has other work
        self.page: Page = self.context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("requestfailed", lambda request: self._failed(request.url, request.failure or ""))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _failed(self, url: str, why: str) -> None:
        if "ERR_ABORTED" not in why:  # a question that was typed over, or a page that was left
            self.wrong.append(f"request: {url} {why}")

    def open(self, address: str) -> Page:
        """Open a page of the site and wait for its scripts."""
        self.page.goto(f"{self.base}/{address}")
        self.page.wait_for_selector("html.js")
        return self.page

    def at(self) -> str:
        """Return the address of the current page, relative to the site's root."""
        return self.page.url.removeprefix(f"{self.base}/")

    def violations(self, *rules: str) -> list[str]:
        """Return what axe finds on the page, by all of its rules or by some."""
        options: dict[str, Any] = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        found = self.page.evaluate(f"axe.run({json.dumps(options)})")
        return [
            f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
            for one in found["violations"]
            for node in one["nodes"][:3]
        ]

    def too_wide(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        width = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return int(width)


@contextmanager
def reading(browser: Browser, base: str, **context: Any) -> Iterator[Reader]:
    """Open a window, and check in the end that no error occurred in it."""
    reader = Reader(browser, base, **context)
    try:
        yield reader
        assert reader.wrong == []
    finally:
        reader.context.close()


def repository(folder: Path) -> Path:
    """The sample, files with hostile names, an ambiguous name, a table of operators, and files that are not committed.
    """
    root = books.copied(folder)
    for number, name in enumerate(HOSTILE):
        text = f"# Odd {number}\n" if name.endswith(".md") else f"def odd_{number}():\n    return '<b>bold</b>'\n"
        path = root / "odd names" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    several = {f"either/{name}.py": f"class {name}:\n    def settle(self): ...\n" for name in ("One", "Two", "Six\u202e")}
    program.write(root, {**several, "either/use.py": "def settle_all(found):\n    return found.settle()\n"})
    program.write(root, OPERATORS)
    program.git(root, "init", "-q")
    program.git(root, "add", "-A")
    program.git(root, "commit", "-qm", "all")
    program.write(root, {"either/fresh.py": "x = 1\n"})
    return root


@contextmanager
def served(root: Path, *options: str) -> Iterator[str]:
    """Serve a repository; return its address."""
    server = program.started("serve", root, "--no-browser", "--port", "0", *options)
    try:
        assert server.stdout is not None
        said = ""
        while not (found := re.search(r"http://[^\s/]+", said)):
            line = server.stdout.readline()
            assert line, f"{said}\n{server.stderr.read() if server.stderr else ''}"
            said += line
        yield found[0]
    finally:
        server.terminate()
        try:
            server.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()
