"""The main parts on the front page."""

from __future__ import annotations

from pathlib import Path

from tests.support.program import build, write


def test_files_without_definitions_are_no_parts(tmp_path: Path) -> None:
    code = "".join(f"def run_{n}():\n    return {n}\n\n\n" for n in range(40))
    data = "TABLE = [\n" + "    1,\n" * 3000 + "]\n"
    write(tmp_path, {"README.md": "# Tool\n\nTool finds things.\n", "src/run.py": code, "src/walk.py": code, "profile/huge.py": data})
    build(tmp_path)
    page = (tmp_path / ".concordance" / "book" / "index.md").read_text()
    parts = page.split("## Main Parts")[1].split("\n## ")[0]
    assert "src" in parts and "huge" not in parts and "profile" not in parts
